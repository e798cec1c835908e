/** What the user does in a session: ask, stop, ask again, ask differently, show another branch. */

import { locale } from "../lib/i18n";
import { newId } from "../lib/id";
import { api, type Decision, RequestFailed } from "../protocol/client";
import type { FileRecord, StartedRun } from "../protocol/events.gen";
import { EMPTY_ANSWER, isActive } from "./answer";
import { conversation, dispatch, isOpen, refresh } from "./conversation";
import { USUAL_WAY, type Way } from "./drafts";
import { preferences } from "./preferences";
import { navigate } from "./router";
import { pause } from "./runStream";
import { refreshSessions } from "./sessions";
import { notifyTabs } from "./tabs";
import type { Turn } from "./turns";

export interface Asked {
  text: string;
  attachments: readonly FileRecord[];
  /** Left out: an answer without a budget. */
  way?: Way;
}

/** The sessions that are being created, by visit: files and a question that are sent together make one session. */
const creating = new Map<number, Promise<string>>();

/** The id of the open session; a new conversation gets its session now. */
export function ensureSession(): Promise<string> {
  const { sessionId, visit } = conversation.get();
  if (sessionId !== null) return Promise.resolve(sessionId);
  const known = creating.get(visit);
  if (known) return known;
  const created = createSession(visit);
  creating.set(visit, created);
  void created.catch(() => creating.delete(visit));
  return created;
}

async function createSession(visit: number): Promise<string> {
  const head = await api.begin(preferences.get().agent);
  // A user who has opened another conversation meanwhile stays there.
  if (isOpen(visit)) {
    dispatch({ type: "created", visit, head });
    navigate(head.id, { replace: true });
  }
  return head.id;
}

/** Throws what the server refused; the question is then not among the turns, and the caller still has it. `onArrived` is
 * called when a question whose request failed turns out to have reached the server. */
export async function ask(asked: Asked, onArrived: () => void = () => undefined): Promise<void> {
  const turn = pendingTurn(asked);
  await post(turn, null, async () => api.ask(await ensureSession(), question(asked)), onArrived);
}

/** Checks a text, or a page, against what it cites: opens the session in which that happens. */
export async function check(wanted: { text: string } | { url: string }): Promise<void> {
  const started = await api.check({ ...wanted, locale: locale.get() });
  navigate(started.session_id);
  notifyTabs({ sessionId: started.session_id, kind: "changed" });
  void refreshSessions();
}

/** Asks another question in the place of an earlier one, which stays as a branch. The server keeps the mode of that one. */
export async function edit(old: Turn, asked: Asked): Promise<void> {
  const { sessionId } = conversation.get();
  const { questionId } = old;
  if (sessionId === null || questionId === null) return;
  const turn = { ...pendingTurn(asked), questions: old.questions };
  const { mode: _, ...changed } = question(asked);
  await post(turn, old, () => api.edit(sessionId, questionId, changed));
}

/** Answers a question once more. */
export async function retry(old: Turn, model: string | null = preferences.get().model): Promise<void> {
  const { sessionId } = conversation.get();
  const { questionId } = old;
  if (sessionId === null || questionId === null) return;
  const { askedAt, questions, answers } = old;
  const turn = { ...pendingTurn(old), questionId, askedAt, questions, answers };
  await post(turn, old, () => api.retry(sessionId, questionId, { model, locale: locale.get() }));
}

export async function stop(): Promise<void> {
  const runId = activeRunId();
  if (runId) await api.cancel(runId);
}

/** Sends the user's decision on a call that waits for it. The events of the run tell what follows. */
export async function decide(callId: string, decision: Decision): Promise<void> {
  const runId = activeRunId();
  if (runId) await api.decide(runId, callId, decision);
}

function activeRunId(): string | null {
  return conversation.get().turns.findLast(({ answer }) => isActive(answer))?.answer.runId ?? null;
}

/** Shows another question or answer in the place of the current one. */
export async function showBranch(messageId: string): Promise<void> {
  const { sessionId } = conversation.get();
  if (sessionId === null) return;
  await api.show(sessionId, messageId);
  await refresh();
  notifyTabs({ sessionId, kind: "changed" });
}

function question({ text, attachments, way = USUAL_WAY }: Asked) {
  const { model } = preferences.get();
  const budget = Object.keys(way.budget).length > 0 ? way.budget : null;
  const paths = attachments.map((file) => file.path);
  return { content: text, attachments: paths, model, locale: locale.get(), ...way, budget };
}

function pendingTurn({ text, attachments }: Asked): Turn {
  const ids = { questionId: null, questions: [], answers: [] };
  return { key: newId(), text, askedAt: null, attachments, ...ids, answer: EMPTY_ANSWER };
}

async function post(
  turn: Turn,
  replaces: Turn | null,
  request: () => Promise<StartedRun>,
  onArrived: () => void = () => undefined,
): Promise<void> {
  const { visit, turns } = conversation.get();
  const { key } = turn;
  dispatch({ type: "asked", turn, replaces });
  let started: StartedRun;
  try {
    started = await request();
  } catch (error) {
    dispatch({ type: "refused", visit, key });
    if (error instanceof RequestFailed && error.isOffline) void lookForIt(turn, turns, visit, onArrived);
    throw error;
  }
  dispatch({ type: "posted", visit, key, started });
  notifyTabs({ sessionId: started.session_id, kind: "changed" });
  void refreshSessions();
}

/** The connection broke while a question was posted: the server may have taken it all the same. */
async function lookForIt(turn: Turn, before: readonly Turn[], visit: number, onArrived: () => void): Promise<void> {
  await pause(3000, new AbortController().signal);
  if (!isOpen(visit)) return;
  await refresh();
  const arrived = conversation.get().turns.at(-1);
  const isKnown = before.some((one) => one.questionId === arrived?.questionId);
  if (isOpen(visit) && arrived?.text === turn.text && !isKnown) onArrived();
}
