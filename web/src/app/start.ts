/** Starts everything that keeps the page up to date: other tabs, other devices, wake-up after sleep. */

import { followAnswers } from "../features/chat";
import { startComposer } from "../features/composer";
import { api, RequestFailed } from "../protocol/client";
import { catalog, followLogin, readCatalog } from "../state/catalog";
import { conversation, refresh, startNew } from "../state/conversation";
import { followPreferences } from "../state/preferences";
import { navigate, router } from "../state/router";
import { activeTurn } from "../state/select";
import { refreshSessions, sessionList } from "../state/sessions";
import { onNotice } from "../state/tabs";

const POLL_MS = 20_000;
const ASLEEP_MS = 30_000;

/** Registers every listener of the page. Modules have no side effects when they are imported. */
export function start(): void {
  followPreferences();
  followLogin();
  router.listen();
  startComposer();
  followAnswers();
  void readCatalog();
  let login = catalog.get().login;
  catalog.subscribe(() => {
    const now = catalog.get().login;
    if (now === "in" && login !== "in") {
      router.showLocation();
      void refreshSessions();
    }
    // The next user to log in may be another one.
    if (now === "out" && login !== "out") startNew();
    login = now;
  });
  sessionList.subscribe(sessionChangeDetector());
  whenRunsEnd(() => void refreshSessions());
  onNotice(({ sessionId, kind }) => {
    void refreshSessions();
    if (conversation.get().sessionId !== sessionId) return;
    if (kind === "removed") navigate(null);
    else void refresh();
  });
  setInterval(() => {
    if (!document.hidden && catalog.get().login === "in") void refreshSessions();
  }, POLL_MS);
  afterSleep(() => {
    if (catalog.get().login === "unreachable") void readCatalog();
    if (catalog.get().login !== "in") return;
    void refreshSessions();
    void refresh();
  });
}

function whenRunsEnd(listener: () => void): void {
  let active = false;
  conversation.subscribe(() => {
    const now = activeTurn(conversation.get()) !== null;
    if (active && !now) listener();
    active = now;
  });
}

/** Calls `wake` when the tab becomes visible after a while, or the network is back. */
function afterSleep(wake: () => void): void {
  let hiddenAt = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = Date.now();
    else if (Date.now() - hiddenAt > ASLEEP_MS) wake();
  });
  addEventListener("online", wake);
}

/** Detects in the list of sessions that the open one was changed or deleted on another device. */
function sessionChangeDetector(): () => void {
  const seen = new Map<string, string>();
  return () => checkOpenSession(seen);
}

function checkOpenSession(seen: Map<string, string>): void {
  const now = conversation.get();
  const { sessions, state } = sessionList.get();
  if (now.sessionId === null || now.state !== "ready" || state !== "ready") return;
  const listed = sessions.find((one) => one.id === now.sessionId);
  if (!listed) {
    if (!activeTurn(now)) void checkStillExists(now.sessionId);
    return;
  }
  const known = seen.get(listed.id);
  seen.set(listed.id, listed.updated_at);
  if (activeTurn(now) || (known === listed.updated_at && !listed.active_run_id)) return;
  const isNew = listed.active_run_id && !now.turns.some((turn) => turn.answer.runId === listed.active_run_id);
  if (isNew || (known !== undefined && known !== listed.updated_at)) void refresh();
}

/** A session that is not listed may be on a later page or filtered out by the search. */
async function checkStillExists(sessionId: string): Promise<void> {
  try {
    await api.head(sessionId);
  } catch (error) {
    const isGone = error instanceof RequestFailed && error.status === 404;
    if (isGone && conversation.get().sessionId === sessionId) await refresh();
  }
}
