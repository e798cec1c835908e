/** The address of the page: `/` is a new conversation, `/s/ID` one that there is; its query says what is open beside it. */

import { isOpening, isSameOpen, type Open, openFrom, openIn, queryOf } from "./address";
import { openSession, startNew } from "./conversation";
import { isOverlay, leaveSession, type OpenedSource, showOpen, view } from "./view";

/** An entry of the browser's history. `at` numbers the entries, so that a step back differs from a step forward. */
interface Entry {
  at: number;
  open: Open;
}

function entryIn(state: unknown): Entry | null {
  const entry = state as Partial<Entry> | null;
  return typeof entry?.at === "number" && entry.open ? { at: entry.at, open: entry.open } : null;
}

function sessionInAddress(): string | null {
  const found = /^\/s\/([^/]+)$/.exec(location.pathname);
  return found?.[1] ? decodeURIComponent(found[1]) : null;
}

export function addressOf(sessionId: string | null): string {
  return sessionId === null ? "/" : `/s/${encodeURIComponent(sessionId)}`;
}

/** A step of the browser's history, back or forward. */
interface Step {
  /** The step closes the open file. */
  leavesFile: boolean;
}

/** Keeps the address and what is shown in line with each other. */
class Router {
  /** The entry that is shown, and its address. */
  private shown: Entry & { address: string } = { at: 0, open: openIn(view.get()), address: "" };
  /** The page is being brought in line with the address, and not the other way round. */
  private isShowingLocation = false;
  /** The passage that is looked at, which is part of the address only. */
  private noted: { source: OpenedSource; passage: string } | null = null;
  private readonly blockers = new Set<(step: Step) => boolean>();

  /** Starts to follow the browser's history and what is opened on the page. */
  listen(): void {
    const address = location.pathname + location.search;
    this.shown = { at: entryIn(history.state)?.at ?? 0, open: openIn(view.get()), address };
    view.subscribe(() => {
      const open = openIn(view.get());
      if (this.isShowingLocation || isSameOpen(open, this.shown.open)) return;
      this.enter(isOpening(this.shown.open, open, isOverlay()) ? "push" : "replace", location.pathname);
    });
    addEventListener("popstate", ({ state }) => this.step(entryIn(state)));
  }

  /** Opens a session. `replace`: the conversation on the page stays, and only gets an address. */
  navigate(sessionId: string | null, replace: boolean): void {
    const path = addressOf(sessionId);
    if (replace) {
      this.enter("replace", path);
      return;
    }
    // Back leads to where the list of conversations on a phone was opened, and not to the list.
    const isFromSheet = view.get().sheet;
    this.showingLocation(leaveSession);
    this.enter(path === location.pathname || isFromSheet ? "replace" : "push", path);
    showSession();
  }

  /** Opens what the address names. */
  showLocation(): void {
    this.showingLocation(() => {
      leaveSession();
      showOpen(entryIn(history.state)?.open ?? openFrom(location.search, openIn(view.get()), isOverlay()));
    });
    this.enter("replace", location.pathname);
    showSession();
  }

  /** Writes the passage that is looked at into the address, without an entry in the history. */
  notePassage(source: OpenedSource, passage: string | null): void {
    const { file, beside, drawer } = view.get();
    if ((file === null ? drawer : beside) !== source) return;
    this.noted = passage === null ? null : { source, passage };
    this.enter("replace", location.pathname);
  }

  /** `blocker` is called before each step; if it returns true, the step is undone and no other blocker is called. */
  block(blocker: (step: Step) => boolean): () => void {
    this.blockers.add(blocker);
    return () => this.blockers.delete(blocker);
  }

  private isBlocked(step: Step): boolean {
    for (const blocks of this.blockers) if (blocks(step)) return true;
    return false;
  }

  private withNoted(open: Open): Open {
    if (!this.noted) return open;
    const { source, passage } = this.noted;
    if (open.beside === source) return { ...open, beside: { ...open.beside, passage } };
    if (open.drawer?.kind === "source" && open.drawer === source)
      return { ...open, drawer: { ...open.drawer, passage } };
    return open;
  }

  private enter(how: "push" | "replace", path: string): void {
    const open = openIn(view.get());
    const noted = this.withNoted(open);
    const entry: Entry = { at: how === "push" ? this.shown.at + 1 : this.shown.at, open: noted };
    const address = path + queryOf(path === "/" ? { ...noted, drawer: null } : noted, isOverlay());
    this.shown = { at: entry.at, open, address };
    if (how === "push") history.pushState(entry, "", address);
    else history.replaceState(entry, "", address);
  }

  private showingLocation(change: () => void): void {
    this.isShowingLocation = true;
    change();
    this.isShowingLocation = false;
  }

  private step(known: Entry | null): void {
    const open = known?.open ?? openFrom(location.search, openIn(view.get()), isOverlay());
    const entry: Entry = { at: known?.at ?? this.shown.at + 1, open };
    const address = location.pathname + location.search;
    const isSameSession = location.pathname === this.shown.address.split("?", 1)[0];
    if (this.isBlocked({ leavesFile: !isSameSession || entry.open.file !== view.get().file })) {
      // The browser has taken the step already: it is brought back to what is shown.
      this.shown = { ...this.shown, at: entry.at + 1 };
      history.pushState({ at: this.shown.at, open: this.withNoted(this.shown.open) }, "", this.shown.address);
      return;
    }
    // A panel that was closed without Back has left two entries of the same address: a step back must be visible.
    const isInvisible = entry.at < this.shown.at && address === this.shown.address;
    this.shown = { at: entry.at, open: entry.open, address };
    if (isInvisible) {
      history.back();
      return;
    }
    this.showingLocation(() => {
      if (!isSameSession) leaveSession();
      // Whether a list is open beside the conversation is the same in all conversations.
      const stays = !isSameSession && !isOverlay() && entry.open.drawer?.kind !== "source";
      showOpen(stays ? { ...entry.open, drawer: view.get().drawer } : entry.open);
    });
    this.shown = { ...this.shown, open: openIn(view.get()) };
    showSession();
  }
}

function showSession(): void {
  const sessionId = sessionInAddress();
  if (sessionId === null) startNew();
  else openSession(sessionId);
}

export const router = new Router();

export function navigate(sessionId: string | null, { replace = false } = {}): void {
  router.navigate(sessionId, replace);
}
