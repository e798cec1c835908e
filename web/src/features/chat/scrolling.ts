import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR_PX = 40;

export interface Scrolling {
  log: RefObject<HTMLDivElement | null>;
  column: RefObject<HTMLDivElement | null>;
  /** Whether the newest is in sight, and stays there while it grows. */
  isAtEnd: boolean;
  goToEnd: () => void;
  /** Keeps what is read in its place while something is put above it. */
  hold: () => void;
  /** Goes to a turn, by its place among those that are drawn; in it, to the place that is found. */
  reveal: (at: number, find: (turn: HTMLElement) => Range | undefined) => void;
  /** Brings a place into sight. */
  show: (range: Range) => void;
}

/** Follows the end of the conversation for as long as the reader is there. Any move up lets go. */
export function useScrolling(): Scrolling {
  const log = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const held = useRef<{ element: Element; top: number } | null>(null);
  const [isAtEnd, setAtEnd] = useState(true);

  const goToEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  }, []);

  useEffect(() => {
    const [box, inner] = [log.current, column.current];
    if (!box || !inner) return;
    return follow(box, inner, follows, setAtEnd);
  }, []);

  const show = useCallback((range: Range) => {
    follows.current = false;
    const box = log.current;
    if (!box) return;
    const [place, room] = [range.getBoundingClientRect(), box.getBoundingClientRect()];
    const isInSight = place.top >= room.top + NEAR_PX && place.bottom <= room.bottom - NEAR_PX;
    if (!isInSight) box.scrollTop += place.top - room.top - room.height / 3;
  }, []);

  const reveal = useCallback(
    (at: number, find: (turn: HTMLElement) => Range | undefined) => {
      follows.current = false;
      const turn = column.current?.querySelectorAll<HTMLElement>(".chat-turn")[at];
      turn?.scrollIntoView({ block: "start" });
      const range = turn && find(turn);
      if (range) show(range);
    },
    [show],
  );

  const hold = useCallback(() => {
    const element = column.current?.querySelector(".chat-turn");
    if (element) held.current = { element, top: element.getBoundingClientRect().top };
  }, []);

  useLayoutEffect(() => {
    const [box, was] = [log.current, held.current];
    if (!box || !was) return;
    held.current = null;
    // Browsers that anchor by themselves would move it a second time.
    box.style.overflowAnchor = "none";
    box.scrollTop += was.element.getBoundingClientRect().top - was.top;
    requestAnimationFrame(() => {
      box.style.overflowAnchor = "";
    });
  });

  return { log, column, isAtEnd, goToEnd, hold, reveal, show };
}

/** Keeps the end in sight while it grows, or else what is read. What it returns ends that. */
function follow(
  box: HTMLElement,
  inner: HTMLElement,
  follows: RefObject<boolean>,
  setAtEnd: (isAtEnd: boolean) => void,
): () => void {
  let last = box.scrollTop;
  /** Where the reader was when the text below became shorter than that: a run that resumes writes its last part anew. */
  let lost: number | null = null;
  const toGo = () => box.scrollHeight - box.clientHeight - box.scrollTop;
  const moved = () => {
    const distance = toGo();
    const way = box.scrollTop - last;
    // What shrinks also moves the page up, to its end: whoever follows it stays there, whoever does not wants to go back.
    if (way < 0 && distance <= 1) lost = follows.current ? null : Math.max(last, lost ?? 0);
    else if (way !== 0) {
      if (way < 0) follows.current = false;
      else if (distance <= NEAR_PX) follows.current = true;
      lost = null;
    }
    last = box.scrollTop;
    setAtEnd(follows.current || distance <= NEAR_PX);
  };
  const grown = new ResizeObserver(() => {
    if (!follows.current && box.scrollTop !== last) moved();
    if (follows.current) box.scrollTop = box.scrollHeight;
    else if (lost !== null && toGo() > 1) {
      // Back to where the reader was, as far as there is text again. It is no wish to follow it.
      box.scrollTop = Math.min(lost, box.scrollHeight - box.clientHeight);
      last = box.scrollTop;
      if (last >= lost) lost = null;
    }
    setAtEnd(follows.current || toGo() <= NEAR_PX);
  });
  grown.observe(inner);
  grown.observe(box);
  box.addEventListener("scroll", moved, { passive: true });
  return () => {
    grown.disconnect();
    box.removeEventListener("scroll", moved);
  };
}
