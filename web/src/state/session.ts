/**
 * The reducer of the open conversation. Everything that can happen to it is an action: a history or a list of files from
 * the server, events of a run, a question that was posted or refused, a connection that broke. The reducer is pure; which
 * requests are to be made because of a state is decided in `conversation.ts`.
 */

import type { FileRecord, History, PlanView, SessionHead, StartedRun } from "../protocol/events.gen";
import type { Envelope } from "../protocol/sse";
import { type Answer, isActive } from "./answer";
import { filesAfter, madeBy, withFile } from "./files";
import { confirmed } from "./planChanges";
import { receive } from "./reduce";
import { type Turn, turnsOf } from "./turns";

/** A question that is on its way to the server. */
interface Posting {
  /** The key of its turn. */
  key: string;
  /** The turns to return to if the server refuses; null: all of them but this one. */
  before: readonly Turn[] | null;
}

export interface Session {
  /** Null: a new conversation, which the server does not know before a question or a file is sent. */
  sessionId: string | null;
  head: SessionHead | null;
  turns: readonly Turn[];
  files: readonly FileRecord[];
  /** `missing`: the server has no such session, or not for this user. */
  state: "loading" | "ready" | "missing" | "failed";
  /** Which connections are down. */
  broken: { history: boolean; run: boolean };
  /** The run whose events are streamed. */
  followedRunId: string | null;
  /** Counts the conversations that were opened in this tab. A late response carries the number of the one it belongs to. */
  visit: number;
  /** Counts the changes of the session that were made in this tab and taken by the server. A response that was requested at
   * an earlier revision does not contain them. */
  revision: number;
  /** Counts the requests for the history and for the list of files. Only the response to the last one is shown. */
  historyRequest: number;
  filesRequest: number;
  /** Questions that the server has not taken yet. The server's history would remove them from the page. */
  posting: readonly Posting[];
  /** The history was wanted while a question was being posted: it is requested afterwards. */
  isStale: boolean;
}

export type SessionAction =
  | { type: "opened"; sessionId: string | null }
  | { type: "created"; visit: number; head: SessionHead }
  | { type: "refresh" }
  | { type: "refresh_files" }
  | { type: "history"; visit: number; request: number; revision: number; history: History }
  | { type: "history_failed"; visit: number; request: number; reason: "missing" | "failed" }
  | { type: "files"; visit: number; request: number; revision: number; files: readonly FileRecord[] }
  | { type: "files_missing"; visit: number }
  | { type: "asked"; turn: Turn; replaces: Turn | null }
  | { type: "posted"; visit: number; key: string; started: StartedRun }
  | { type: "refused"; visit: number; key: string }
  | { type: "event"; visit: number; runId: string; envelopes: readonly Envelope[]; at: number }
  | { type: "planned"; runId: string; view: PlanView }
  | { type: "run_ended"; visit: number; runId: string }
  | { type: "run_lost"; visit: number; runId: string }
  | { type: "connection"; visit: number; of: "history" | "run"; isBroken: boolean }
  | { type: "file_written"; sessionId: string; file: FileRecord }
  | { type: "file_removed"; sessionId: string; path: string }
  | { type: "changed" }
  | { type: "titled"; sessionId: string; title: string };

export const NEW_SESSION: Session = {
  sessionId: null,
  head: null,
  turns: [],
  files: [],
  state: "ready",
  broken: { history: false, run: false },
  followedRunId: null,
  visit: 0,
  revision: 0,
  historyRequest: 0,
  filesRequest: 0,
  posting: [],
  isStale: false,
};

