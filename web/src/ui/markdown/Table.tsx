import { Download } from "lucide-react";
import type { AlignType, Table as TableNode, TableRow } from "mdast";
import { memo, type RefObject, useEffect, useRef, useState } from "react";
import { useWords } from "../../lib/i18n";
import { Button } from "../Button";
import { CopyButton } from "./CopyButton";
import { type Column, columnsOf } from "./columns";
import { directionOf } from "./direction";
import { download } from "./download";
import { inline } from "./Inline";
import { csvOf, tsvOf } from "./rows";
import "./table.css";
import { words } from "./words";

export function Table({ node }: { node: TableNode }) {
  const t = useWords(words);
  const [head, ...rows] = node.children;
  const align = node.align ?? [];
  const columns = columnsOf(node);
  const room = useRef<HTMLDivElement>(null);
  const { isWide, hasMore } = useOverflow(room);
  return (
    <div className="md-table" data-wide={isWide || undefined} data-more={hasMore || undefined}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls, and a region would be a landmark */}
      <div ref={room} className="md-scroll" tabIndex={0} role="group" aria-label={t.table}>
        <table dir={directionOf(node)}>
          <thead>{head && <Row node={head} align={align} columns={columns} isHead />}</thead>
          <tbody>
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows never change their order
              <Row key={at} node={row} align={align} columns={columns} />
            ))}
          </tbody>
        </table>
      </div>
      <div className="md-bar">
        <CopyButton text={() => tsvOf(node)} label={t.copyTable} />
        <Button
          look="quiet"
          small
          icon={Download}
          title={t.csv}
          onClick={() => download("table.csv", [csvOf(node)], "text/csv")}
        >
          CSV
        </Button>
      </div>
    </div>
  );
}

/** `isWide`: the table does not fit into its room. `hasMore`: its end is out of sight. */
function useOverflow(room: RefObject<HTMLElement | null>): { isWide: boolean; hasMore: boolean } {
  const [overflow, setOverflow] = useState({ isWide: false, hasMore: false });
  useEffect(() => {
    const element = room.current;
    if (!element) return;
    const look = () => {
      const hidden = element.scrollWidth - element.clientWidth;
      // In a table that is written from right to left, the way to its end is counted downwards.
      const next = { isWide: hidden > 1, hasMore: hidden - Math.abs(element.scrollLeft) > 1 };
      setOverflow((now) => (now.isWide === next.isWide && now.hasMore === next.hasMore ? now : next));
    };
    // It looks as soon as the table is laid out: of a message far away that is when it comes near, and not before.
    const resized = new ResizeObserver(look);
    resized.observe(element);
    if (element.firstElementChild) resized.observe(element.firstElementChild);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [room]);
  return overflow;
}

interface RowProps {
  node: TableRow;
  align: readonly AlignType[];
  columns: readonly Column[];
  isHead?: boolean;
}

const Row = memo(
  function Row({ node, align, columns, isHead = false }: RowProps) {
    const Cell = isHead ? "th" : "td";
    return (
      <tr>
        {align.map((side, at) => (
          <Cell
            // biome-ignore lint/suspicious/noArrayIndexKey: columns never change their order
            key={at}
            dir="auto"
            scope={isHead ? "col" : undefined}
            data-align={side ?? undefined}
            data-long={columns[at]?.isLong || undefined}
          >
            {inline(node.children[at]?.children ?? [])}
          </Cell>
        ))}
      </tr>
    );
  },
  (before, now) =>
    before.node === now.node &&
    before.align.join() === now.align.join() &&
    before.columns.every(({ isLong }, at) => isLong === now.columns[at]?.isLong),
);
