import { expect, test } from "vitest";
import { blocksOf } from "./blocks";
import { blocksIn, contains, groupsIn, grown, spanAround, WHOLE } from "./span";

test("a short text is drawn whole", () => {
  expect(spanAround(WHOLE, { start: 5, end: 9 })).toEqual({ start: 0, end: WHOLE });
});

test("of a long one the part around the passage, which grows to the whole", () => {
  const length = 1_000_000;
  let span = spanAround(length, { start: 500_000, end: 500_100 });
  expect(contains(span, { start: 500_000, end: 500_100 })).toBe(true);
  expect(span.end - span.start).toBeLessThan(WHOLE);
  while (span.start > 0) span = grown(span, length, "earlier");
  while (span.end < length) span = grown(span, length, "later");
  expect(span).toEqual({ start: 0, end: length });
  expect(spanAround(length, null).start).toBe(0);
});

test("blocks that reach into the part belong to it", () => {
  const blocks = blocksOf("one\n\ntwo\n\nthree\n\nfour");
  expect(blocksIn(blocks, { start: 6, end: 11 }).map(({ start }) => start)).toEqual([5, 10]);
  expect(blocksIn(blocks, { start: 0, end: 21 })).toHaveLength(4);
});

test("blocks that lie within a passage are drawn together, one that reaches beyond it is not", () => {
  const blocks = blocksOf("one\n\ntwo\n\nthree\n\nfour");
  const shape = (passage: { start: number; end: number } | null) =>
    groupsIn(blocks, passage).map((group) => [group.isOutlined, group.blocks.map(({ start }) => start)]);
  expect(shape({ start: 5, end: 15 })).toEqual([
    [false, [0]],
    [true, [5, 10]],
    [false, [17]],
  ]);
  expect(shape({ start: 11, end: 14 })).toEqual([[false, [0, 5, 10, 17]]]);
  expect(shape(null)).toEqual([[false, [0, 5, 10, 17]]]);
});
