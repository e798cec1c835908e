import type { MouseEvent } from "react";
import { navigate } from "../../state/router";
import { lookFor, openFile } from "../../state/view";

/** Where in a session something was found, and by which words: in a message, in a file, or else in its title. */
export interface FoundAt {
  message: string | null;
  file: string | null;
  query: string;
}

/** A click on a real link: here, unless somebody wants a new tab or window of it. */
export function follow(event: MouseEvent, sessionId: string | null, found: FoundAt | null = null): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  navigate(sessionId);
  if (found?.message) lookFor(found.message, found.query);
  if (found?.file) openFile(found.file);
}
