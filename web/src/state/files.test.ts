import { expect, test } from "vitest";
import type { StreamEvent } from "../protocol/events.gen";
import { filesAfter, madeBy } from "./files";

const written = (path: string): StreamEvent => ({
  type: "content_block_start",
  index: 0,
  content_block: {
    type: "tool_result",
    tool_use_id: "t",
    name: "write_file",
    status: "success",
    content: "",
    artifact: { path, filename: path.slice(1), icon_type: "md", source: "generated" },
  },
});

test("a path that is written again stays one file", () => {
  const files = [written("/a.md"), written("/b.md"), written("/a.md")].reduce(filesAfter, []);
  expect(files.map((file) => file.path)).toEqual(["/a.md", "/b.md"]);
});

test("a file that is new belongs to the message that wrote it, and one that was there to its own", () => {
  const before = madeBy("first", [], [written("/a.md")].reduce(filesAfter, []));
  const after = madeBy("second", before, [written("/a.md"), written("/b.md")].reduce(filesAfter, before));
  expect(after.map((file) => [file.path, file.message_id])).toEqual([
    ["/a.md", "first"],
    ["/b.md", "second"],
  ]);
});

test("artifacts of other tools are no files", () => {
  const search = written("/a.md");
  const artifact = { query: "x", sources: [] };
  if (search.type === "content_block_start" && search.content_block.type === "tool_result")
    expect(filesAfter([], { ...search, content_block: { ...search.content_block, artifact } })).toEqual([]);
});
