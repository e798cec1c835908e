/** What stands in the composer. It outlives reloads and changes of session, and failures to send it. */

import { Store } from "../../lib/store";
import type { FileRecord } from "../../protocol/events.gen";
import { conversation } from "../../state/conversation";
import { chooseWay, draftOf, keepDraft, keepWay, USUAL_WAY, type Way, way, wayOf } from "../../state/drafts";
import { attachAgain } from "../../state/uploads";

/** A question that left the field and is not yet the server's. */
export interface Held {
  text: string;
  attachments: readonly FileRecord[];
  way: Way;
  /** `queued`: it waits for the end of an answer. `clarifying`: it may be unclear, and the user may be asked what is meant. */
  state: "queued" | "clarifying" | "sending";
  /** The session that it belongs to. A new one gets its id while its first question is under way. */
  home: string | null;
}

interface Draft {
  sessionId: string | null;
  text: string;
  held: Held | null;
  /** Send was pressed; the files are still on their way. */
  awaiting: boolean;
  /** A quiet line about what was done, for eyes and screen readers. */
  notice: string | null;
  /** Whether what the run may use is in sight. */
  limits: boolean;
  /** The failed upload that was in the way of the last attempt to send; a new object for each attempt. */
  blocker: { uploadId: string } | null;
}

const EMPTY: Omit<Draft, "sessionId" | "text"> = {
  held: null,
  awaiting: false,
  notice: null,
  limits: false,
  blocker: null,
};

export const draft = new Store<Draft>({ sessionId: null, text: draftOf(null), ...EMPTY });

/** Says what is in the field now, and keeps it with what is held: neither is lost before the server has it. */
export function change(changes: Partial<Omit<Draft, "sessionId">>): void {
  draft.set((known) => ({ ...known, ...changes }));
  const { sessionId, held, text } = draft.get();
  if ("text" in changes || "held" in changes) keepDraft(sessionId, joined(held?.text ?? "", text));
}

/** What is being sent, from whichever session: who comes back to one finds it under way and not in the field again. */
const underWay = new Set<Held>();

export function going(held: Held): void {
  underWay.add(held);
}

/** Puts into the field again what was held, before what was written since. */
export function putBack(held: Held, notice: string | null = null): void {
  underWay.delete(held);
  const { held: now, text, sessionId } = draft.get();
  const isHere = now === held;
  attachAgain(isHere ? sessionId : held.home, held.attachments);
  // In a session that was left, what was held is still kept as its draft.
  if (!isHere) return;
  change({ held: null, text: joined(held.text, text), notice });
  chooseWay(sessionId, held.way);
}

/** The server has it: it is no draft any more, wherever one looks at by now. */
export function letGo(held: Held): void {
  underWay.delete(held);
  if (draft.get().held === held) {
    change({ held: null });
    // How it was to be answered is kept for as long as it is.
    keepWay(held.home, way.get());
    return;
  }
  const kept = draftOf(held.home);
  if (!kept.startsWith(held.text)) return;
  keepWay(held.home, USUAL_WAY);
  keepDraft(held.home, kept.slice(held.text.length).trimStart());
  if (draft.get().sessionId === held.home) change({ text: draftOf(held.home) });
}

function joined(first: string, second: string): string {
  return [first, second].filter((text) => text.trim() !== "").join("\n\n");
}

/** Changes the draft with the conversation that is open. */
export function followConversation(): void {
  conversation.subscribe(() => {
    const { sessionId, head } = conversation.get();
    const known = draft.get();
    if (known.sessionId === sessionId) return;
    // The new conversation got an id: what was written for it stays where it is.
    if (known.sessionId === null && head?.id === sessionId) {
      keepDraft(null, "");
      keepWay(null, USUAL_WAY);
      keepWay(sessionId, known.held?.way ?? way.get());
      if (known.held) known.held.home = sessionId;
      draft.set({ ...known, sessionId });
      change({ text: known.text });
      return;
    }
    if (known.held && known.held.state !== "sending") attachAgain(known.sessionId, known.held.attachments);
    const held = [...underWay].find((one) => one.home === sessionId) ?? null;
    const kept = draftOf(sessionId);
    const text = held && kept.startsWith(held.text) ? kept.slice(held.text.length).trimStart() : kept;
    draft.set({ sessionId, text, ...EMPTY, held });
    way.set(held ? USUAL_WAY : wayOf(sessionId));
  });
}
