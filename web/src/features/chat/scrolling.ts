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
  /** Goes to a turn, by its place among those that are drawn. */
  reveal: (at: number) => void;
}

/** Follows the end of the conversation for as long as the reader is there. Any move up lets go. */
export function useScrolling(): Scrolling {
  const log = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const held = useRef<{ element: Element; top: number } | null>(null);
  const [isAtEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  }, []);

  const goToEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    toEnd();
  }, [toEnd]);

  useEffect(() => {
    const [box, inner] = [log.current, column.current];
    if (!box || !inner) return;
    let last = box.scrollTop;
    const toGo = () => box.scrollHeight - box.clientHeight - box.scrollTop;
    const moved = () => {
      const distance = toGo();
      // What shrinks also moves the page up, but leaves the reader at the end of it.
      if (distance <= 1) follows.current = true;
      else if (box.scrollTop < last) follows.current = false;
      else if (distance <= NEAR_PX) follows.current = true;
      last = box.scrollTop;
      setAtEnd(follows.current || distance <= NEAR_PX);
    };
    const grown = new ResizeObserver(() => {
      if (follows.current) toEnd();
      setAtEnd(follows.current || toGo() <= NEAR_PX);
    });
    grown.observe(inner);
    grown.observe(box);
    box.addEventListener("scroll", moved, { passive: true });
    return () => {
      grown.disconnect();
      box.removeEventListener("scroll", moved);
    };
  }, [toEnd]);

  const reveal = useCallback((at: number) => {
    follows.current = false;
    column.current?.querySelectorAll(".chat-turn")[at]?.scrollIntoView({ block: "start" });
  }, []);

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

  return { log, column, isAtEnd, goToEnd, hold, reveal };
}
