import { expect, test } from "vitest";
import { tableOf } from "./tables";

const cells = (text: string) => {
  const { head, rows } = tableOf(text, { start: 0, end: text.length });
  const shown = (row: { cells: readonly { start: number; end: number }[] }) =>
    row.cells.map(({ start, end }) => text.slice(start, end));
  return { head: head && shown(head), rows: rows.map(shown) };
};

test("a table has a head, rows and cells that are ranges of the text", () => {
  expect(cells("| sign | number |\n|---|:-:|\n| O | 8 |\n|  | a \\| b |")).toEqual({
    head: ["sign", "number"],
    rows: [
      ["O", "8"],
      ["", "a \\| b"],
    ],
  });
});

test("the rest of a long table has no head", () => {
  expect(cells("| 1 | 2 |\n| 3 | 4")).toEqual({
    head: null,
    rows: [
      ["1", "2"],
      ["3", "4"],
    ],
  });
});
