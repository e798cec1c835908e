/** The address of the page: `/` is a new conversation, `/s/ID` one that there is; its query says what is open beside it. */

import { openSession, startNew } from "./conversation";
import { isOpening, isSameOpen, type Open, openFrom, openIn, queryOf } from "./open";
import { isOverlay, leaveSession, type OpenedSource, showOpen, view } from "./view";

/** An entry of the browser's history. `at` counts them, so that the way back can be told from the way forward. */
interface Entry {
  at: number;
  open: Open;
}

function entryIn(state: unknown): Entry | null {
  const entry = state as Partial<Entry> | null;
  return typeof entry?.at === "number" && entry.open ? { at: entry.at, open: entry.open } : null;
}

/** The entry that is shown, and its address. */
let shown: Entry & { address: string } = {
  at: entryIn(history.state)?.at ?? 0,
  open: openIn(view.get()),
  address: location.pathname + location.search,
};
/** What is shown is being brought in line with the address, and not the other way round. */
let isFollowing = false;

function sessionInAddress(): string | null {
  const found = /^\/s\/([^/]+)$/.exec(location.pathname);
  return found?.[1] ? decodeURIComponent(found[1]) : null;
}

export function addressOf(sessionId: string | null): string {
  return sessionId === null ? "/" : `/s/${encodeURIComponent(sessionId)}`;
}

/** `replace`: what is shown stays, it only has an address now. */
export function goTo(sessionId: string | null, { replace = false } = {}): void {
  const path = addressOf(sessionId);
  if (replace) {
    enter("replace", path);
    return;
  }
  // The list of conversations on a phone has done its work: Back leads to where it was opened, and not to the list.
  const isFromSheet = view.get().sheet;
  following(leaveSession);
  if (path !== location.pathname) enter(isFromSheet ? "replace" : "push", path);
  else enter("replace", path);
  showSession();
}

/** Opens what the address says. */
export function showAddress(): void {
  following(() => {
    leaveSession();
    showOpen(entryIn(history.state)?.open ?? openFrom(location.search, openIn(view.get()), isOverlay()));
  });
  enter("replace", location.pathname);
  showSession();
}

function showSession(): void {
  const sessionId = sessionInAddress();
  if (sessionId === null) startNew();
  else void openSession(sessionId);
}

/** The passage that is looked at becomes part of the address, without a step in the history. */
export function notePassage(source: OpenedSource, passage: string | null): void {
  const { file, beside, drawer } = view.get();
  if ((file === null ? drawer : beside) !== source) return;
  noted = passage === null ? null : { source, passage };
  enter("replace", location.pathname);
}

let noted: { source: OpenedSource; passage: string } | null = null;

function withNoted(open: Open): Open {
  if (!noted) return open;
  const { source, passage } = noted;
  if (open.beside === source) return { ...open, beside: { ...open.beside, passage } };
  if (open.drawer?.kind === "source" && open.drawer === source) return { ...open, drawer: { ...open.drawer, passage } };
  return open;
}

function enter(how: "push" | "replace", path: string): void {
  const open = openIn(view.get());
  const kept = withNoted(open);
  const entry: Entry = { at: how === "push" ? shown.at + 1 : shown.at, open: kept };
  const address = path + queryOf(path === "/" ? { ...kept, drawer: null } : kept, isOverlay());
  shown = { at: entry.at, open, address };
  if (how === "push") history.pushState(entry, "", address);
  else history.replaceState(entry, "", address);
}

function following(change: () => void): void {
  isFollowing = true;
  change();
  isFollowing = false;
}

view.subscribe(() => {
  const open = openIn(view.get());
  if (isFollowing || isSameOpen(open, shown.open)) return;
  enter(isOpening(shown.open, open, isOverlay()) ? "push" : "replace", location.pathname);
});

/** A step of the browser's history, back or forward. */
export interface Step {
  /** It takes the open file away. */
  leavesFile: boolean;
}

const listeners = new Set<(step: Step) => boolean>();

/** `listener` is asked before each step: true, and what is shown stays. The first that says so is the last to be asked. */
export function whenLeaving(listener: (step: Step) => boolean): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function isHeld(step: Step): boolean {
  for (const holds of listeners) if (holds(step)) return true;
  return false;
}

addEventListener("popstate", ({ state }) => {
  const entry = entryIn(state) ?? {
    at: shown.at + 1,
    open: openFrom(location.search, openIn(view.get()), isOverlay()),
  };
  const address = location.pathname + location.search;
  const isSameSession = location.pathname === shown.address.split("?", 1)[0];
  if (isHeld({ leavesFile: !isSameSession || entry.open.file !== view.get().file })) {
    // The browser has gone there already: it is brought back to what is shown.
    const { open } = shown;
    shown = { ...shown, at: entry.at + 1 };
    history.pushState({ at: shown.at, open: withNoted(open) }, "", shown.address);
    return;
  }
  const isStepBack = entry.at < shown.at;
  // What was closed without Back has left two entries of the same address: one step back is meant to be seen.
  const isUnseen = isStepBack && address === shown.address;
  shown = { at: entry.at, open: entry.open, address };
  if (isUnseen) {
    history.back();
    return;
  }
  following(() => {
    if (!isSameSession) leaveSession();
    // Whether a list stands beside the conversation is the same in all of them.
    const stays = !isSameSession && !isOverlay() && entry.open.drawer?.kind !== "source";
    showOpen(stays ? { ...entry.open, drawer: view.get().drawer } : entry.open);
  });
  shown = { ...shown, open: openIn(view.get()) };
  showSession();
});
