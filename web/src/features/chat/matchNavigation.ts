import { useCallback, useEffect, useRef, useState } from "react";
import { useStore } from "../../lib/store";
import { conversation } from "../../state/conversation";
import { sessionList } from "../../state/sessions";
import type { Turn } from "../../state/turns";
import { lookFor, view } from "../../state/view";
import { clearHighlights, highlightCurrent, highlightMatches } from "./matchHighlights";
import type { Scrolling } from "./scrolling";

/** The places in the conversation where the words of a search stand, and the one that is looked at. */
export interface MatchNavigation {
  at: number;
  of: number;
  step: (by: 1 | -1) => void;
}

interface Drawn {
  turns: readonly Turn[];
  /** The first turn that is drawn. */
  first: number;
  showFrom: (at: number) => void;
}

/** Brings the message that a search found into sight, also one that is not drawn yet, and leads on from there. It is the first
 * one that has the words, so that all others are drawn with it. */
export function useMatchNavigation(
  { turns, first, showFrom }: Drawn,
  { column, reveal, show }: Scrolling,
): MatchNavigation | null {
  const sought = useStore(view, (shown) => shown.message);
  const query = useStore(view, (shown) => shown.query);
  const searched = useStore(sessionList, (list) => list.query);
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const [place, setPlace] = useState<Pick<MatchNavigation, "at" | "of"> | null>(null);
  const now = useRef<{ range: Range; query: string } | null>(null);

  const forget = useCallback(() => {
    clearHighlights();
    now.current = null;
    setPlace(null);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: marks belong to the session in which something was found.
  useEffect(() => forget, [sessionId, forget]);
  useEffect(() => {
    if (searched === "") forget();
  }, [searched, forget]);

  const look = useCallback((all: readonly Range[], range: Range, words: string) => {
    now.current = { range, query: words };
    highlightCurrent(range);
    setPlace({ at: all.indexOf(range) + 1, of: all.length });
  }, []);

  const at = sought ? turns.findIndex((turn) => turn.questionId === sought || turn.answer.messageId === sought) : -1;
  useEffect(() => {
    if (at < 0 || !column.current) return;
    if (at < first) {
      showFrom(at);
      return;
    }
    const all = highlightMatches(column.current, query);
    reveal(at - first, (turn) => {
      const range = all.find((one) => turn.contains(one.startContainer));
      if (range) look(all, range, query);
      return range;
    });
    lookFor(null);
  }, [at, first, query, column, showFrom, reveal, look]);

  const step = useCallback(
    (by: 1 | -1) => {
      if (!column.current || !now.current) return;
      // The text may have been drawn anew since.
      const all = highlightMatches(column.current, now.current.query);
      const last = now.current.range;
      const before = all.filter((one) => one.compareBoundaryPoints(Range.START_TO_START, last) < 0);
      const isThere = all[before.length]?.compareBoundaryPoints(Range.START_TO_START, last) === 0;
      const next = by < 0 ? before.length - 1 : before.length + (isThere ? 1 : 0);
      const range = all.at(next % Math.max(1, all.length));
      if (!range) return;
      look(all, range, now.current.query);
      show(range);
    },
    [column, look, show],
  );
  return place && { ...place, step };
}
