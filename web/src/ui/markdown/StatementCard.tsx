import { type FocusEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import { CLOSES_MS, isPointedAt, useCard } from "../HoverCard";
import type { Footnotes } from "./context";
import { statementsOf } from "./statements";

/** The pointer rests this long on the words of a statement before they are explained: it passes over them while one reads. */
const RESTS_MS = 500;

type Timer = ReturnType<typeof setTimeout> | undefined;

export interface StatementCardProps {
  footnotes: Footnotes | undefined;
  plain: boolean;
  children: ReactNode;
}

/** The room of a text, with the card of the statement that is pointed at. There may be hundreds of statements, and one card
 * serves them all. */
export function StatementCard({ footnotes, plain, children }: StatementCardProps) {
  const anchor = useRef<HTMLElement>(null);
  const pointed = useRef<HTMLElement>(null);
  const floating = useRef<HTMLSpanElement>(null);
  const timers = useRef<{ opens?: Timer; closes?: Timer }>({});
  const [shown, setShown] = useState<string | null>(null);
  const statement =
    shown === null ? undefined : statementsOf(footnotes?.citations ?? []).find(({ key }) => key === shown);
  useCard(statement ? statement.key : null, anchor, floating, () => setShown(null));

  const leave = () => {
    clearTimeout(timers.current.opens);
    clearTimeout(timers.current.closes);
    timers.current.closes = setTimeout(() => setShown(null), CLOSES_MS);
  };
  const enter = (element: HTMLElement) => {
    clearTimeout(timers.current.opens);
    if (element === anchor.current) clearTimeout(timers.current.closes);
    timers.current.opens = setTimeout(() => {
      clearTimeout(timers.current.closes);
      anchor.current = element;
      setShown(element.dataset.statement ?? null);
    }, RESTS_MS);
  };
  const onPointerOver = (event: PointerEvent) => {
    const isOnCard = floating.current?.contains(event.target as Node);
    const element = isOnCard ? anchor.current : markedAt(event.target);
    if (element === pointed.current) return;
    pointed.current = element;
    leave();
    if (element && isPointedAt(event)) enter(element);
  };
  const onPointerLeave = () => {
    pointed.current = null;
    leave();
  };
  const onFocus = ({ target }: FocusEvent) => {
    const element = markedAt(target);
    if (element && target.matches(":focus-visible")) enter(element);
  };
  const onBlur = ({ target, relatedTarget }: FocusEvent) => {
    if (markedAt(target) && markedAt(target) !== markedAt(relatedTarget)) leave();
  };
  const close = () => {
    clearTimeout(timers.current.opens);
    setShown(null);
  };
  const watched = footnotes?.explain && { onPointerOver, onPointerLeave, onFocus, onBlur, onClick: close };
  return (
    <div className="md" data-plain={plain || undefined} {...watched}>
      {children}
      {statement && (
        <span ref={floating} role="tooltip" popover="manual" className="ui-card">
          {footnotes?.explain?.(statement)}
        </span>
      )}
    </div>
  );
}

function markedAt(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(".md-statement[role=mark]") : null;
}
