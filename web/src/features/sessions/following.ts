import type { MouseEvent } from "react";
import { goTo } from "../../state/place";
import { lookFor } from "../../state/view";

/** A click on a real link: here, unless somebody wants a new tab or window of it. `message`: what was found there. */
export function follow(event: MouseEvent, sessionId: string | null, message: string | null = null): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  goTo(sessionId);
  if (message) lookFor(message);
}
