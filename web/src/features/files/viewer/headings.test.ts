import { expect, test } from "vitest";
import { topLevel } from "./headings";

test("the highest heading counts, wherever it stands", () => {
  expect(topLevel("## Part\n\ntext\n\n### Detail\n")).toBe(2);
  expect(topLevel("### Detail\n\n# Title\n")).toBe(1);
  expect(topLevel("Title\n=====\n\n## Part\n")).toBe(1);
  expect(topLevel("no heading")).toBe(1);
});

test("a comment in code is no heading", () => {
  expect(topLevel("## Part\n\n```sh\n# a comment\n```\n")).toBe(2);
});