export function reduceSession(session: Session, action: SessionAction): Session {
  if ("visit" in action && action.visit !== session.visit) return receivedLate(session, action);
  switch (action.type) {
    case "opened":
      return opened(session, action.sessionId);
    case "created":
      return { ...session, sessionId: action.head.id, head: action.head, state: "ready" };
    case "refresh":
      return refreshed(session);
    case "refresh_files":
      return withFilesRequested(session);
    case "history":
      return withHistory(session, action);
    case "history_failed":
      return withoutHistory(session, action);
    case "files":
      return withFiles(session, action);
    case "files_missing":
      return missing(session);
    case "asked":
      return asked(session, action.turn, action.replaces);
    case "posted":
      return posted(session, action.key, action.started);
    case "refused":
      return refused(session, action.key);
    case "event":
      return withEvents(session, action);
    case "planned":
      return planned(session, action.runId, action.view);
    case "run_ended":
      return action.runId === session.followedRunId ? withFilesRequested(followed(session, null)) : session;
    case "run_lost":
      return action.runId === session.followedRunId ? refreshed(followed(session, null)) : session;
    case "connection":
      return withConnection(session, action.of, action.isBroken);
    case "file_written":
      return withFileChange(session, action.sessionId, (files) => withFile(files, action.file));
    case "file_removed":
      return withFileChange(session, action.sessionId, (files) => files.filter((one) => one.path !== action.path));
    case "changed":
      return { ...session, revision: session.revision + 1 };
    case "titled":
      return titled(session, action.sessionId, action.title);
  }
}

export function isReconnecting({ broken }: Session): boolean {
  return broken.history || broken.run;
}

/** The user left and came back to the same session before the server had taken the question. */
function receivedLate(session: Session, action: SessionAction): Session {
  if (action.type !== "posted" || action.started.session_id !== session.sessionId) return session;
  return refreshed({ ...session, revision: session.revision + 1 });
}

function opened(session: Session, sessionId: string | null): Session {
  const isShown = sessionId !== null && session.sessionId === sessionId && session.state === "ready";
  if (isShown) return session;
  const { visit, revision, historyRequest, filesRequest } = session;
  const next = { ...NEW_SESSION, visit: visit + 1, revision, historyRequest, filesRequest, sessionId };
  return sessionId === null ? next : { ...next, state: "loading", historyRequest: historyRequest + 1 };
}

/** Requests the history, at once or when nothing is being posted any more. What is drawn already stays. */
function refreshed(session: Session): Session {
  if (session.sessionId === null) return session;
  if (session.posting.length > 0) return { ...session, isStale: true };
  const state = session.state === "ready" ? "ready" : "loading";
  return { ...session, state, isStale: false, historyRequest: session.historyRequest + 1 };
}

function withFilesRequested(session: Session): Session {
  return session.sessionId === null ? session : { ...session, filesRequest: session.filesRequest + 1 };
}

function withHistory(session: Session, { request, revision, history }: SessionAction & { type: "history" }): Session {
  if (request !== session.historyRequest) return session;
  const online = withConnection(session, "history", false);
  if (session.posting.length > 0) return { ...online, isStale: true };
  if (revision !== session.revision) return refreshed(online);
  const turns = merged(session.turns, turnsOf(history));
  const shown: Session = {
    ...online,
    sessionId: history.session.id,
    head: history.session,
    turns,
    files: history.workspace.workspace_files,
    state: "ready",
  };
  const runId = history.active_run?.run_id;
  const turn = runId && turns.findLast((one) => one.answer.runId === runId);
  // The run may have ended in this tab while the history was on its way: no event comes after its end.
  return runId && (!turn || isActive(turn.answer)) ? followed(shown, runId) : shown;
}

/** A turn that is drawn already stays, unless it has ended since: the history has no answer of an active run. */
function merged(known: readonly Turn[], received: readonly Turn[]): readonly Turn[] {
  return received.map((turn) => {
    const before = known.find((one) => one.answer.runId === turn.answer.runId);
    if (!before) return turn;
    const stays = isActive(turn.answer) || !isActive(before.answer);
    return { ...turn, key: before.key, answer: stays ? before.answer : turn.answer };
  });
}

function withoutHistory(session: Session, action: SessionAction & { type: "history_failed" }): Session {
  if (action.request !== session.historyRequest) return session;
  if (action.reason === "missing") return missing(session);
  return { ...withConnection(session, "history", false), state: "failed" };
}

function withFiles(session: Session, { request, revision, files }: SessionAction & { type: "files" }): Session {
  if (request !== session.filesRequest) return session;
  return revision === session.revision ? { ...session, files } : withFilesRequested(session);
}

