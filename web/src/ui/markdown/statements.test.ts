import type { Nodes } from "mdast";
import { describe, expect, test } from "vitest";
import type { Citation, Verdict } from "../../protocol/events.gen";
import { textOf } from "./plain";
import { alignment, statementsOf, withStatements } from "./statements";
import { parse } from "./tree";

function citation(text: string, sentence: string, verdict: Verdict, number = 1): Citation {
  const at = text.indexOf(sentence);
  expect(at).toBeGreaterThanOrEqual(0);
  const start = [...text.slice(0, at)].length;
  const end = start + [...sentence].length;
  const none = { quote: null, quote_start: null, quote_end: null, snapshot_id: null, passage: null, missing: null };
  return { marker: `[${number}]`, number, start, end, verdict, by: "text", suggestion: null, differences: [], ...none };
}

/** The tree as text: the parts of statements in braces, the last one of each with its verdict. */
function drawn(node: Nodes): string {
  if (node.type === "statement")
    return `{${node.children.map(drawn).join("")}${node.isLast ? `=${node.statement.verdict}` : ""}}`;
  if (node.type === "strong") return `<${node.children.map(drawn).join("")}>`;
  return "children" in node ? (node.children as Nodes[]).map(drawn).join("") : textOf(node);
}

function marked(text: string, ...given: [sentence: string, verdict: Verdict][]): string {
  const citations = given.map(([sentence, verdict]) => citation(text, sentence, verdict));
  return withStatements(parse(text).blocks, statementsOf(citations), text).map(drawn).join("|");
}

describe("the words of a statement are one part", () => {
  test.each<[string, [string, Verdict][], string]>([
    ["One. Two [1]. Three.", [["Two [1].", "partial"]], "One. {Two=partial} [1]. Three."],
    [
      "It is so [1]. That is not so.",
      [
        ["It is so [1].", "supported"],
        ["That is not so.", "uncited"],
      ],
      "{It is so=supported} [1]. {That is not so.=uncited}",
    ],
    [
      "😀 Ah. 氧气在一七七七年命名[1]。后来",
      [["氧气在一七七七年命名[1]。", "partial"]],
      "😀 Ah. {氧气在一七七七年命名=partial}[1]。后来",
    ],
    ["It **is so** and *so* [1].", [["It **is so** and *so* [1].", "partial"]], "{It <is so> and so=partial} [1]."],
    ["**It is so [1].** More.", [["**It is so [1].**", "unread"]], "<{It is so=unread} [1].> More."],
    ["**A. It is so** here [1].", [["It is so** here [1].", "partial"]], "<A. {It is so}> {here=partial} [1]."],
    ["One [1], and two [2].", [["One [1], and two [2].", "contradicted"]], "{One} [1], {and two=contradicted} [2]."],
    ["It is so [1] [2]. End", [["It is so [1] [2].", "partial"]], "{It is so=partial} [1] [2]. End"],
    ["AT\\&T &amp; co. grew [1]. Yes.", [["grew", "partial"]], "AT&T & co. {grew=partial} [1]. Yes."],
    [
      "Mail a@b.example today. It is so [1].",
      [["It is so", "partial"]],
      "Mail a@b.example today. {It is so=partial} [1].",
    ],
    ["One line\n  and the next [1].", [["and the next [1].", "partial"]], "One line\n{and the next=partial} [1]."],
  ])("%s", (text, given, expected) => expect(marked(text, ...given)).toBe(expected));
});

test("a row of a table has a part in each of its cells, and only the last ends the statement", () => {
  const text = "| a | b |\n|---|---|\n| one | 1 [1] |\n| two | 2 |";
  const blocks = withStatements(parse(text).blocks, statementsOf([citation(text, "one | 1 [1]", "unread")]), text);
  expect(blocks.map(drawn).join("")).toBe("ab{one}{1=unread} [1]two2");
});

test("a block without a statement stays the same object", () => {
  const text = "One.\n\n- Two [1].\n- Three.\n\n```\nTwo [1].\n```";
  const { blocks } = parse(text);
  const shown = withStatements(blocks, statementsOf([citation(text, "Two [1].", "partial")]), text);
  expect(shown[0]).toBe(blocks[0]);
  expect(shown[1]).not.toBe(blocks[1]);
  expect(shown[2]).toBe(blocks[2]);
  expect(withStatements(blocks, [], text)).toBe(blocks);
});

test("offsets of another text break nothing", () => {
  const wild = [
    { ...citation("x", "x", "partial"), start: 3, end: 900 },
    { ...citation("x", "x", "unread"), start: 5, end: 8 },
    { ...citation("x", "x", "uncited"), start: 1000, end: 2000 },
    { ...citation("x", "x", "uncited"), start: 4, end: 2 },
  ];
  const text = "A *short* text [1].";
  expect(withStatements(parse(text).blocks, statementsOf(wild), text).map(drawn).join("")).toContain("text");
});

test("of several footnotes of a statement the best verdict counts, and statements are in the order of the text", () => {
  const text = "One [1][2]. Two [3].";
  const all = [
    citation(text, "Two [3].", "unsupported", 3),
    citation(text, "One [1][2].", "unsupported", 1),
    citation(text, "One [1][2].", "partial", 2),
  ];
  expect(statementsOf(all).map(({ key, verdict, citations }) => [key, verdict, citations.length])).toEqual([
    ["0-11", "partial", 2],
    ["12-20", "unsupported", 1],
  ]);
});

test("what one source of a statement contradicts counts as contradicted", () => {
  const text = "One [1][2].";
  const all = [citation(text, text, "contradicted", 1), citation(text, text, "supported", 2)];
  expect(statementsOf(all).map(({ verdict }) => verdict)).toEqual(["contradicted"]);
});

test.each([
  ["a b", "a b", 2, 2],
  ["a\\_b c", "a_b c", 5, 4],
  ["a &amp; b", "a & b", 8, 4],
  ["&#x1F600; b", "😀 b", 10, 3],
  ["one\n> two", "one\ntwo", 6, 4],
  ["a\\b c", "a\\b c", 4, 4],
  ["a", "a", 90, 1],
  ["a\\_", "a_", -3, 0],
])("%j at %d is %j at %d", (source, value, place, index) => expect(alignment(source, value)(place)).toBe(index));
