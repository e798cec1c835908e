/** What was written and not yet sent, per session, in this browser. */

import { readStored, removeStored, writeStored } from "../lib/localStorage";

const NEW = "new";

export function draftOf(sessionId: string | null): string {
  return readStored(`draft.${sessionId ?? NEW}`, "");
}

export function keepDraft(sessionId: string | null, text: string): void {
  writeStored(`draft.${sessionId ?? NEW}`, text === "" ? null : text);
}

/** The session is gone, and what was to be said in it, with the files that it was to be said with. */
export function forgetDraft(sessionId: string): void {
  writeStored(`draft.${sessionId}`, null);
  writeStored(`draft-files.${sessionId}`, null);
}

/** Somebody else may use this browser next. */
export function forgetDrafts(): void {
  removeStored("draft");
}
