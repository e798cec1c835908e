import type { Nodes, Table } from "mdast";
import { textOf } from "./plain";

function rowsOf(table: Table): string[][] {
  return table.children.map((row) => row.children.map((cell) => textOf(cell as Nodes).trim()));
}

/** For a spreadsheet to be pasted into. */
export function tsvOf(table: Table): string {
  return rowsOf(table)
    .map((row) => row.map((cell) => harmless(cell.replace(/\s+/g, " "))).join("\t"))
    .join("\n");
}

/** With a mark at its beginning by which Excel knows that it is UTF-8. */
export function csvOf(table: Table): string {
  const lines = rowsOf(table).map((row) => row.map((cell) => `"${harmless(cell).replaceAll('"', '""')}"`).join(","));
  return `\uFEFF${lines.join("\r\n")}\r\n`;
}

/** A cell that a spreadsheet would take for a formula, which may come from any page of the web, is made a text. */
function harmless(cell: string): string {
  const isFormula = /^[=@]/.test(cell) || /^[+-](?![\d.,\s%]*$)/.test(cell);
  return isFormula ? `'${cell}` : cell;
}
