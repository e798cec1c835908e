import { expect, test } from "vitest";
import { blocksOf } from "./blocks";

const TEXT = `# Title

A paragraph
of two lines.
- one
  goes on
  - deeper
1. first

| a | b |
|---|---|
| 1 | 2 |
> said
> by somebody

\`\`\`python
# no heading

- no item
\`\`\`
After.
---
`;

test("lines become blocks, and nothing between them is lost but white space", () => {
  const blocks = blocksOf(TEXT);
  expect(blocks.map(({ kind, level }) => `${kind}${level || ""}`)).toEqual([
    "heading1",
    "text",
    "item",
    "item1",
    "item",
    "table",
    "quote",
    "code",
    "text",
    "rule",
  ]);
  expect(
    blocks
      .map(({ start, end }) => TEXT.slice(start, end))
      .join("")
      .replace(/\s/g, ""),
  ).toBe(TEXT.replace(/\s/g, ""));
  expect(TEXT.slice(blocks[1]?.start, blocks[1]?.end)).toBe("A paragraph\nof two lines.");
  expect(TEXT.slice(blocks[7]?.start, blocks[7]?.end)).toContain("# no heading\n\n- no item");
});

test("a fence that is never closed goes on to the end", () => {
  expect(blocksOf("```\na\n\n# b").map(({ kind }) => kind)).toEqual(["code"]);
});

test("a very long line is cut into pieces that add up to it, and no character is torn", () => {
  const line = "😀".repeat(50_001);
  const blocks = blocksOf(`x${line}`);
  expect(blocks.length).toBeGreaterThan(4);
  expect(blocks.map(({ start, end }) => `x${line}`.slice(start, end)).join("")).toBe(`x${line}`);
  for (const { start, end } of blocks) expect(`x${line}`.slice(start, end).isWellFormed()).toBe(true);
  expect(blocks.map(({ continued }) => continued)).toEqual([false, ...blocks.slice(1).map(() => true)]);
});

test("several megabytes are cut in a moment", () => {
  const text = "# Heading\n\nSome words of a paragraph, with an emoji 😀.\n\n- item\n".repeat(80_000);
  const begun = process.cpuUsage();
  expect(blocksOf(text).length).toBe(240_000);
  // Of the processor, and not of the clock: a busy machine proves nothing.
  expect(process.cpuUsage(begun).user).toBeLessThan(3_000_000);
});
