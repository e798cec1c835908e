import { expect, test } from "vitest";
import { linesOf } from "./diff";

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
