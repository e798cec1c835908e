import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type PointerEvent,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { useWords } from "../../lib/i18n";
import { positionBeside } from "../position";
import { focusStatement, type Judged, showStatement } from "./judged";
import { words } from "./words";

/** From these numbers of statements on, cells are smaller. */
const MEDIUM = 25;
const SMALL = 100;
const PAGE = 10;

/** One cell for each statement, in the colour and the pattern of its verdict. It is one stop of the keyboard. */
export function ProofMap({ statements }: { statements: readonly Judged[] }) {
  const t = useWords(words);
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const [hasFocus, setFocus] = useState(false);
  const { current, go, onKeyDown } = useMoves(statements);
  const explained = pointed ?? (hasFocus ? current : null);
  const onClick = (event: MouseEvent) => {
    const cell = cellAt(event);
    if (cell !== null) go(cell);
  };
  return (
    <>
      <div
        ref={box}
        role="listbox"
        tabIndex={0}
        aria-label={t.map}
        aria-orientation="horizontal"
        aria-activedescendant={`${id}-${current}`}
        className="proof-map"
        data-size={sizeFor(statements.length)}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onPointerMove={(event) => event.pointerType === "mouse" && setPointed(cellAt(event))}
        onPointerLeave={() => setPointed(null)}
        onFocus={({ currentTarget }) => setFocus(currentTarget.matches(":focus-visible"))}
        onBlur={() => setFocus(false)}
      >
        {statements.map((statement, index) => (
          <Cell
            key={statement.key}
            id={`${id}-${index}`}
            at={index}
            isCurrent={index === current}
            name={t[statement.verdict]}
            statement={statement}
          />
        ))}
      </div>
      {explained !== null && statements[explained] && (
        <Explained box={box} at={explained} statement={statements[explained]} />
      )}
    </>
  );
}

/** The cell that the keyboard is on, and the keys that move it. */
function useMoves(statements: readonly Judged[]) {
  const [at, setAt] = useState(0);
  const last = statements.length - 1;
  const current = Math.min(at, last);
  const elements = (index: number) => statements[index]?.find() ?? [];
  const go = (next: number) => {
    const wanted = Math.max(0, Math.min(next, last));
    setAt(wanted);
    showStatement(elements(wanted));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const forwards = getComputedStyle(event.currentTarget).direction === "rtl" ? -1 : 1;
    const steps: Record<string, number> = {
      ArrowRight: current + forwards,
      ArrowLeft: current - forwards,
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + PAGE,
      PageUp: current - PAGE,
      Home: 0,
      End: last,
    };
    const step = steps[event.key];
    if (event.key === "Enter" || event.key === " ") focusStatement(elements(current));
    else if (step !== undefined) go(step);
    else return;
    event.preventDefault();
  };
  return { current, go, onKeyDown };
}

function sizeFor(count: number): "large" | "medium" | "small" {
  if (count < MEDIUM) return "large";
  return count < SMALL ? "medium" : "small";
}

function cellAt({ target }: MouseEvent | PointerEvent): number | null {
  const cell = target instanceof Element ? target.closest<HTMLElement>("[role=option]") : null;
  return cell ? Number(cell.dataset.at) : null;
}

interface CellProps {
  id: string;
  at: number;
  isCurrent: boolean;
  name: string;
  statement: Judged;
}

const Cell = memo(function Cell({ id, at, isCurrent, name, statement }: CellProps) {
  return (
    <span
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isCurrent}
      aria-label={`${name}: ${statement.beginning()}`}
      className="proof-cell"
      data-at={at}
      data-verdict={statement.verdict}
    />
  );
});

interface ExplainedProps {
  box: { current: HTMLElement | null };
  at: number;
  statement: Judged;
}

/** Which statement a cell stands for. The cell has the same as its name. */
function Explained({ box, at, statement }: ExplainedProps) {
  const t = useWords(words);
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const cell = box.current?.children[at];
    if (!card.current || !cell) return;
    if (!card.current.matches(":popover-open")) card.current.showPopover();
    positionBeside(cell, card.current);
  }, [box, at]);
  return (
    <div ref={card} popover="manual" className="ui-card proof-card" aria-hidden="true">
      <p className="proof-card-verdict">
        <span className="proof-sign" data-verdict={statement.verdict} />
        {t[statement.verdict]}
      </p>
      <p dir="auto">{statement.beginning()}</p>
    </div>
  );
}
