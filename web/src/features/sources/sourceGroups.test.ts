import { expect, test } from "vitest";
import type { Citation } from "../../protocol/events.gen";
import { type Block, EMPTY_ANSWER } from "../../state/answer";
import { pointedBy } from "../../state/select";
import type { Turn } from "../../state/turns";
import { sentenceText } from "../../ui/markdown/plain";
import { citationNow, citationOf, citedOf, groupsOf, reportOf, sourceOf, statementOf } from "./sourceGroups";

const source = (number: number, snippet = "") => ({
  url: `https://example.com/${number}`,
  title: `Page ${number}`,
  snippet,
  domain: "example.com",
  number,
});

const search = (
  id: string,
  query: string,
  sources: readonly unknown[],
  pages: readonly unknown[] = [],
  evidence: readonly unknown[] = [],
): Block => ({
  type: "tool_use",
  id,
  name: "web_search",
  title: "Search",
  input: {},
  status: "done",
  asked: null,
  progress: null,
  result: {
    type: "tool_result",
    tool_use_id: id,
    name: "web_search",
    status: "success",
    content: "",
    artifact: { query, sources, evidence, receipt: { providers: [], pages } },
  },
});

const citation = (fields: Partial<Citation>): Citation => ({
  marker: "[1]",
  number: 1,
  start: 0,
  end: 0,
  verdict: "supported",
  quote: null,
  quote_start: null,
  quote_end: null,
  snapshot_id: null,
  passage: null,
  by: "text",
  missing: null,
  suggestion: null,
  differences: [],
  ...fields,
});

const turn = (...blocks: Block[]): Turn => ({
  key: "turn",
  questionId: "q",
  text: "",
  askedAt: null,
  attachments: [],
  questions: [],
  answers: [],
  answer: { ...EMPTY_ANSWER, blocks },
});

test("groups stay in order and apart, also for the same query", () => {
  const turns = [turn(search("a", "oxygen", [source(1)])), turn(search("b", "oxygen", [source(1), source(2)]))];
  expect(groupsOf(turns).map(({ id, sources }) => [id, sources.length])).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
});

test("while text streams, groups and counts stay the same things", () => {
  const found = search("a", "oxygen", [source(1)]);
  const said: Block = { type: "text", text: "Said [1].", citations: [citation({})], open: false };
  const before = [turn(found, said, { type: "text", text: "T", citations: [], open: true })];
  const after = [turn(found, said, { type: "text", text: "Th", citations: [], open: true })];
  const [groups, cited] = [groupsOf(before), citedOf(before)];
  expect(groupsOf(after)).toBe(groups);
  expect(citedOf(after)).toBe(cited);
  expect(groupsOf([...after, turn(search("b", "more", []))])).not.toBe(groups);
});

test("citations are counted by source and verdict", () => {
  const citations = [citation({}), citation({ verdict: "unsupported" }), citation({ number: 2, verdict: "partial" })];
  const cited = citedOf([turn({ type: "text", text: "", citations, open: false })]);
  expect(cited.get(1)).toMatchObject({ total: 2, verdicts: { supported: 1, partial: 0, unsupported: 1 } });
  expect(cited.get(2)?.verdicts.partial).toBe(1);
  expect(cited.get(3)).toBeUndefined();
});

function said(turns: readonly Turn[], cited: Citation): string {
  return sentenceText(statementOf(turns, cited) ?? "");
}

test("the verdict of a second look is found by its footnote", () => {
  const cited = citation({ start: 0, end: 4, verdict: "unsupported", quote: null });
  const second = { ...cited, verdict: "supported" as const, quote: "It says so." };
  const turns = [turn({ type: "text", text: "One [1].", citations: [second], open: false })];
  expect(citationNow(turns, cited)).toBe(second);
  expect(citationNow(turns, second)).toBe(second);
  const other = { ...cited, start: 1 };
  expect(citationNow(turns, other)).toBe(other);
});

test("the cited sentence is told in plain words, by code points", () => {
  const text = "😀 Before. The **name** was [coined](https://a.b) in `1777` [1, 2]. After.";
  const start = 10;
  const cited = citation({ start, end: [...text].length - " After.".length });
  const turns = [turn({ type: "text", text, citations: [cited], open: false })];
  expect(said(turns, cited)).toBe("The name was coined in 1777.");
  expect(said(turns, { ...cited })).toBe("The name was coined in 1777.");
  expect(statementOf(turns, { ...cited, number: 9 })).toBeNull();
});

test("a cited quotation of code is told with its lines apart and without fences", () => {
  const text = "> Check it:\n>\n> \\`\\`\\`sh\\\n> make all\\\n> make check [1]";
  const cited = citation({ start: 2, end: text.length });
  const turns = [turn({ type: "text", text, citations: [cited], open: false })];
  expect(said(turns, cited)).toBe("Check it: make all make check");
  const fenced = "Check it:\n\n```sh\nmake all\nmake check\n```\n\nDone [1].";
  const other = citation({ start: 0, end: fenced.length });
  expect(said([turn({ type: "text", text: fenced, citations: [other], open: false })], other)).toBe(
    "Check it: make all make check Done.",
  );
});

test("a page that failed says why, as the last try tells", () => {
  const page = (reason: string) => ({ url: "https://example.com/1", status: "failed", reason });
  const groups = groupsOf([
    turn(search("a", "x", [source(1, "first")], [page("old")]), search("b", "x", [source(1)], [page("new")])),
  ]);
  expect(reportOf(groups, "https://example.com/1")?.reason).toBe("new");
  expect(reportOf(groups, "https://example.com/2")).toBeNull();
  expect(sourceOf(groups, 1)?.snippet).toBe("first");
});

test("the footnote of words of a source is the one that quotes them, or else the one that points to them", () => {
  const passage = { id: "1.2", number: 1, text: "A long passage.", start: 0, end: 15, snapshot_id: "s" };
  const pointing = citation({ passage: "1.2", quote: "long" });
  const quoting = citation({ quote: "A long passage.", start: 3 });
  const found = search("a", "x", [source(1)], [], [passage, { id: "broken" }]);
  const said = (...citations: Citation[]): Block => ({ type: "text", text: "", citations, open: false });
  expect(citationOf([turn(found, said(pointing, quoting))], 1, passage.text)).toBe(quoting);
  expect(citationOf([turn(found, said(pointing))], 1, passage.text)).toBe(pointing);
  expect(citationOf([turn(found, said(pointing))], 2, passage.text)).toBeNull();
  expect(citationOf([turn(said(pointing))], 1, passage.text)).toBeNull();
  expect(pointedBy([turn(found)], pointing)).toEqual(passage);
  expect(pointedBy([turn(found)], citation({ number: 2, passage: "1.2" }))).toBeNull();
  expect(pointedBy([turn(found)], null)).toBeNull();
});
