import { memo, type ReactNode } from "react";
import { Link } from "../../../ui/Link";
import type { Block } from "./blocks";
import type { Reading } from "./passages";
import { type Piece, piecesOf, type Range } from "./pieces";
import { type Row, tableOf } from "./tables";

interface BlockProps {
  reading: Reading;
  block: Block;
  /** The passage that is looked at, if it is in this block. */
  current: Range | null;
}

/** A block of the text, word for word, with its passages marked. */
export const BlockText = memo(function BlockText({ reading, block, current }: BlockProps) {
  const { kind, level, sign, continued, start, end } = block;
  const show = (range: Range) => <Words reading={reading} range={range} current={current} />;
  const shared = {
    className: "sources-block",
    "data-kind": kind,
    "data-continued": continued || undefined,
    dir: "auto",
  };
  if (kind === "table") return <TableText show={show} table={tableOf(reading.snapshot.text, block)} />;
  if (kind === "code") {
    const inside = insideFence(reading.snapshot.text, block);
    return (
      <pre {...shared}>
        <span className="sources-sign">{show({ start, end: inside.start })}</span>
        {show(inside)}
        <span className="sources-sign">{show({ start: inside.end, end })}</span>
      </pre>
    );
  }
  return (
    <p {...shared} data-level={level || undefined}>
      {sign > 0 && <span className="sources-sign">{show({ start, end: start + sign })}</span>}
      {show({ start: start + sign, end })}
    </p>
  );
});

/** The lines that open and close code are signs, not words. A piece of long code may have neither. */
function insideFence(text: string, { start, end }: Range): Range {
  const code = text.slice(start, end);
  const opening = /^ {0,3}(?:`{3,}|~{3,})[^\n]*(?:\n|$)/.exec(code)?.[0].length ?? 0;
  const closing = /(?:^|\n) {0,3}(?:`{3,}|~{3,})[ \t]*$/.exec(code.slice(opening))?.[0].length ?? 0;
  return { start: start + opening, end: end - closing };
}

function TableText({
  table: { head, rows },
  show,
}: {
  table: ReturnType<typeof tableOf>;
  show: (cell: Range) => ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <div className="sources-table" tabIndex={0} dir="auto">
      <table>
        {head && (
          <thead>
            <tr>
              {head.cells.map((cell) => (
                <th key={cell.start} scope="col">
                  {show(cell)}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row: Row) => (
            <tr key={row.start}>
              {row.cells.map((cell) => (
                <td key={cell.start}>{show(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Words({ reading, range, current }: { reading: Reading; range: Range; current: Range | null }) {
  const { links, quoted, snapshot } = reading;
  return piecesOf(range, current, quoted, links).map((piece) => {
    const content = <Parts key={piece.start} text={snapshot.text} piece={piece} />;
    if (piece.passage === null) return content;
    if (piece.passage !== "current")
      return (
        <span key={piece.start} className="sources-other">
          {content}
        </span>
      );
    return (
      <mark key={piece.start} tabIndex={-1}>
        {content}
      </mark>
    );
  });
}

function Parts({ text, piece }: { text: string; piece: Piece }) {
  return piece.parts.map(({ start, end, url }) =>
    url === null ? (
      text.slice(start, end)
    ) : (
      <Link key={start} href={url}>
        {text.slice(start, end)}
      </Link>
    ),
  );
}
