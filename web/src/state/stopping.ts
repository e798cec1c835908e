/** Stopping the answer that is being made. Escape is pressed by reflex, and an answer may be minutes of work: by that key it
 * takes two presses with nothing in between. */

import { Store } from "../lib/store";
import { conversation } from "./conversation";
import { activeTurn } from "./select";

export interface Stopping {
  /** The turn for which Escape was pressed once. */
  asked: string | null;
  /** The turn that is to be stopped. */
  wanted: string | null;
}

export const stopping = new Store<Stopping>({ asked: null, wanted: null });

export function wantStop(): void {
  stopping.set({ asked: null, wanted: activeTurn(conversation.get())?.key ?? null });
}

/** It could not be stopped. */
export function dropStop(): void {
  stopping.set({ asked: null, wanted: null });
}

/** False: nothing is running that could be stopped. */
export function pressEscape(): boolean {
  const key = activeTurn(conversation.get())?.key ?? null;
  const { asked, wanted } = stopping.get();
  if (key === null) return false;
  if (asked === key) wantStop();
  else if (wanted !== key) stopping.set({ asked: key, wanted: null });
  return true;
}

/** Somebody went on with something else. */
export function forgetEscape(event: Event): void {
  if (stopping.get().asked === null || (event instanceof KeyboardEvent && event.key === "Escape")) return;
  stopping.set((known) => ({ ...known, asked: null }));
}
