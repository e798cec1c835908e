/** The session that is open: what was said in it, and what goes on in it now. */

import { Store } from "../lib/store";
import { api, RequestFailed } from "../protocol/client";
import type { FileRecord, History, SessionHead } from "../protocol/events.gen";
import type { Envelope } from "../protocol/sse";
import { isActive } from "./answer";
import { filesAfter, madeBy } from "./files";
import { follow, type Link, rest } from "./following";
import { receive } from "./reduce";
import { type Turn, turnsOf } from "./turns";

export interface Conversation {
  /** Null: a new one, which the server does not know of before something is asked or uploaded. */
  sessionId: string | null;
  head: SessionHead | null;
  turns: readonly Turn[];
  files: readonly FileRecord[];
  /** `missing`: there is no such session, or not for this user. */
  state: "loading" | "ready" | "missing" | "failed";
  link: Link;
}

const NEW: Conversation = { sessionId: null, head: null, turns: [], files: [], state: "ready", link: "fine" };

export const conversation = new Store<Conversation>(NEW);

/** What belongs to the open session and ends with it. */
let opened = new AbortController();
/** The run that is followed, if any. */
let followed: { runId: string; control: AbortController } | null = null;

export function startNew(): void {
  leave();
  conversation.set(NEW);
}

export async function openSession(sessionId: string): Promise<void> {
  if (conversation.get().sessionId === sessionId && conversation.get().state === "ready") return;
  leave();
  conversation.set({ ...NEW, sessionId, state: "loading" });
  await load(sessionId);
}

/** What is open now. It is aborted when somebody goes elsewhere: what comes later must not be shown there. */
export function here(): AbortSignal {
  return opened.signal;
}

/** Questions on their way to the server: until it has them, its history would take them off the page. */
let posting = 0;
let missed = false;

/** Counts what was done here to the session: an answer to what was asked before does not know of it. */
let deeds = 0;
/** Counts how often the history was asked for: of two answers the one that was asked for last is shown. */
let loads = 0;
let loading: Promise<void> = Promise.resolve();

/** The server has taken something that was done here. */
export function done(): void {
  deeds += 1;
}

export async function whilePosting<T>(work: () => Promise<T>): Promise<T> {
  const place = here();
  posting += 1;
  try {
    return await work();
  } finally {
    done();
    if (!place.aborted) {
      posting -= 1;
      // What follows the posting comes first.
      if (posting === 0 && missed) setTimeout(() => void refresh());
    }
  }
}

/** Asks the history again: after another tab did something, after sleep, after a gap. What is drawn already stays. */
export async function refresh(): Promise<void> {
  const { sessionId, state } = conversation.get();
  if (sessionId === null) return;
  if (posting > 0) {
    missed = true;
    return;
  }
  missed = false;
  if (state !== "ready") conversation.set((known) => ({ ...known, state: "loading" }));
  await load(sessionId);
}

/** The session exists from now on. */
export function adopt(head: SessionHead): void {
  conversation.set((known) => ({ ...known, sessionId: head.id, head, state: "ready" }));
}

export function changeTurns(change: (turns: readonly Turn[]) => readonly Turn[]): void {
  conversation.set((known) => ({ ...known, turns: change(known.turns) }));
}

/** A file was written or removed here. */
export function changeFiles(sessionId: string, change: (files: readonly FileRecord[]) => readonly FileRecord[]): void {
  done();
  conversation.set((known) => (known.sessionId === sessionId ? { ...known, files: change(known.files) } : known));
}

/** What has trouble with the line. It is told for as long as anything has. */
const troubled = new Set<"history" | "run">();

function say(what: "history" | "run", link: Link): void {
  if (link === "reconnecting") troubled.add(what);
  else troubled.delete(what);
  if (conversation.get().link !== linkNow()) conversation.set((known) => ({ ...known, link: linkNow() }));
}

function linkNow(): Link {
  return troubled.size > 0 ? "reconnecting" : "fine";
}

/** The last turn goes on on the server: its events are taken in until it ends. */
export function followRun(runId: string): void {
  if (followed?.runId === runId) return;
  unfollow();
  const control = new AbortController();
  followed = { runId, control };
  void whileOpen(runId, AbortSignal.any([control.signal, opened.signal])).finally(() => {
    if (followed?.control === control) followed = null;
  });
}

function unfollow(): void {
  followed?.control.abort();
  followed = null;
  say("run", "fine");
}

