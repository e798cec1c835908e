import { expect, test } from "vitest";
import type { FileRecord, History, PastTurn, SessionHead, StartedRun, StreamEvent } from "../protocol/events.gen";
import type { Envelope } from "../protocol/sse";
import { EMPTY_ANSWER } from "./answer";
import { isReconnecting, NEW_SESSION, reduceSession, type Session, type SessionAction } from "./session";
import type { Turn } from "./turns";

const head = (title = "Oxygen", id = "s") => ({ id, title }) as SessionHead;
const file = (path: string) => ({ id: path, path, filename: path.slice(1), message_id: null }) as FileRecord;

interface Told {
  question: string;
  run: string;
  state?: PastTurn["state"];
  text?: string;
  startedAt?: string;
}

/** A history with one turn for each question. */
function history(told: readonly Told[], rest: { files?: FileRecord[]; title?: string } = {}): History {
  const active = told.find(({ state }) => state === "running");
  return {
    session: head(rest.title),
    messages: told.flatMap(({ question, run, text }) => [
      { role: "user", id: `q-${run}`, content: [{ type: "text", text: question }], attachments: [] },
      ...(text ? [{ role: "assistant", content: [{ type: "text", text }], attachments: [] }] : []),
    ]),
    turns: told.map(({ run, state = "completed", startedAt: timestamp }) => ({
      timestamp,
      run_id: run,
      question_id: `q-${run}`,
      message_id: `m-${run}`,
      state,
      questions: [`q-${run}`],
      answers: [`m-${run}`],
    })),
    workspace: { workspace_files: rest.files ?? [] },
    active_run: active ? { run_id: active.run } : null,
  } as unknown as History;
}

const turn = (key: string, text: string): Turn => ({
  key,
  text,
  questionId: null,
  askedAt: null,
  attachments: [],
  questions: [],
  answers: [],
  answer: EMPTY_ANSWER,
});

const started = (run: string, session_id = "s") =>
  ({ run_id: run, message_id: `m-${run}`, question_id: `q-${run}`, session_id, timestamp: "now" }) as StartedRun;

const events = (...all: StreamEvent[]): Envelope[] => all.map((event, index) => ({ id: index + 1, event }));
const begins = (run: string): StreamEvent => ({
  type: "message_start",
  message: { id: `m-${run}`, role: "assistant", run_id: run, session_id: "s", model: "test" },
});
const says = (text: string): StreamEvent => ({
  type: "content_block_start",
  index: 0,
  content_block: { type: "text", text },
});
const ends = (): StreamEvent => ({ type: "message_stop" });

const play = (session: Session, ...actions: SessionAction[]) => actions.reduce(reduceSession, session);
const open = (sessionId: string | null = "s") => play(NEW_SESSION, { type: "opened", sessionId });

/** The response to a request that is made at `at` and arrives at `session`. */
function arrives(session: Session, told: History, at: Session = session): Session {
  const { visit, historyRequest: request, revision } = at;
  return play(session, { type: "history", visit, request, revision, history: told });
}

const ask = (key: string, text: string, replaces: Turn | null = null): SessionAction => ({
  type: "asked",
  turn: turn(key, text),
  replaces,
});
const posted = ({ visit }: Session, key: string, run: string): SessionAction => ({
  type: "posted",
  visit,
  key,
  started: started(run),
});

const texts = (session: Session) => session.turns.map(({ text }) => text);
const answerText = (session: Session) =>
  session.turns.at(-1)?.answer.blocks.map((block) => (block.type === "text" ? block.text : "?")) ?? [];

const FIRST: Told = { question: "Why?", run: "r1", text: "Because." };
const ready = () => arrives(open(), history([FIRST]));

test("an opened session is loading until its history arrives", () => {
  const loading = open();
  expect(loading).toMatchObject({ sessionId: "s", state: "loading", historyRequest: 1 });
  const session = arrives(loading, history([FIRST], { files: [file("/a.md")] }));
  expect(session).toMatchObject({ state: "ready", head: { title: "Oxygen" }, followedRunId: null });
  expect([texts(session), answerText(session)]).toEqual([["Why?"], ["Because."]]);
  expect(session.files.map(({ path }) => path)).toEqual(["/a.md"]);
});

