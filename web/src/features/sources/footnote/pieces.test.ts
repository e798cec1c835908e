import { expect, test } from "vitest";
import { apart, piecesOf, union } from "./pieces";

const TEXT = "0123456789abcdefghij";
const shown = (...of: Parameters<typeof piecesOf>) =>
  piecesOf(...of).map(({ start, end, passage }) => `${TEXT.slice(start, end)}:${passage}`);

test("a range without passages is one piece", () => {
  expect(shown({ start: 2, end: 5 }, null, [], [])).toEqual(["234:null"]);
});

test("the current passage is cut out of the others", () => {
  const passages = union([
    { start: 2, end: 8 },
    { start: 6, end: 10 },
    { start: 12, end: 14 },
  ]);
  expect(shown({ start: 0, end: 20 }, { start: 4, end: 6 }, passages, [])).toEqual([
    "01:null",
    "23:other",
    "45:current",
    "6789:other",
    "ab:null",
    "cd:other",
    "efghij:null",
  ]);
});

test("a passage that reaches over a block is cut to it", () => {
  expect(shown({ start: 5, end: 8 }, { start: 2, end: 18 }, [], [])).toEqual(["567:current"]);
});

test("links are parts of pieces, cut where a passage begins", () => {
  const links = apart([
    { start: 2, end: 6, url: "a" },
    { start: 4, end: 8, url: "lies over the first" },
  ]);
  const [first, second] = piecesOf({ start: 0, end: 10 }, { start: 4, end: 10 }, [], links);
  expect(first?.parts.map(({ start, end, url }) => [start, end, url])).toEqual([
    [0, 2, null],
    [2, 4, "a"],
  ]);
  expect(second?.parts.map(({ start, end, url }) => [start, end, url])).toEqual([
    [4, 6, "a"],
    [6, 10, null],
  ]);
});