function missing({ sessionId, visit, revision, historyRequest, filesRequest }: Session): Session {
  return { ...NEW_SESSION, visit, revision, historyRequest, filesRequest, sessionId, state: "missing" };
}

/** Shows a question before the server has it. An edited or repeated question replaces its turn and the turns behind it. */
function asked(session: Session, turn: Turn, replaces: Turn | null): Session {
  const { turns } = session;
  const kept = replaces ? turns.slice(0, turns.indexOf(replaces)) : turns;
  const posting = [...session.posting, { key: turn.key, before: replaces ? turns : null }];
  return { ...session, turns: [...kept, turn], posting };
}

function posted(session: Session, key: string, started: StartedRun): Session {
  const { run_id, message_id, question_id, timestamp } = started;
  const taken = (turn: Turn): Turn => ({
    ...turn,
    questionId: question_id,
    askedAt: turn.askedAt ?? timestamp ?? null,
    questions: [...turn.questions.filter((id) => id !== question_id), question_id],
    answers: [...turn.answers, message_id],
    answer: { ...turn.answer, runId: run_id, messageId: message_id },
  });
  const turns = session.turns.map((turn) => (turn.key === key ? taken(turn) : turn));
  return settled(followed({ ...session, turns }, run_id), key);
}

function refused(session: Session, key: string): Session {
  const before = session.posting.find((one) => one.key === key)?.before;
  return settled({ ...session, turns: before ?? session.turns.filter((turn) => turn.key !== key) }, key);
}

/** The server has answered to a question. */
function settled(session: Session, key: string): Session {
  const posting = session.posting.filter((one) => one.key !== key);
  const next = { ...session, posting, revision: session.revision + 1 };
  return posting.length === 0 && session.isStale ? refreshed(next) : next;
}

function withEvents(session: Session, { runId, envelopes, at }: SessionAction & { type: "event" }): Session {
  const index = session.turns.findLastIndex((turn) => turn.answer.runId === runId);
  const turn = session.turns[index];
  // The history may have overtaken a slow stream: the answer then contains these events already.
  if (!turn || !isActive(turn.answer)) return session;
  const answer = receivedAt(at, turn.answer, envelopes.reduce(receive, turn.answer));
  const after = envelopes.reduce((files, { event }) => filesAfter(files, event), session.files);
  const files = madeBy(answer.messageId, session.files, after);
  return { ...session, turns: session.turns.with(index, { ...turn, answer }), files };
}

/** What the server made of a change of the plan. Its event may come before the response, and later ones after it. */
function planned(session: Session, runId: string, view: PlanView): Session {
  const index = session.turns.findLastIndex((turn) => turn.answer.runId === runId);
  const turn = session.turns[index];
  if (!turn || !isActive(turn.answer)) return session;
  const blocks = turn.answer.blocks.map((block) => (block.type === "plan" ? confirmed(block, view) : block));
  return { ...session, turns: session.turns.with(index, { ...turn, answer: { ...turn.answer, blocks } }) };
}

/** The start of a run that the server has told is earlier than its first event reaches a page that was opened since. */
function receivedAt(at: number, before: Answer, answer: Answer): Answer {
  if (answer === before) return answer;
  const hasOnlyBegun = before.phase === "waiting" && answer.blocks.length === 0;
  return { ...answer, lastEventAt: hasOnlyBegun ? Math.min(at, before.lastEventAt ?? at) : at };
}

function followed(session: Session, runId: string | null): Session {
  if (session.followedRunId === runId) return session;
  return { ...withConnection(session, "run", false), followedRunId: runId };
}

function withConnection(session: Session, of: "history" | "run", isBroken: boolean): Session {
  return session.broken[of] === isBroken ? session : { ...session, broken: { ...session.broken, [of]: isBroken } };
}

function withFileChange(
  session: Session,
  sessionId: string,
  change: (files: readonly FileRecord[]) => readonly FileRecord[],
): Session {
  const next = { ...session, revision: session.revision + 1 };
  return session.sessionId === sessionId ? { ...next, files: change(session.files) } : next;
}

function titled(session: Session, sessionId: string, title: string): Session {
  const { head } = session;
  return head?.id === sessionId && head.title !== title ? { ...session, head: { ...head, title } } : session;
}
