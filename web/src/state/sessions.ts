/** The list of sessions, as the server has it for what is searched. */

import { Store } from "../lib/store";
import { api } from "../protocol/client";
import type { FoundSession } from "../protocol/events.gen";
import { conversation, dispatch } from "./conversation";
import { forgetDraft } from "./drafts";
import { notifyTabs } from "./tabs";

export interface SessionList {
  query: string;
  sessions: readonly FoundSession[];
  nextCursor: string | null;
  state: "loading" | "ready" | "failed";
  /** The query that the listed sessions were found by. */
  listedQuery: string;
  /** Counts the requests, so that a late response to an earlier one is ignored. */
  request: number;
}

export const sessionList = new Store<SessionList>({
  query: "",
  sessions: [],
  nextCursor: null,
  state: "loading",
  listedQuery: "",
  request: 0,
});

const FIRST_PAGE = 30;
const MOST_AT_ONCE = 100;

export async function searchSessions(query: string): Promise<void> {
  sessionList.set((list) => ({ ...list, query, state: "loading" }));
  await refreshSessions();
}

/** The first page again; further pages that are shown already stay below it. */
export async function refreshSessions(): Promise<void> {
  sessionList.set((list) => ({ ...list, request: list.request + 1 }));
  const { query, sessions, listedQuery, request } = sessionList.get();
  const isLate = () => request !== sessionList.get().request;
  try {
    const page = await api.sessions(query, null, Math.min(MOST_AT_ONCE, Math.max(FIRST_PAGE, sessions.length)));
    if (isLate()) return;
    const goesOn = query === listedQuery && sessions.length > MOST_AT_ONCE && page.sessions.length === MOST_AT_ONCE;
    const below = goesOn ? sessions.slice(MOST_AT_ONCE) : [];
    const rest = below.filter((one) => !page.sessions.some((other) => other.id === one.id));
    const nextCursor = goesOn ? sessionList.get().nextCursor : page.next_cursor;
    const listed = [...page.sessions, ...rest];
    sessionList.set({ query, sessions: listed, nextCursor, state: "ready", listedQuery: query, request });
    takeTitle(page.sessions);
  } catch {
    if (isLate()) return;
    sessionList.set((list) => {
      // What is listed must be what was searched for.
      const still = query === listedQuery ? list.sessions : [];
      return { ...list, sessions: still, state: still.length > 0 ? "ready" : "failed" };
    });
  }
}

export async function moreSessions(): Promise<void> {
  const { query, nextCursor, sessions } = sessionList.get();
  if (nextCursor === null) return;
  const page = await api.sessions(query, nextCursor);
  if (sessionList.get().sessions !== sessions) return;
  sessionList.set((list) => ({ ...list, sessions: [...sessions, ...page.sessions], nextCursor: page.next_cursor }));
}

export async function renameSession(sessionId: string, title: string): Promise<void> {
  const head = await api.rename(sessionId, title);
  sessionList.set((list) => ({
    ...list,
    sessions: list.sessions.map((one) => (one.id === sessionId ? { ...one, title: head.title } : one)),
  }));
  dispatch({ type: "changed" });
  takeTitle([head]);
  notifyTabs({ sessionId, kind: "changed" });
  // A list that was on its way has the old name.
  void refreshSessions();
}

export async function removeSession(sessionId: string): Promise<void> {
  await api.remove(sessionId);
  sessionList.set((list) => ({ ...list, sessions: list.sessions.filter((one) => one.id !== sessionId) }));
  forgetDraft(sessionId);
  notifyTabs({ sessionId, kind: "removed" });
  // A list that was on its way still has it.
  void refreshSessions();
}

/** A session gets its title from its first question, on the server. */
function takeTitle(heads: readonly { id: string; title: string }[]): void {
  const head = heads.find((one) => one.id === conversation.get().sessionId);
  if (head) dispatch({ type: "titled", sessionId: head.id, title: head.title });
}
