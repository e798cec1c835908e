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

test("code goes on to a fence of its own length, or to the end", () => {
  expect(topLevel("## Part\n\n````md\n```\n# a comment\n```\n````\n")).toBe(2);
  expect(topLevel("## Part\n\n~~~\n# a comment\n")).toBe(2);
  expect(topLevel("### Detail\n\n```sh\n# a comment\n```\n\n## Part\n")).toBe(2);
});

test("code in a line opens no block", () => {
  expect(topLevel("```a``` is code\n\n## Part\n")).toBe(2);
});
