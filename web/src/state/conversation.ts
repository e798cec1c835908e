/** The session that is open: what was said in it, and what goes on in it now. */

import { Store } from "../lib/store";
import { api, RequestFailed } from "../protocol/client";
import type { FileRecord, History, SessionHead } from "../protocol/events.gen";
import type { Envelope } from "../protocol/sse";
import { isActive } from "./answer";
import { filesAfter } from "./files";
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

export async function whilePosting<T>(work: () => Promise<T>): Promise<T> {
  const place = here();
  posting += 1;
  try {
    return await work();
  } finally {
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

/** The last turn goes on on the server: its events are taken in until it ends. */
export function followRun(runId: string): void {
  if (followed?.runId === runId) return;
  followed?.control.abort();
  const control = new AbortController();
  followed = { runId, control };
  void whileOpen(runId, AbortSignal.any([control.signal, opened.signal])).finally(() => {
    if (followed?.control === control) followed = null;
  });
}

async function whileOpen(runId: string, signal: AbortSignal): Promise<void> {
  const outcome = await follow(runId, {
    after: () => answerOf(runId)?.answer.lastEventId ?? 0,
    take: (envelopes) => conversation.stage((known) => taken(known, runId, envelopes)),
    link: (link) => conversation.set((known) => ({ ...known, link })),
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
  const files = envelopes.reduce((all, { event }) => filesAfter(all, event), known.files);
  return { ...known, turns: known.turns.with(index, { ...turn, answer }), files };
}

/** The server's own list has what the events could not tell. */
export async function settleFiles(signal: AbortSignal = opened.signal): Promise<void> {
  const { sessionId } = conversation.get();
  if (sessionId === null) return;
  try {
    const { files } = await api.files(sessionId);
    if (!signal.aborted) conversation.set((known) => ({ ...known, files }));
  } catch (error) {
    // Otherwise the next opening asks again.
    if (error instanceof RequestFailed && error.status === 404 && !signal.aborted) showMissing(sessionId);
  }
}

async function load(sessionId: string): Promise<void> {
  const { signal } = opened;
  for (let pause = 1000; !signal.aborted; pause = Math.min(15_000, pause * 2)) {
    try {
      const history = await api.history(sessionId, signal);
      if (signal.aborted) return;
      if (posting > 0) missed = true;
      else show(history);
      return;
    } catch (error) {
      if (signal.aborted || (error instanceof RequestFailed && error.status === 401)) return;
      if (!(error instanceof RequestFailed) || !error.retryable) {
        if (error instanceof RequestFailed && error.status === 404) showMissing(sessionId);
        else conversation.set((known) => ({ ...known, state: "failed" }));
        return;
      }
      conversation.set((known) => ({ ...known, link: "reconnecting" }));
      await rest(pause, signal);
    }
  }
}

function showMissing(sessionId: string): void {
  conversation.set({ ...NEW, sessionId, state: "missing" });
}

function show(history: History): void {
  conversation.set((known) => ({
    sessionId: history.session.id,
    head: history.session,
    turns: merged(known.turns, turnsOf(history)),
    files: history.workspace.workspace_files,
    state: "ready",
    link: followed ? known.link : "fine",
  }));
  if (history.active_run) followRun(history.active_run.run_id);
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
}
