/** Where the keyboard focus goes when the panel replaces the element that had it. */

import { type RefObject, useLayoutEffect } from "react";
import { Store } from "../../lib/store";
import { conversation } from "../../state/conversation";

/** The source that was opened last, to which the list returns. */
const lastOpened = new Store<{ sessionId: string | null; number: number } | null>(null);

export function useLastOpened(number: number): void {
  useLayoutEffect(() => lastOpened.set({ sessionId: conversation.get().sessionId, number }), [number]);
}

/** Focuses the entry of the source that was open, when the list is shown again. */
export function useFocusReturn(list: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const last = lastOpened.get();
    if (!isFocusLost() || last === null || last.sessionId !== conversation.get().sessionId) return;
    const entry = list.current?.querySelector<HTMLElement>(`[data-source="${last.number}"]`);
    entry?.focus({ preventScroll: true });
    entry?.scrollIntoView({ block: "center", behavior: "instant" });
  }, [list]);
}

/** Focuses the control if the focused element was removed. */
export function useFocusHere(control: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    if (isFocusLost()) control.current?.focus({ preventScroll: true });
  }, [control]);
}

function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
