import { expect, test } from "vitest";
import type { FileRecord } from "../../protocol/events.gen";
import { matching, ordered } from "./order";

function file(path: string, source: FileRecord["source"], created_at: string): FileRecord {
  const filename = path.split("/").at(-1) ?? path;
  return { id: path, path, filename, icon_type: "txt", source, created_at, url: "", message_id: null };
}

const files = [
  file("local://uploads/u/report/paper.txt", "upload", "2026-01-03T00:00:00Z"),
  file("/docs/old.txt", "generated", "2026-01-01T00:00:00Z"),
  file("/new.txt", "generated", "2026-01-02T00:00:00Z"),
];

test("what was written here stands before uploads, the newest first", () => {
  expect(ordered(files).map(({ filename }) => filename)).toEqual(["new.txt", "old.txt", "paper.txt"]);
});

test("all words must be in the name, folders count, addresses of uploads do not", () => {
  const names = (wanted: string) => matching(files, wanted).map(({ filename }) => filename);
  expect(names("DOCS old")).toEqual(["old.txt"]);
  expect(names("report")).toEqual([]);
  expect(names(" ")).toHaveLength(3);
});