async function whileOpen(runId: string, signal: AbortSignal): Promise<void> {
  const outcome = await follow(runId, {
    after: () => answerOf(runId)?.answer.lastEventId ?? 0,
    take: (envelopes) => conversation.stage((known) => taken(known, runId, envelopes)),
    link: (link) => {
      if (!signal.aborted) say("run", link);
    },
    signal,
  });
  if (outcome === "ended") await settleFiles(signal);
  if (outcome === "lost" && !signal.aborted) {
    followed = null;
    await refresh();
  }
}

function answerOf(runId: string): Turn | undefined {
  return conversation.get().turns.findLast((turn) => turn.answer.runId === runId);
}

function taken(known: Conversation, runId: string, envelopes: readonly Envelope[]): Conversation {
  const index = known.turns.findLastIndex((turn) => turn.answer.runId === runId);
  const turn = known.turns[index];
  // The history may have overtaken a slow line: then it said already what still comes.
  if (!turn || !isActive(turn.answer)) return known;
  const answer = envelopes.reduce(receive, turn.answer);
  const after = envelopes.reduce((all, { event }) => filesAfter(all, event), known.files);
  const files = madeBy(answer.messageId, known.files, after);
  return { ...known, turns: known.turns.with(index, { ...turn, answer }), files };
}

/** The server's own list has what the events could not tell. */
export async function settleFiles(signal: AbortSignal = opened.signal): Promise<void> {
  const { sessionId } = conversation.get();
  if (sessionId === null) return;
  try {
    for (let before = -1; before !== deeds && !signal.aborted; ) {
      before = deeds;
      const { files } = await api.files(sessionId);
      if (before === deeds && !signal.aborted) conversation.set((known) => ({ ...known, files }));
    }
  } catch (error) {
    // Otherwise the next opening asks again.
    if (error instanceof RequestFailed && error.status === 404 && !signal.aborted) showMissing(sessionId);
  }
}

function load(sessionId: string): Promise<void> {
  loads += 1;
  loading = loaded(sessionId, loads);
  return loading;
}

async function loaded(sessionId: string, mine: number): Promise<void> {
  const { signal } = opened;
  for (let pause = 1000; mine === loads; pause = Math.min(15_000, pause * 2)) {
    try {
      const history = await newest(sessionId, signal);
      if (signal.aborted) return;
      if (mine !== loads) break;
      say("history", "fine");
      if (posting > 0) missed = true;
      else show(history);
      return;
    } catch (error) {
      if (signal.aborted || (error instanceof RequestFailed && error.status === 401)) return;
      if (mine !== loads) break;
      if (!(error instanceof RequestFailed) || !error.retryable) return giveUp(sessionId, error);
      say("history", "reconnecting");
      await rest(pause, signal);
      if (signal.aborted) return;
    }
  }
  await loading;
}

function giveUp(sessionId: string, error: unknown): void {
  say("history", "fine");
  if (error instanceof RequestFailed && error.status === 404) showMissing(sessionId);
  else conversation.set((known) => ({ ...known, state: "failed" }));
}

/** The history with all that was done here while it was on its way. */
async function newest(sessionId: string, signal: AbortSignal): Promise<History> {
  for (;;) {
    const before = deeds;
    const history = await api.history(sessionId, signal);
    if (before === deeds || posting > 0 || signal.aborted) return history;
  }
}

function showMissing(sessionId: string): void {
  unfollow();
  conversation.set({ ...NEW, sessionId, state: "missing" });
}

function show(history: History): void {
  conversation.set((known) => ({
    sessionId: history.session.id,
    head: history.session,
    turns: merged(known.turns, turnsOf(history)),
    files: history.workspace.workspace_files,
    state: "ready",
    link: linkNow(),
  }));
  const runId = history.active_run?.run_id;
  const turn = runId && answerOf(runId);
  // It may have ended here while the history was on its way: nothing comes after its end.
  if (runId && (!turn || isActive(turn.answer))) followRun(runId);
}

/** A turn that is drawn already stays as it is, unless it has ended since: history has no answer of an active run. */
function merged(known: readonly Turn[], told: readonly Turn[]): readonly Turn[] {
  return told.map((turn) => {
    const before = known.find((one) => one.answer.runId === turn.answer.runId);
    if (!before) return turn;
    const stays = isActive(turn.answer) || !isActive(before.answer);
    return { ...turn, key: before.key, answer: stays ? before.answer : turn.answer };
  });
}

function leave(): void {
  opened.abort();
  opened = new AbortController();
  followed = null;
  posting = 0;
  missed = false;
  troubled.clear();
}
