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

test.each(["---", "|---|", "| --- | :-: |", "|:--|--:", "  --- | ---  "])("%s is the line below a head", (rule) => {
  expect(cells(`| a |\n${rule}\n| b |`)).toEqual({ head: ["a"], rows: [["b"]] });
});

test("a row of many dashes and a letter is a row, and read at once", () => {
  const row = `${"-".repeat(10_000)}x`;
  expect(cells(`| a |\n| ${row} |`)).toEqual({ head: null, rows: [["a"], [row]] });
});
