import { expect, test } from "vitest";
import { textOf } from "./plain";
import { plainDocument } from "./plainDocument";

test("only footnotes are read in a text without markup, at their places", () => {
  const text = "# One *two* [1].\n\n😀 【2】 [x] [3, 4]\n  - [a](b) [5]";
  const { blocks, marks } = plainDocument(text);
  expect(blocks.map(textOf).join("\n")).toBe(text);
  expect(marks.map(({ value, numbers }) => [value, numbers])).toEqual([
    ["[1]", [1]],
    ["【2】", [2]],
    ["[3, 4]", [3, 4]],
    ["[5]", [5]],
  ]);
  for (const { value, start = 0 } of marks) expect(text.slice(start, start + value.length)).toBe(value);
});
