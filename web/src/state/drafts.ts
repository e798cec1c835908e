/** What was written and not yet sent, per session, in this browser. */

import { readStored, removeStored, writeStored } from "../lib/localStorage";
import { Store } from "../lib/store";
import type { Budget } from "../protocol/events.gen";

const NEW = "new";

/** How the question is to be answered. `budget`: what the run may use, where it is not what the server takes. `template`: that
 * of a report; null: the server chooses. */
export interface Way {
  mode: "answer" | "research";
  budget: Budget;
  template: string | null;
}

export const USUAL_WAY: Way = { mode: "answer", budget: {}, template: null };

/** That of the question in the composer. It is kept with its words. */
export const way = new Store<Way>(wayOf(null));

export function wayOf(sessionId: string | null): Way {
  const kept = readStored<Partial<Way> | null>(`draft-way.${sessionId ?? NEW}`, null);
  return { ...USUAL_WAY, ...kept };
}

export function keepWay(sessionId: string | null, wanted: Way): void {
  const isUsual = wanted.mode === "answer" && wanted.template === null && Object.keys(wanted.budget).length === 0;
  writeStored(`draft-way.${sessionId ?? NEW}`, isUsual ? null : wanted);
}

export function chooseWay(sessionId: string | null, changes: Partial<Way>): void {
  way.set((known) => ({ ...known, ...changes }));
  keepWay(sessionId, way.get());
}

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
  writeStored(`draft-way.${sessionId}`, null);
}

/** Somebody else may use this browser next. */
export function forgetDrafts(): void {
  removeStored("draft");
}
