import type { Range } from "./pieces";

export interface Row {
  start: number;
  cells: readonly Range[];
}

export interface Table {
  head: Row | null;
  rows: readonly Row[];
}

/** Each bar brings its own white space, so that a line can be read in one way only and a long one takes linear time. */
const RULE = /^[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;

/** The cells of a table as ranges of the text. The line between head and body is none of them. */
export function tableOf(text: string, { start, end }: Range): Table {
  const rows: Row[] = [];
  let head: Row | null = null;
  for (let at = start; at < end; ) {
    const newline = text.indexOf("\n", at);
    const stop = newline < 0 || newline > end ? end : newline;
    if (!RULE.test(text.slice(at, stop))) rows.push({ start: at, cells: cellsOf(text, at, stop) });
    else if (rows.length === 1 && head === null) head = rows.pop() ?? null;
    at = stop + 1;
  }
  return { head, rows };
}

function cellsOf(text: string, start: number, end: number): Range[] {
  const bars: number[] = [];
  for (let at = start; at < end; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "|") bars.push(at);
  }
  if (text.slice(bars.at(-1) ?? end, end).trim() !== "|") bars.push(end);
  return bars.slice(1).map((bar, index) => trimmed(text, (bars[index] ?? start) + 1, bar));
}

function trimmed(text: string, start: number, end: number): Range {
  const cell = text.slice(start, end);
  const from = start + cell.length - cell.trimStart().length;
  return { start: from, end: Math.max(from, end - (cell.length - cell.trimEnd().length)) };
}