test("opening the session that is shown changes nothing, and opening another one discards everything", () => {
  const session = ready();
  expect(play(session, { type: "opened", sessionId: "s" })).toBe(session);
  const other = play(session, { type: "opened", sessionId: "t" });
  expect(other).toMatchObject({ sessionId: "t", state: "loading", turns: [], files: [], visit: session.visit + 1 });
});

test("a history of a session that was left is ignored", () => {
  const left = open("s");
  const session = play(left, { type: "opened", sessionId: "t" });
  expect(arrives(session, history([FIRST]), left)).toBe(session);
});

test("only the response to the last request for the history is shown", () => {
  const first = play(ready(), { type: "refresh" });
  const second = play(first, { type: "refresh" });
  expect(arrives(second, history([]), first)).toBe(second);
  expect(texts(arrives(second, history([FIRST, { question: "More?", run: "r2" }])))).toEqual(["Why?", "More?"]);
});

test("a history from before a question does not remove it, and is requested again when the server has the question", () => {
  const requested = play(ready(), { type: "refresh" });
  const asking = play(requested, ask("k", "And then?"));
  const late = arrives(asking, history([FIRST]), requested);
  expect(texts(late)).toEqual(["Why?", "And then?"]);
  expect(late).toMatchObject({ isStale: true, historyRequest: requested.historyRequest });
  const taken = play(late, posted(late, "k", "r2"));
  expect(taken).toMatchObject({ isStale: false, historyRequest: requested.historyRequest + 1, followedRunId: "r2" });
});

test("a history from before a question that the server has taken meanwhile is requested again", () => {
  const requested = play(ready(), { type: "refresh" });
  const taken = play(requested, ask("k", "And then?"), posted(requested, "k", "r2"));
  const late = arrives(taken, history([FIRST]), requested);
  expect(texts(late)).toEqual(["Why?", "And then?"]);
  expect(late.historyRequest).toBe(taken.historyRequest + 1);
});

test("a wanted history waits until all questions are posted", () => {
  const session = play(ready(), ask("k", "One"), ask("l", "Two"), { type: "refresh" });
  const one = play(session, posted(session, "k", "r2"));
  expect(one).toMatchObject({ isStale: true, historyRequest: session.historyRequest });
  const { visit } = session;
  expect(play(one, { type: "refused", visit, key: "l" }).historyRequest).toBe(session.historyRequest + 1);
});

test("a posted question gets the ids of the server and keeps its key", () => {
  const session = ready();
  const taken = play(session, ask("k", "And then?"), posted(session, "k", "r2"));
  expect(taken.turns.at(-1)).toMatchObject({
    key: "k",
    questionId: "q-r2",
    askedAt: "now",
    questions: ["q-r2"],
    answers: ["m-r2"],
    answer: { runId: "r2", messageId: "m-r2", phase: "waiting" },
  });
  expect(taken).toMatchObject({ posting: [], revision: session.revision + 1 });
});

test("a refused question leaves the turns, and a refused edit brings back what it replaced", () => {
  const session = arrives(open(), history([FIRST, { question: "More?", run: "r2", text: "Yes." }]));
  const { visit } = session;
  const refused = play(session, ask("k", "And then?"), { type: "refused", visit, key: "k" });
  expect(refused.turns).toEqual(session.turns);
  const editing = play(session, ask("k", "How?", session.turns[0]));
  expect(texts(editing)).toEqual(["How?"]);
  expect(play(editing, { type: "refused", visit, key: "k" }).turns).toEqual(session.turns);
});

test("a question that is posted after the user has come back to its session is found in the history", () => {
  const asking = play(ready(), ask("k", "And then?"));
  const back = arrives(
    play(asking, { type: "opened", sessionId: null }, { type: "opened", sessionId: "s" }),
    history([FIRST]),
  );
  const taken = play(back, posted(asking, "k", "r2"));
  expect(taken.historyRequest).toBe(back.historyRequest + 1);
  const elsewhere = play(asking, { type: "opened", sessionId: "t" });
  expect(play(elsewhere, posted(asking, "k", "r2"))).toBe(elsewhere);
});

