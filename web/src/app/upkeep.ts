/** What keeps the page true while it is open: other tabs, other machines, sleep. */

import { api, RequestFailed } from "../protocol/client";
import { catalog, readCatalog } from "../state/catalog";
import { conversation, refresh, startNew } from "../state/conversation";
import { goTo, showAddress } from "../state/place";
import { activeTurn } from "../state/select";
import { refreshSessions, sessionList } from "../state/sessions";
import { whenTold } from "../state/tabs";

const LOOKS_MS = 20_000;
const ASLEEP_MS = 30_000;

export function keepUp(): void {
  void readCatalog();
  let visit = catalog.get().visit;
  catalog.subscribe(() => {
    const now = catalog.get().visit;
    if (now === "known" && visit !== "known") begin();
    // Whoever logs in next may be somebody else.
    if (now === "nobody" && visit !== "nobody") startNew();
    visit = now;
  });
  sessionList.subscribe(lookAtOpenSession);
  whenRunsEnd(() => void refreshSessions());
  whenTold(({ sessionId, kind }) => {
    void refreshSessions();
    if (conversation.get().sessionId !== sessionId) return;
    if (kind === "removed") goTo(null);
    else void refresh();
  });
  setInterval(() => {
    if (!document.hidden && catalog.get().visit === "known") void refreshSessions();
  }, LOOKS_MS);
  afterSleep(() => {
    if (catalog.get().visit === "unreachable") void readCatalog();
    if (catalog.get().visit !== "known") return;
    void refreshSessions();
    void refresh();
  });
}

function begin(): void {
  showAddress();
  void refreshSessions();
}

function whenRunsEnd(listener: () => void): void {
  let active = false;
  conversation.subscribe(() => {
    const now = activeTurn(conversation.get()) !== null;
    if (active && !now) listener();
    active = now;
  });
}

/** When somebody comes back after a while, or the network does. */
function afterSleep(wake: () => void): void {
  let hiddenAt = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = Date.now();
    else if (Date.now() - hiddenAt > ASLEEP_MS) wake();
  });
  addEventListener("online", wake);
}

const seen = new Map<string, string>();

/** Somebody asked in the open session on another machine, or deleted it: the list of sessions tells it first. */
function lookAtOpenSession(): void {
  const now = conversation.get();
  const { sessions, state } = sessionList.get();
  if (now.sessionId === null || now.state !== "ready" || state !== "ready") return;
  const listed = sessions.find((one) => one.id === now.sessionId);
  if (!listed) {
    if (!activeTurn(now)) void lookWhetherItIsThere(now.sessionId);
    return;
  }
  const known = seen.get(listed.id);
  seen.set(listed.id, listed.updated_at);
  if (activeTurn(now) || (known === listed.updated_at && !listed.active_run_id)) return;
  const isNew = listed.active_run_id && !now.turns.some((turn) => turn.answer.runId === listed.active_run_id);
  if (isNew || (known !== undefined && known !== listed.updated_at)) void refresh();
}

/** It may only stand further down, or not be what is searched for: the server knows. */
async function lookWhetherItIsThere(sessionId: string): Promise<void> {
  try {
    await api.head(sessionId);
  } catch (error) {
    const isGone = error instanceof RequestFailed && error.status === 404;
    if (isGone && conversation.get().sessionId === sessionId) await refresh();
  }
}
