import { expect, test } from "vitest";
import type { Citation, Source } from "../../../protocol/events.gen";
import type { Block, CallPart, TextPart } from "../../../state/answer";
import { blocksByItem, foundBy } from "./itemBlocks";

const source = (number: number, domain: string, status: Source["status"] = "read") =>
  ({ number, url: `https://${domain}/${number}`, domain, title: domain, status }) as Source;
const search = (parent: string, sources: readonly Source[], rest: Partial<CallPart> = {}): CallPart => ({
  type: "tool_use",
  id: "call",
  name: "web_search",
  title: "Search",
  input: {},
  status: "done",
  asked: null,
  progress: null,
  result: {
    type: "tool_result",
    tool_use_id: "call",
    name: "web_search",
    status: "success",
    content: "",
    artifact: { query: "q", sources },
  },
  parent,
  ...rest,
});
const text = (parent: string, verdicts: readonly Citation["verdict"][]): TextPart => ({
  type: "text",
  text: "",
  open: false,
  parent,
  citations: verdicts.map((verdict, at) => ({ verdict, start: at, end: at + 1, number: 1 }) as Citation),
});

test("an item to which nothing came keeps its list", () => {
  const first: Block[] = [
    { type: "plan", items: [], steering: [] },
    search("q1", []),
    search("q2", []),
    { type: "text", text: "The answer", citations: [], open: true },
  ];
  const before = blocksByItem(first, new Map());
  expect([...before.keys()]).toEqual(["q1", "q2"]);
  expect(before.get("q2")).toMatchObject([{ at: 2 }]);
  const now = blocksByItem([...first, text("q2", [])], before);
  expect(now.get("q1")).toBe(before.get("q1"));
  expect(now.get("q2")).toHaveLength(2);
});

test("counts each source that was read once, and the statements that hold", () => {
  const blocks: Block[] = [
    search("q1", [source(1, "a.example"), source(2, "b.example", "failed"), source(3, "a.example", "snippet")]),
    search("q1", [source(1, "a.example"), source(4, "c.example")]),
    text("q1", ["supported", "partial", "unsupported", "contradicted"]),
  ];
  const found = foundBy(blocksByItem(blocks, new Map()).get("q1") ?? []);
  expect(found.sources.map(({ number }) => number)).toEqual([1, 4]);
  expect(found.statements).toBe(2);
});

test("names the sites that are being read, and the calls that wait for somebody", () => {
  const waiting = { type: "approval_required", tool_use_id: "call", name: "shout", input: {}, reasons: [] } as const;
  const blocks: Block[] = [
    search("q1", [], { status: "running", result: null, sites: ["a.example", "b.example"] }),
    search("q1", [], { status: "done", sites: ["old.example"] }),
    search("q1", [], { status: "pending", result: null, asked: waiting }),
  ];
  const found = foundBy(blocksByItem(blocks, new Map()).get("q1") ?? []);
  expect(found.sites).toEqual(["a.example", "b.example"]);
  expect(found.asking).toMatchObject([{ at: 2 }]);
});
