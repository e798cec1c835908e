/** What somebody does in a session: ask, stop, ask again, ask differently, look at another branch. */

import { locale } from "../lib/i18n";
import { api, type Decision, RequestFailed } from "../protocol/client";
import type { FileRecord, StartedRun } from "../protocol/events.gen";
import { EMPTY_ANSWER, isActive } from "./answer";
import { adopt, changeTurns, conversation, followRun, here, refresh, whilePosting } from "./conversation";
import { rest } from "./following";
import { goTo } from "./place";
import { preferences } from "./preferences";
import { refreshSessions } from "./sessions";
import { tell } from "./tabs";
import type { Turn } from "./turns";

export interface Asked {
  text: string;
  attachments: readonly FileRecord[];
}

let count = 0;

/** The id of the open session; a new one is made now. */
export function ensureSession(): Promise<string> {
  const { sessionId } = conversation.get();
  if (sessionId !== null) return Promise.resolve(sessionId);
  const place = here();
  if (beginning?.place !== place) {
    beginning = { place, id: begun(place) };
    void beginning.id.catch(() => {
      beginning = null;
    });
  }
  return beginning.id;
}

/** Files and a question that come together make one session. */
let beginning: { place: AbortSignal; id: Promise<string> } | null = null;

async function begun(place: AbortSignal): Promise<string> {
  const head = await api.begin(preferences.get().agent);
  // Who went elsewhere meanwhile stays there.
  if (!place.aborted) {
    adopt(head);
    goTo(head.id, { replace: true });
  }
  return head.id;
}

/** Throws what the server refused; the question is then not among the turns, and whoever wrote it still has it. */
export async function ask(asked: Asked): Promise<void> {
  const turn = pending(asked);
  changeTurns((turns) => [...turns, turn]);
  await begin(turn, async () => api.ask(await ensureSession(), question(asked)));
}

/** Asks something else in the place of a question. What stood there stays, as a branch. */
export async function edit(old: Turn, asked: Asked): Promise<void> {
  const { sessionId } = conversation.get();
  const { questionId } = old;
  if (sessionId === null || questionId === null) return;
  const turn = { ...pending(asked), questions: old.questions };
  const before = conversation.get().turns;
  changeTurns((turns) => [...turns.slice(0, turns.indexOf(old)), turn]);
  await begin(turn, () => api.edit(sessionId, questionId, question(asked)), before);
}

/** Answers a question once more. */
export async function retry(old: Turn, model: string | null = preferences.get().model): Promise<void> {
  const { sessionId } = conversation.get();
  const { questionId } = old;
  if (sessionId === null || questionId === null) return;
  const { askedAt, questions, answers } = old;
  const turn = { ...pending(old), questionId, askedAt, questions, answers };
  const before = conversation.get().turns;
  changeTurns((turns) => [...turns.slice(0, turns.indexOf(old)), turn]);
  await begin(turn, () => api.retry(sessionId, questionId, { model, locale: locale.get() }), before);
}

export async function stop(): Promise<void> {
  const runId = conversation.get().turns.findLast(({ answer }) => isActive(answer))?.answer.runId;
  if (runId) await api.cancel(runId);
}

/** What the user says to a call that waits for it. Its events tell what comes of that. */
export async function decide(callId: string, decision: Decision): Promise<void> {
  const runId = conversation.get().turns.findLast(({ answer }) => isActive(answer))?.answer.runId;
  if (runId) await api.decide(runId, callId, decision);
}

/** Another question or answer in the place of one. */
export async function showBranch(messageId: string): Promise<void> {
  const { sessionId } = conversation.get();
  if (sessionId === null) return;
  await api.show(sessionId, messageId);
  await refresh();
  tell({ sessionId, kind: "changed" });
}

function question({ text, attachments }: Asked) {
  const { model } = preferences.get();
  return { content: text, attachments: attachments.map((file) => file.path), model, locale: locale.get() };
}

function pending({ text, attachments }: Asked): Turn {
  count += 1;
  const ids = { questionId: null, questions: [], answers: [] };
  return { key: `asked-${count}`, text, askedAt: null, attachments, ...ids, answer: EMPTY_ANSWER };
}

async function begin(turn: Turn, post: () => Promise<StartedRun>, before?: readonly Turn[]): Promise<void> {
  let started: StartedRun;
  const place = here();
  const known = new Set((before ?? conversation.get().turns).map((one) => one.questionId));
  try {
    started = await whilePosting(post);
  } catch (error) {
    if (!place.aborted) {
      changeTurns((turns) => before ?? turns.filter((one) => one.key !== turn.key));
      if (error instanceof RequestFailed && error.isOffline) void lookForIt(turn, known, place);
    }
    throw error;
  }
  taken(turn, started, place);
}

function taken(turn: Turn, started: StartedRun, place: AbortSignal): void {
  const { run_id, message_id, question_id, session_id, timestamp } = started;
  const known: Turn = {
    ...turn,
    questionId: question_id,
    askedAt: turn.askedAt ?? timestamp ?? null,
    questions: [...turn.questions.filter((id) => id !== question_id), question_id],
    answers: [...turn.answers, message_id],
    answer: { ...turn.answer, runId: run_id, messageId: message_id },
  };
  if (!place.aborted) {
    changeTurns((turns) => turns.map((one) => (one.key === turn.key ? known : one)));
    followRun(run_id);
  } else if (conversation.get().sessionId === session_id) {
    // Somebody left and came back before the server had the question.
    void refresh();
  }
  tell({ sessionId: session_id, kind: "changed" });
  void refreshSessions();
}

/** The line broke while a question was sent: it may have arrived all the same, and then goes on on the server. */
async function lookForIt(turn: Turn, known: ReadonlySet<string | null>, place: AbortSignal): Promise<void> {
  await rest(3000, place);
  await refresh();
  const arrived = conversation.get().turns.at(-1);
  if (place.aborted || arrived?.text !== turn.text || known.has(arrived.questionId)) return;
  dispatchEvent(new CustomEvent(ARRIVED, { detail: turn.text }));
}

/** Told with the text of a question that was thought to be lost. */
export const ARRIVED = "footnote:arrived";
