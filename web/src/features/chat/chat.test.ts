import { beforeEach, describe, expect, test, vi } from "vitest";

// Here is no browser to ask for its languages.
vi.hoisted(() => {
  const navigator = { languages: ["en"] };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
});

import type { PageReport, Source } from "../../protocol/events.gen";
import { type Block, type CallPart, EMPTY_ANSWER } from "../../state/answer";
import { conversation } from "../../state/conversation";
import type { Turn } from "../../state/turns";
import { markdownOf } from "./copying";
import { isKnownIn, numbersFound } from "./footnotes/knownSources";
import { failureOf, outcomeOf, providerOutcome } from "./tools/outcomes";
import { progressText, tellingArgument } from "./tools/progress";

function source(number: number, more: Partial<Source> = {}): Source {
  const url = `https://example.org/${number}`;
  const none = { favicon: null, published: null, snapshot_id: null, fetched_at: null, quotes: [] };
  return {
    url,
    title: `Page\n ${number}`,
    snippet: "",
    domain: "example.org",
    number,
    status: "read",
    ...none,
    ...more,
  };
}

function search(...sources: Source[]): CallPart {
  const artifact = { query: "q", sources };
  const said = { type: "tool_result", tool_use_id: "c", name: "web_search", status: "success", content: "" } as const;
  const call = {
    type: "tool_use",
    id: "c",
    name: "web_search",
    title: "",
    input: {},
    asked: null,
    progress: null,
  } as const;
  return { ...call, status: "done", result: { ...said, artifact } };
}

function text(said: string, ...numbers: number[]): Block {
  const none = {
    start: 0,
    end: 1,
    quote: null,
    quote_start: null,
    quote_end: null,
    snapshot_id: null,
    passage: null,
    by: "text" as const,
    missing: null,
    suggestion: null,
    differences: [],
  };
  const cite = (number: number) => ({ marker: `[${number}]`, number, verdict: "supported" as const, ...none });
  return { type: "text", text: said, open: false, citations: numbers.map(cite) };
}

function turn(key: string, ...blocks: Block[]): Turn {
  const ids = { questionId: key, questions: [key], answers: [] };
  return { key, text: "", askedAt: null, attachments: [], ...ids, answer: { ...EMPTY_ANSWER, phase: "done", blocks } };
}

function page(more: Partial<PageReport>): PageReport {
  const none = { failure: null, reason: null, http_status: null, final_url: null, cache: null };
  const counts = { took_ms: 0, bytes: 0, characters: 0, cut: false, chosen: "" };
  return { url: "", status: "failed", ...none, ...counts, ...more };
}

beforeEach(() => conversation.set((now) => ({ ...now, turns: [] })));

describe("what a tool is doing", () => {
  const progress = { type: "tool_progress", tool_use_id: "c", stage: "reading", done: 3, total: 5 } as const;

  test("is said in the reader's language", () => {
    expect(progressText({ ...progress, label: "a.org" }, "en")).toBe("reading 3/5 · a.org");
    expect(progressText({ ...progress, label: "a.org" }, "vi")).toBe("đang đọc 3/5 · a.org");
    expect(progressText({ ...progress, label: "" }, "zh")).toBe("正在阅读 3/5");
  });

  test("is not said twice, and not lost where nobody knows the stage", () => {
    const searching = { ...progress, stage: "searching", done: 0, total: null, label: "salt" };
    expect(progressText(searching, "en", "salt")).toBe("searching");
    expect(progressText({ ...searching, stage: "brewing" }, "en")).toBe("brewing · salt");
  });

  test("is asked by the argument that says most, not by the text of a file", () => {
    expect(tellingArgument({ content: "# Long\ntext", file_path: "/a.md" })).toBe("/a.md");
    expect(tellingArgument({ count: 5, prompt: "why", query: " salt " })).toBe("salt");
    expect(tellingArgument({ city: "Huế" })).toBe("Huế");
    expect(tellingArgument({ rows: [1] })).toBe("");
  });

  test("names a file of the session instead of its internal address", () => {
    expect(tellingArgument({ url: "footnote://files/b%C3%A1o%20c%C3%A1o.pdf" })).toBe("báo cáo.pdf");
    expect(tellingArgument({ file_path: "local://uploads/u/f/notes.txt" })).toBe("notes.txt");
    expect(tellingArgument({ url: "https://example.org/a%20b" })).toBe("https://example.org/a%20b");
  });
});

describe("how a page went", () => {
  test("says why it was not read", () => {
    const failed = source(1, { status: "failed" });
    const told = page({ failure: "status", http_status: 403 });
    expect(outcomeOf(failed, told, "en")).toBe("couldn’t be read: returned an error (403)");
    expect(outcomeOf(failed, null, "zh")).toBe("无法读取");
    expect(outcomeOf(source(1), told, "vi")).toBe("đã đọc");
  });

  test("says in the language of the page why a search provider had no results", () => {
    const base = { provider: "p", took_ms: 1, cached: false, count: 0, notes: [], reason: "It could not be reached." };
    const attempt = { ...base, outcome: "error", code: "unreachable" } as const;
    expect(providerOutcome(attempt, "zh")).toBe("失败 · 无法连接，请检查网络");
    expect(providerOutcome({ ...attempt, code: undefined }, "zh")).toBe("失败 · It could not be reached.");
  });

  test("keeps a reason that this page has no words for", () => {
    expect(failureOf(page({ reason: "Gone fishing." }), "en")).toBe("Gone fishing.");
  });
});

describe("a number in an answer", () => {
  test("means a source that was found by then", () => {
    conversation.set((now) => ({ ...now, turns: [turn("a", search(source(1))), turn("b", search(source(2)))] }));
    expect(isKnownIn("a", 1)).toBe(true);
    expect(isKnownIn("b", 1)).toBe(true);
    expect(isKnownIn("a", 2)).toBe(false);
    expect(isKnownIn("gone", 3)).toBe(false);
  });

  test("counts once, however often its source was found", () => {
    expect([...numbersFound(turn("a", search(source(1), source(2)), search(source(2))))]).toEqual([1, 2]);
  });
});

describe("an answer that is copied", () => {
  test("has the sources of its numbers behind it, each once and in order", () => {
    const known = new Map([1, 2, 3].map((number) => [number, source(number)]));
    const copied = markdownOf(turn("a", text("One [2]. ", 2), text("Two [1, 2].", 1, 2)), known);
    expect(copied).toBe(
      "One [2].\n\nTwo [1, 2].\n\n**Sources**\n\n- [1] Page 1 https://example.org/1\n- [2] Page 2 https://example.org/2\n",
    );
  });

  test("is only its text where it has no footnotes, or none that lead anywhere", () => {
    expect(markdownOf(turn("a", text("Hello.")), new Map())).toBe("Hello.");
    expect(markdownOf(turn("a", text("Hello [9].", 9)), new Map())).toBe("Hello [9].");
  });
});
