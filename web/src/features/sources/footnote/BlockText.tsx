import { memo, type ReactNode } from "react";
import { Link } from "../../../ui/Link";
import type { Block } from "./blocks";
import { isMarkdown, isSameRange, type Reading } from "./passages";
import { apart, cut, overlaps, type Piece, piecesOf, type Range } from "./pieces";
import { type Styled, signsIn } from "./signs";
import { type Row, tableOf } from "./tables";

interface BlockProps {
  reading: Reading;
  block: Block;
  /** The passage that is looked at, if it is in this block. */
  current: Range | null;
  /** What is set apart in that passage. */
  values: readonly Range[];
  /** The passage that the model was given, if this block has more than that. */
  outlined: Range | null;
}

/** A block of the text, word for word, with its passages marked. */
export const BlockText = memo(function BlockText({ reading, block, current, values, outlined }: BlockProps) {
  const { kind, level, sign, continued, start, end } = block;
  const styles = stylesOf(reading, block, values);
  const show = (range: Range) => (
    <Outlined reading={reading} range={range} current={current} styles={styles} outlined={outlined} />
  );
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

/** What is drawn in another way than the text around it, in order and apart. */
function stylesOf({ snapshot }: Reading, block: Block, values: readonly Range[]): Styled[] {
  const signs = isMarkdown(snapshot.media_type) ? signsIn(snapshot.text, block) : [];
  const differing = values
    .filter((value) => overlaps(value, block))
    .map((value): Styled => ({ ...value, as: "differs" }));
  return apart([...differing, ...signs]);
}

interface WordsProps {
  reading: Reading;
  range: Range;
  current: Range | null;
  styles: readonly Styled[];
}

function Outlined({ range, outlined, ...rest }: WordsProps & { outlined: Range | null }) {
  return cut(range, outlined ? [outlined] : []).map(({ start, end, by }) => {
    const words = <Words key={start} range={{ start, end }} {...rest} />;
    return by ? (
      <span key={start} className="sources-outlined-words">
        {words}
      </span>
    ) : (
      words
    );
  });
}

function Words({ reading, range, current, styles }: WordsProps) {
  const { links, quoted, snapshot, isOtherwise, passages, cited } = reading;
  const isCited = current !== null && isSameRange(current, passages[cited] ?? null);
  return piecesOf(range, current, quoted, links).map((piece) => {
    const content = <Parts key={piece.start} text={snapshot.text} piece={piece} styles={styles} />;
    if (piece.passage === null) return content;
    if (piece.passage !== "current")
      return (
        <span key={piece.start} className="sources-other">
          {content}
        </span>
      );
    return (
      <mark key={piece.start} tabIndex={-1} data-otherwise={(isOtherwise && isCited) || undefined}>
        {content}
      </mark>
    );
  });
}

function Parts({ text, piece, styles }: { text: string; piece: Piece; styles: readonly Styled[] }) {
  return piece.parts.map((part) => {
    const words = cut(part, styles).map(({ start, end, by }) => styled(text.slice(start, end), start, by?.as ?? null));
    return part.url === null ? (
      words
    ) : (
      <Link key={part.start} href={part.url}>
        {words}
      </Link>
    );
  });
}

function styled(words: string, key: number, as: Styled["as"] | null): ReactNode {
  if (as === null) return words;
  if (as === "code")
    return (
      <code key={key} className="sources-code">
        {words}
      </code>
    );
  if (as === "differs")
    return (
      <strong key={key} className="sources-differs">
        {words}
      </strong>
    );
  return null;
}
