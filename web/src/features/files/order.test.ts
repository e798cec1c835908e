import { expect, test } from "vitest";
import type { FileRecord } from "../../protocol/events.gen";
import { byTurn, matching, ordered } from "./order";

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

test("files stand with the turn that made or brought them, the last turn first, and the others behind", () => {
  const made = (path: string, message_id: string | null) => ({ ...file(path, "generated", ""), message_id });
  const turn = (number: number) => ({
    key: `key ${number}`,
    questionId: `question ${number}`,
    text: `Question ${number}?`,
    answer: { messageId: `answer ${number}` },
  });
  const some = [made("/a", "answer 1"), made("/b", "question 2"), made("/c", null), made("/d", "answer 1")];
  const groups = byTurn([...some, made("/e", "of another branch")], [turn(1), turn(2), turn(3)]);
  expect(groups.map((group) => [group.question, ...group.files.map(({ path }) => path)])).toEqual([
    ["Question 2?", "/b"],
    ["Question 1?", "/a", "/d"],
    [null, "/c", "/e"],
  ]);
});

test("all words must be in the name, folders count, addresses of uploads do not", () => {
  const names = (wanted: string) => matching(files, wanted).map(({ filename }) => filename);
  expect(names("DOCS old")).toEqual(["old.txt"]);
  expect(names("report")).toEqual([]);
  expect(names(" ")).toHaveLength(3);
});
