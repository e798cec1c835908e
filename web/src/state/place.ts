/** The address of the page: `/` is a new conversation, `/s/ID` one that there is. */

import { openSession, startNew } from "./conversation";
import { leaveSession } from "./view";

function sessionInAddress(): string | null {
  const found = /^\/s\/([^/]+)$/.exec(location.pathname);
  return found?.[1] ? decodeURIComponent(found[1]) : null;
}

export function addressOf(sessionId: string | null): string {
  return sessionId === null ? "/" : `/s/${encodeURIComponent(sessionId)}`;
}

/** `replace`: what is shown stays, it only has an address now. */
export function goTo(sessionId: string | null, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, "", addressOf(sessionId));
    return;
  }
  if (addressOf(sessionId) !== location.pathname) history.pushState(null, "", addressOf(sessionId));
  showAddress();
}

/** Opens what the address says. */
export function showAddress(): void {
  leaveSession();
  const sessionId = sessionInAddress();
  if (sessionId === null) startNew();
  else void openSession(sessionId);
}

let inTheWay: (() => boolean) | null = null;

/** `listener` is asked before the browser's way back or forward is followed: true, and what is shown stays. */
export function whenLeaving(listener: () => boolean): () => void {
  inTheWay = listener;
  return () => {
    if (inTheWay === listener) inTheWay = null;
  };
}

addEventListener("popstate", () => {
  if (!inTheWay?.()) showAddress();
});
