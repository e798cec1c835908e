import type { Nodes, Table } from "mdast";
import { textOf } from "./plain";

/** A column whose cells are all as short as this is not broken into lines. */
const SHORT = 14;

export interface Column {
  /** Words: it may be broken into lines, but not squeezed to its longest word. */
  isLong: boolean;
}

/** What the cells of each column need, by the longest of them. */
export function columnsOf(table: Table): Column[] {
  return (table.align ?? []).map((_, at) => ({
    isLong: table.children.some((row) => [...textOf((row.children[at] ?? EMPTY) as Nodes)].length > SHORT),
  }));
}

const EMPTY: Nodes = { type: "text", value: "" };
