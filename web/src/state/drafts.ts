/** What was written and not yet sent, per session, in this browser. */

import { forget, keep, recall } from "../lib/kept";

const NEW = "new";

export function draftOf(sessionId: string | null): string {
  return recall(`draft.${sessionId ?? NEW}`, "");
}

export function keepDraft(sessionId: string | null, text: string): void {
  keep(`draft.${sessionId ?? NEW}`, text === "" ? null : text);
}

/** The session is gone, and what was to be said in it, with the files that it was to be said with. */
export function forgetDraft(sessionId: string): void {
  keep(`draft.${sessionId}`, null);
  keep(`draft-files.${sessionId}`, null);
}

/** Somebody else may use this browser next. */
export function forgetDrafts(): void {
  forget("draft");
}
