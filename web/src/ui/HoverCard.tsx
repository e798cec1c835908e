import {
  type FocusEvent,
  type ReactNode,
  type PointerEvent as ReactPointerEvent,
  type RefObject,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { positionBeside } from "./position";
import "./ui.css";

const OPENS_MS = 120;
export const CLOSES_MS = 200;

/** Where the pointer was pressed last. What the page then moves under a pointer that rests there was not pointed at. */
let pressed: { x: number; y: number } | null = null;
const notePress = ({ clientX: x, clientY: y }: PointerEvent) => {
  pressed = { x, y };
};
if (typeof window !== "undefined") addEventListener("pointerdown", notePress, { capture: true, passive: true });

/** Whether a pointer that can rest on something was moved onto it. */
export function isPointedAt({ pointerType, clientX, clientY }: ReactPointerEvent): boolean {
  const isMoved = pressed === null || pressed.x !== clientX || pressed.y !== clientY;
  return pointerType === "mouse" && isMoved;
}

/** Shows a card beside its anchor, until Escape, a press elsewhere or scrolling closes it. `shown` is what it is about. */
export function useCard(
  shown: string | null,
  anchor: RefObject<HTMLElement | null>,
  floating: RefObject<HTMLElement | null>,
  onClose: () => void,
): void {
  const closing = useRef(onClose);
  closing.current = onClose;
  useEffect(() => {
    const [anchored, card] = [anchor.current, floating.current];
    if (shown === null || !card || !anchored) return;
    if (!card.matches(":popover-open")) card.showPopover();
    positionBeside(anchored, card);
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== "Escape") return;
      const isInside = (node: Node) => anchored.contains(node) || card.contains(node);
      if (event instanceof PointerEvent && event.target instanceof Node && isInside(event.target)) return;
      closing.current();
    };
    addEventListener("keydown", close);
    addEventListener("pointerdown", close);
    addEventListener("scroll", close, { capture: true, passive: true });
    return () => {
      removeEventListener("keydown", close);
      removeEventListener("pointerdown", close);
      removeEventListener("scroll", close, { capture: true });
    };
  }, [shown, anchor, floating]);
}

export interface HoverCardProps {
  /** Left out: there is nothing more to say. */
  card?: (() => ReactNode) | undefined;
  /** A click opens it too: it leads nowhere else. */
  opensOnClick?: boolean;
  children: (described: { "aria-describedby": string | undefined }) => ReactNode;
}

/** Something that says more while the pointer or the keyboard is on it. `children` gets what its button must carry. */
export function HoverCard({ card, opensOnClick = false, children }: HoverCardProps) {
  const id = useId();
  const anchor = useRef<HTMLSpanElement>(null);
  const floating = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [open, setOpen] = useState(false);

  useCard(open ? id : null, anchor, floating, () => setOpen(false));
  const soon = (next: boolean) => {
    clearTimeout(timer.current);
    if (card || !next) timer.current = setTimeout(() => setOpen(next), next ? OPENS_MS : CLOSES_MS);
  };
  const now = () => {
    clearTimeout(timer.current);
    setOpen(opensOnClick);
  };
  const onPointerEnter = (event: ReactPointerEvent) => {
    if (isPointedAt(event)) soon(true);
  };
  const onBlur = (event: FocusEvent) => {
    if (!anchor.current?.contains(event.relatedTarget)) soon(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is inside is the control; this only watches it.
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click by keyboard is one too.
    <span
      ref={anchor}
      onPointerEnter={onPointerEnter}
      onPointerLeave={() => soon(false)}
      onClick={now}
      onFocus={(event) => event.target.matches(":focus-visible") && soon(true)}
      onBlur={onBlur}
    >
      {children({ "aria-describedby": open ? id : undefined })}
      {open && card && (
        <span ref={floating} id={id} role="tooltip" popover="manual" className="ui-card">
          {card()}
        </span>
      )}
    </span>
  );
}
