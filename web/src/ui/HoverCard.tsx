import { type FocusEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { positionBeside } from "./position";
import "./ui.css";

const OPENS_MS = 120;
const CLOSES_MS = 200;

/** Something that says more while the pointer or the keyboard is on it. `children` gets what its button must carry. */
export function HoverCard({
  card,
  children,
}: {
  card: () => ReactNode;
  children: (described: { "aria-describedby": string | undefined }) => ReactNode;
}) {
  const id = useId();
  const anchor = useRef<HTMLSpanElement>(null);
  const floating = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [open, setOpen] = useState(false);

  useEffect(() => {
    if (!open || !floating.current || !anchor.current) return;
    floating.current.showPopover();
    positionBeside(anchor.current, floating.current);
    const close = (event: Event) => {
      if (!(event instanceof KeyboardEvent) || event.key === "Escape") setOpen(false);
    };
    addEventListener("keydown", close);
    addEventListener("scroll", close, { capture: true, passive: true });
    return () => {
      removeEventListener("keydown", close);
      removeEventListener("scroll", close, { capture: true });
    };
  }, [open]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const soon = (next: boolean) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOpen(next), next ? OPENS_MS : CLOSES_MS);
  };
  const now = () => {
    clearTimeout(timer.current);
    setOpen(false);
  };
  const onBlur = (event: FocusEvent) => {
    if (!anchor.current?.contains(event.relatedTarget)) soon(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is inside is the control; this only watches it.
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click by keyboard is one too.
    <span
      ref={anchor}
      onPointerEnter={(event) => event.pointerType === "mouse" && soon(true)}
      onPointerLeave={() => soon(false)}
      onClick={now}
      onFocus={(event) => event.target.matches(":focus-visible") && soon(true)}
      onBlur={onBlur}
    >
      {children({ "aria-describedby": open ? id : undefined })}
      {open && (
        <span ref={floating} id={id} role="tooltip" popover="manual" className="ui-card">
          {card()}
        </span>
      )}
    </span>
  );
}