test("a history from before another branch was chosen is replaced by a later one", () => {
  const session = arrives(open(), history([{ ...FIRST, run: "r2", text: "The second answer." }]));
  const requested = play(session, { type: "refresh" });
  const chosen = play(requested, { type: "refresh" });
  const shown = arrives(chosen, history([{ ...FIRST, run: "r1", text: "The first answer." }]));
  const late = arrives(shown, history([{ ...FIRST, run: "r2", text: "The second answer." }]), requested);
  expect(answerText(late)).toEqual(["The first answer."]);
});

test("a history from before the end of an answer does not make its run followed again", () => {
  const running = arrives(open(), history([{ question: "Why?", run: "r1", state: "running" }]));
  expect(running.followedRunId).toBe("r1");
  const { visit } = running;
  const requested = play(running, { type: "refresh" });
  const ended = play(
    requested,
    { type: "event", visit, runId: "r1", envelopes: events(begins("r1"), says("All."), ends()), at: 0 },
    { type: "run_ended", visit, runId: "r1" },
  );
  expect(ended).toMatchObject({ followedRunId: null, filesRequest: running.filesRequest + 1 });
  const late = arrives(ended, history([{ question: "Why?", run: "r1", state: "running" }]), requested);
  expect(late.followedRunId).toBeNull();
  expect(answerText(late)).toEqual(["All."]);
});

test("a history in the middle of an answer keeps what was streamed, and one of its end overtakes the stream", () => {
  const running = arrives(open(), history([{ question: "Why?", run: "r1", state: "running" }]));
  const { visit } = running;
  const streamed: SessionAction = {
    type: "event",
    visit,
    runId: "r1",
    envelopes: events(begins("r1"), says("Half")),
    at: 0,
  };
  const half = play(running, streamed, { type: "refresh" });
  expect(answerText(arrives(half, history([{ question: "Why?", run: "r1", state: "running" }])))).toEqual(["Half"]);
  const whole = arrives(half, history([{ question: "Why?", run: "r1", text: "Half and half." }]));
  expect(answerText(whole)).toEqual(["Half and half."]);
  expect(play(whole, streamed)).toBe(whole);
});

test("a connection that breaks is reported until it is restored, for as long as either of them is down", () => {
  const session = arrives(open(), history([{ question: "Why?", run: "r1", state: "running" }]));
  const { visit } = session;
  const down = (of: "history" | "run", isBroken = true): SessionAction => ({ type: "connection", visit, of, isBroken });
  const both = play(session, { type: "refresh" }, down("history"), down("run"));
  expect(isReconnecting(both)).toBe(true);
  const loaded = arrives(both, history([{ question: "Why?", run: "r1", state: "running" }]));
  expect(isReconnecting(loaded)).toBe(true);
  expect(isReconnecting(play(loaded, down("run", false)))).toBe(false);
  expect(isReconnecting(play(loaded, { type: "run_ended", visit, runId: "r1" }))).toBe(false);
  expect(isReconnecting(play(both, { type: "opened", sessionId: "t" }, down("run")))).toBe(false);
});

test("a run whose events are lost is read from the history", () => {
  const running = arrives(open(), history([{ question: "Why?", run: "r1", state: "running" }]));
  const { visit } = running;
  const lost = play(running, { type: "run_lost", visit, runId: "r1" });
  expect(lost).toMatchObject({ followedRunId: null, historyRequest: running.historyRequest + 1 });
  expect(arrives(lost, history([{ question: "Why?", run: "r1", state: "running" }])).followedRunId).toBe("r1");
  expect(play(running, { type: "run_lost", visit, runId: "r0" })).toBe(running);
});

