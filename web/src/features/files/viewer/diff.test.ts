import { expect, test } from "vitest";
import { comparedAtFirst, linesOf } from "./diff";

test("a version is compared with the one before it, and the first with the second", () => {
  expect(comparedAtFirst(3, [3, 2, 1])).toEqual({ from: 2, to: 3 });
  expect(comparedAtFirst(2, [3, 2, 1])).toEqual({ from: 1, to: 2 });
  expect(comparedAtFirst(1, [3, 2, 1])).toEqual({ from: 1, to: 2 });
  expect(comparedAtFirst(1, [1])).toEqual({ from: 1, to: 1 });
});

test("lines carry their numbers in both versions", () => {
  const diff = [
    "--- a.md (version 1)",
    "+++ a.md (version 2)",
    "@@ -3,3 +3,3 @@",
    " one",
    "-two",
    "+2",
    " three",
    "@@ -20 +20,2 @@",
    "+++counter",
    "---rule",
    "\\ No newline at end of file",
    "",
  ].join("\n");
  expect(linesOf(diff).map(({ kind, before, after, text }) => [kind, before, after, text])).toEqual([
    ["hunk", null, null, "@@ -3,3 +3,3 @@"],
    ["same", 3, 3, "one"],
    ["removed", 4, null, "two"],
    ["added", null, 4, "2"],
    ["same", 5, 5, "three"],
    ["hunk", null, null, "@@ -20 +20,2 @@"],
    ["added", null, 20, "++counter"],
    ["removed", 20, null, "--rule"],
    ["note", null, null, "No newline at end of file"],
  ]);
});

test("two versions that are the same have no lines", () => {
  expect(linesOf("")).toEqual([]);
});
