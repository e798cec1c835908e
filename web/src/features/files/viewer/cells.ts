/** How cells of a table are written. */

import type { FileTable } from "../../../protocol/events.gen";

export type Cell = FileTable["rows"][number][number];

export type Row = readonly Cell[];

const NUMERIC = /^[-+−]?[\p{Sc}]?\s?\d[\d\s.,'’]*(e[-+]?\d+)?\s?[%\p{Sc}]?$/iu;

export function textOf(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return "";
  // What a sum of fractions is off by says nothing to people.
  if (typeof cell === "number" && !Number.isInteger(cell)) return String(Number(cell.toPrecision(15)));
  if (typeof cell === "boolean") return cell ? "TRUE" : "FALSE";
  return String(cell);
}

export function isNumeric(cell: Cell | undefined): boolean {
  return typeof cell === "number" || (typeof cell === "string" && cell.length < 40 && NUMERIC.test(cell.trim()));
}

/** The first row names the columns, as far as can be told: words all along, and something below them. */
export function looksLikeHeading(rows: readonly Row[]): boolean {
  const first = rows[0] ?? [];
  return rows.length > 1 && first.length > 0 && first.every((cell) => typeof cell === "string" && !isNumeric(cell));
}

/** A, B, …, Z, AA, as in a spreadsheet. */
export function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
}