test("a history or a list of files from before an upload does not hide the file", () => {
  const requested = play(ready(), { type: "refresh" }, { type: "refresh_files" });
  const written = play(requested, { type: "file_written", sessionId: "s", file: file("/notes.txt") });
  const { visit, filesRequest: request, revision } = requested;
  const late = play(arrives(written, history([FIRST]), requested), {
    type: "files",
    visit,
    request,
    revision,
    files: [],
  });
  expect(late.files.map(({ path }) => path)).toEqual(["/notes.txt"]);
  expect(late).toMatchObject({ historyRequest: requested.historyRequest + 1, filesRequest: request + 1 });
  const removed = play(late, { type: "file_removed", sessionId: "s", path: "/notes.txt" });
  expect(removed.files).toEqual([]);
  expect(play(late, { type: "file_removed", sessionId: "t", path: "/notes.txt" }).files).toHaveLength(1);
});

test("the list of files that answers the last request at the current revision is shown", () => {
  const session = play(ready(), { type: "refresh_files" });
  const { visit, filesRequest: request, revision } = session;
  const files = [file("/a.md")];
  expect(play(session, { type: "files", visit, request, revision, files }).files).toBe(files);
});

test("a session that was deleted elsewhere is missing, and a failed request leaves it failed", () => {
  const requested = play(ready(), { type: "refresh" });
  const { visit, historyRequest: request } = requested;
  const gone = play(requested, { type: "history_failed", visit, request, reason: "missing" });
  expect(gone).toMatchObject({ sessionId: "s", state: "missing", turns: [], followedRunId: null });
  expect(play(requested, { type: "files_missing", visit }).state).toBe("missing");
  expect(play(requested, { type: "history_failed", visit, request, reason: "failed" }).state).toBe("failed");
  const again = play(requested, { type: "refresh" });
  expect(play(again, { type: "history_failed", visit, request, reason: "missing" })).toBe(again);
});

test("a new conversation gets its session without losing what is shown, unless another one is open by then", () => {
  const fresh = open(null);
  const { visit } = fresh;
  const created = play(fresh, ask("k", "Why?"), { type: "created", visit, head: head("", "n") });
  expect(created).toMatchObject({ sessionId: "n", state: "ready", visit });
  expect(texts(created)).toEqual(["Why?"]);
  const other = play(fresh, { type: "opened", sessionId: "t" });
  expect(play(other, { type: "created", visit, head: head("", "n") })).toBe(other);
});

test("a new title is shown where its session is open, and a history from before it is requested again", () => {
  const requested = play(ready(), { type: "refresh" });
  const renamed = play(requested, { type: "changed" }, { type: "titled", sessionId: "s", title: "Air" });
  expect(renamed.head?.title).toBe("Air");
  expect(play(renamed, { type: "titled", sessionId: "t", title: "Water" })).toBe(renamed);
  expect(arrives(renamed, history([FIRST]), requested).head?.title).toBe("Air");
});

test("the last event is as old as this browser has known it, and before the first one as old as the run", () => {
  const startedAt = "2026-11-18T10:00:00Z";
  const start = Date.parse(startedAt);
  const running = arrives(open(), history([{ question: "Why?", run: "r1", state: "running", startedAt }]));
  const { visit } = running;
  const heard = (session: Session, at: number, ...all: StreamEvent[]) =>
    play(session, { type: "event", visit, runId: "r1", envelopes: events(...all), at });
  const lastAt = (session: Session) => session.turns.at(-1)?.answer.lastEventAt;
  const begun = heard(running, start + 40_000, begins("r1"));
  expect(lastAt(begun)).toBe(start);
  expect(lastAt(heard(running, start - 40_000, begins("r1")))).toBe(start - 40_000);
  expect(lastAt(heard(begun, start + 50_000, begins("r1"), says("Now")))).toBe(start + 50_000);
  expect(lastAt(heard(running, start + 40_000, begins("r1"), says("Now")))).toBe(start + 40_000);
  const ping: SessionAction = {
    type: "event",
    visit,
    runId: "r1",
    envelopes: [{ id: null, event: { type: "ping" } }],
    at: 0,
  };
  expect(lastAt(play(begun, ping))).toBe(start);
  const unknown = arrives(open(), history([{ question: "Why?", run: "r1", state: "running" }]));
  expect(lastAt(play(unknown, { ...ping, envelopes: events(begins("r1")), at: 7 }))).toBe(7);
});
