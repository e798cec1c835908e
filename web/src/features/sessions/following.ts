import type { MouseEvent } from "react";
import { goTo } from "../../state/place";

/** A click on a real link: here, unless somebody wants a new tab or window of it. */
export function follow(event: MouseEvent, sessionId: string | null): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  goTo(sessionId);
}
