/** Before research begins the server may ask what is meant. The question of the user never waits for long: without an answer,
 * and after any failure, it is sent as it is. */

import { locale } from "../../lib/i18n";
import { Store } from "../../lib/store";
import { api } from "../../protocol/client";
import type { Clarification } from "../../protocol/events.gen";
import { conversation } from "../../state/conversation";
import { preferences } from "../../state/preferences";
import { change, draft, type Held, putBack } from "./draft";

interface Clarifying {
  held: Held;
  /** Null: the server has not said yet whether there is something to ask. */
  question: string | null;
  answers: readonly string[];
}

export const clarifying = new Store<Clarifying | null>(null);

const LONGEST_MS = 20_000;

let send: (held: Held) => void = () => undefined;
let request = new AbortController();

/** `proceed` sends a question when it is clear. */
export function followClarified(proceed: (held: Held) => void): void {
  send = proceed;
  // Another conversation was opened: the question is in the draft of its own.
  draft.subscribe(() => {
    const asked = clarifying.get();
    if (asked && draft.get().held !== asked.held) drop();
  });
}

export function clarify(held: Held): void {
  request = new AbortController();
  clarifying.set({ held, question: null, answers: [] });
  void ask(held, AbortSignal.any([request.signal, AbortSignal.timeout(LONGEST_MS)]));
}

async function ask(held: Held, signal: AbortSignal): Promise<void> {
  const { head } = conversation.get();
  const { agent, model } = preferences.get();
  const unclear = { content: held.text, agent_id: head?.agent_id ?? agent, model, locale: locale.get() };
  const nothing: Clarification = { question: null, answers: [] };
  const { question, answers } = await api.clarify(unclear, signal).catch(() => nothing);
  if (clarifying.get()?.held !== held) return;
  if (question === null) proceed(held);
  else clarifying.set({ held, question, answers });
}

/** The question goes with what the user said, or as it was written. */
export function answerClarification(answer: string | null): void {
  const asked = clarifying.get();
  if (!asked) return;
  const said = answer?.trim();
  proceed(asked.held, said && asked.question !== null ? `${asked.held.text}\n\n${asked.question}\n${said}` : undefined);
}

/** Back into the field, to be written differently. */
export function withdrawQuestion(): void {
  const asked = clarifying.get();
  drop();
  if (asked) putBack(asked.held);
}

function proceed(held: Held, text = held.text): void {
  drop();
  const clear: Held = { ...held, text, state: "sending" };
  change({ held: clear });
  send(clear);
}

function drop(): void {
  request.abort();
  clarifying.set(null);
}
