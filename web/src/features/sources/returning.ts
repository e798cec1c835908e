/** The keyboard is never lost: what it was on may be gone when the panel shows something else. */

import { type RefObject, useLayoutEffect } from "react";
import { conversation } from "../../state/conversation";

/** The footnote that was opened last: the list goes back to it. */
let last: { sessionId: string | null; number: number } | null = null;

export function useLastOpened(number: number): void {
  useLayoutEffect(() => {
    last = { sessionId: conversation.get().sessionId, number };
  }, [number]);
}

/** Back in the list: at the source that was looked at. */
export function useReturn(list: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    if (!isLost() || last === null || last.sessionId !== conversation.get().sessionId) return;
    const entry = list.current?.querySelector<HTMLElement>(`[data-source="${last.number}"]`);
    entry?.focus({ preventScroll: true });
    entry?.scrollIntoView({ block: "center", behavior: "instant" });
  }, [list]);
}

export function useHold(control: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    if (isLost()) control.current?.focus({ preventScroll: true });
  }, [control]);
}

function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
