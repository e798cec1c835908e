/** The open conversation: its state, and the requests that the state asks for. */

import { Store } from "../lib/store";
import { api, RequestFailed } from "../protocol/client";
import { followRun, pause } from "./runStream";
import { NEW_SESSION, reduceSession, type Session, type SessionAction } from "./session";

export type { Session } from "./session";

export const conversation = new Store<Session>(NEW_SESSION);

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

export function dispatch(action: SessionAction): void {
  const session = conversation.get();
  const next = reduceSession(session, action);
  if (next === session) return;
  conversation.set(next);
  requests.update();
}

export function startNew(): void {
  dispatch({ type: "opened", sessionId: null });
}

export function openSession(sessionId: string): void {
  dispatch({ type: "opened", sessionId });
}

/** Requests the history again: after a change in another tab, after sleep, after a gap. */
export function refresh(): Promise<void> {
  dispatch({ type: "refresh" });
  return requests.historyLoaded();
}

/** Requests the server's list of files, after a change whose result only the server knows. */
export function refreshFiles(): Promise<void> {
  dispatch({ type: "changed" });
  dispatch({ type: "refresh_files" });
  return requests.filesLoaded();
}

/** Whether the conversation that was open at `visit` is still open. */
export function isOpen(visit: number): boolean {
  return conversation.get().visit === visit;
}

/** Makes the requests that the state of the conversation asks for, and aborts those that it does not ask for any more. */
class SessionRequests {
  private visit = { number: NEW_SESSION.visit, control: new AbortController() };
  private history = { request: NEW_SESSION.historyRequest, loading: Promise.resolve() };
  private files = { request: NEW_SESSION.filesRequest, loading: Promise.resolve() };
  private run: { id: string; control: AbortController } | null = null;

  update(): void {
    const { visit, sessionId, historyRequest, filesRequest, followedRunId } = conversation.get();
    if (visit !== this.visit.number) {
      this.visit.control.abort();
      this.visit = { number: visit, control: new AbortController() };
      this.run = null;
    }
    const { signal } = this.visit.control;
    if (historyRequest !== this.history.request && sessionId !== null) {
      this.history = { request: historyRequest, loading: Promise.resolve() };
      this.history.loading = loadHistory(sessionId, visit, historyRequest, signal);
    }
    if (filesRequest !== this.files.request && sessionId !== null) {
      this.files = { request: filesRequest, loading: Promise.resolve() };
      this.files.loading = loadFiles(sessionId, visit, filesRequest);
    }
    if (followedRunId !== (this.run?.id ?? null)) {
      this.run?.control.abort();
      this.run = followedRunId === null ? null : { id: followedRunId, control: new AbortController() };
      if (this.run) void streamRun(this.run.id, visit, AbortSignal.any([this.run.control.signal, signal]));
    }
  }

  historyLoaded(): Promise<void> {
    return lastOf(() => this.history.loading);
  }

  filesLoaded(): Promise<void> {
    return lastOf(() => this.files.loading);
  }
}

/** Resolves when the last request is answered: a stale response starts another one. */
async function lastOf(current: () => Promise<void>): Promise<void> {
  for (let loading: Promise<void> | null = null; loading !== current(); ) {
    loading = current();
    await loading;
  }
}

const requests = new SessionRequests();

async function loadHistory(sessionId: string, visit: number, request: number, signal: AbortSignal): Promise<void> {
  const isWanted = () => !signal.aborted && conversation.get().historyRequest === request;
  for (let ms = FIRST_PAUSE_MS; isWanted(); ms = Math.min(LONGEST_PAUSE_MS, ms * 2)) {
    const { revision } = conversation.get();
    try {
      const history = await api.history(sessionId, signal);
      dispatch({ type: "history", visit, request, revision, history });
      return;
    } catch (error) {
      if (!isWanted() || (error instanceof RequestFailed && error.status === 401)) return;
      if (!(error instanceof RequestFailed) || !error.retryable) {
        const reason = error instanceof RequestFailed && error.status === 404 ? "missing" : "failed";
        dispatch({ type: "history_failed", visit, request, reason });
        return;
      }
      dispatch({ type: "connection", visit, of: "history", isBroken: true });
      await pause(ms, signal);
    }
  }
}

/** The server's list contains what the events of a run do not tell. */
async function loadFiles(sessionId: string, visit: number, request: number): Promise<void> {
  const { revision } = conversation.get();
  try {
    const { files } = await api.files(sessionId);
    dispatch({ type: "files", visit, request, revision, files });
  } catch (error) {
    // After any other failure the list is loaded when the session is opened next.
    if (error instanceof RequestFailed && error.status === 404) dispatch({ type: "files_missing", visit });
  }
}

async function streamRun(runId: string, visit: number, signal: AbortSignal): Promise<void> {
  const outcome = await followRun(runId, {
    after: () => conversation.get().turns.findLast((turn) => turn.answer.runId === runId)?.answer.lastEventId ?? 0,
    // Events come by the hundred: they are drawn together, and none of them asks for a request.
    receive: (envelopes) =>
      conversation.stage((session) =>
        reduceSession(session, { type: "event", visit, runId, envelopes, at: Date.now() }),
      ),
    connection: (isBroken) => {
      if (!signal.aborted) dispatch({ type: "connection", visit, of: "run", isBroken });
    },
    signal,
  });
  if (outcome === "ended") dispatch({ type: "run_ended", visit, runId });
  if (outcome === "lost" && !signal.aborted) dispatch({ type: "run_lost", visit, runId });
}
