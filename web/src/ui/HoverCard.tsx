import {
  type FocusEvent,
  type ReactNode,
  type PointerEvent as ReactPointerEvent,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { positionBeside } from "./position";
import "./ui.css";

const OPENS_MS = 120;
const CLOSES_MS = 200;

/** Where the pointer was pressed last. What the page then moves under a pointer that rests there was not pointed at. */
let pressed: { x: number; y: number } | null = null;
const notePress = ({ clientX: x, clientY: y }: PointerEvent) => {
  pressed = { x, y };
};

export interface HoverCardProps {
  /** Left out: there is nothing more to say. */
  card?: (() => ReactNode) | undefined;
  /** How long the pointer rests on it before it opens. */
  rest?: number;
  /** A click opens it too: it leads nowhere else. */
  opensOnClick?: boolean;
  children: (described: { "aria-describedby": string | undefined }) => ReactNode;
}

/** Something that says more while the pointer or the keyboard is on it. `children` gets what its button must carry. */
export function HoverCard({ card, rest = OPENS_MS, opensOnClick = false, children }: HoverCardProps) {
  const id = useId();
  const anchor = useRef<HTMLSpanElement>(null);
  const floating = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [open, setOpen] = useState(false);

  useEffect(() => {
    const [anchored, shown] = [anchor.current, floating.current];
    if (!open || !shown || !anchored) return;
    shown.showPopover();
    positionBeside(anchored, shown);
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== "Escape") return;
      if (event instanceof PointerEvent && event.target instanceof Node && anchored.contains(event.target)) return;
      setOpen(false);
    };
    addEventListener("keydown", close);
    addEventListener("pointerdown", close);
    addEventListener("scroll", close, { capture: true, passive: true });
    return () => {
      removeEventListener("keydown", close);
      removeEventListener("pointerdown", close);
      removeEventListener("scroll", close, { capture: true });
    };
  }, [open]);
  useEffect(() => {
    // The same listener is added once only, by however many cards.
    addEventListener("pointerdown", notePress, { capture: true, passive: true });
    return () => clearTimeout(timer.current);
  }, []);

  const soon = (next: boolean) => {
    clearTimeout(timer.current);
    if (card || !next) timer.current = setTimeout(() => setOpen(next), next ? rest : CLOSES_MS);
  };
  const now = () => {
    clearTimeout(timer.current);
    setOpen(opensOnClick);
  };
  const onPointerEnter = ({ pointerType, clientX, clientY }: ReactPointerEvent) => {
    const isMoved = pressed === null || pressed.x !== clientX || pressed.y !== clientY;
    if (pointerType === "mouse" && isMoved) soon(true);
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
