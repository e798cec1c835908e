import { expect, test, vi } from "vitest";

// Here is no browser to ask for its languages.
vi.hoisted(() => {
  Object.defineProperty(globalThis, "navigator", { value: { languages: ["en"] }, configurable: true });
});

import type { Citation, Verdict } from "../../protocol/events.gen";
import type { Block } from "../../state/answer";
import { correctionOf } from "./correction";
import { words } from "./words";

function block(...statements: [text: string, verdict: Verdict, more?: Partial<Citation>][]): Block {
  let text = "";
  const citations = statements.map(([said, verdict, more]): Citation => {
    const start = [...text].length;
    text += `${said} [1].\n`;
    const none = { quote: null, quote_start: null, quote_end: null, snapshot_id: null, passage: null, missing: null };
    const end = start + [...said].length;
    const rest = { by: "text" as const, suggestion: null, differences: [], ...none };
    return { marker: "[1]", number: 1, start, end, verdict, ...rest, ...more };
  });
  return { type: "text", text, citations, open: false };
}

test("it lists what does not hold, and why", () => {
  const blocks = [
    block(
      ["It is so", "supported"],
      ["It is partly so", "partial"],
      ["There are **forty** 😀 plants", "contradicted", { quote: "There are\nnine plants." }],
      ["It was in Hanoi", "unsupported"],
    ),
    block(["Prices fell", "uncited", { number: 0, suggestion: 3 }], ["Wages rose", "uncited"], ["See there", "unread"]),
  ];
  expect(correctionOf(blocks, words.en)?.split("\n").slice(1)).toEqual([
    "",
    "- “There are forty 😀 plants”: the page says otherwise: “There are nine plants.”",
    "- “It was in Hanoi”: the page that it cites does not say so",
    "- “Prices fell”: it has no footnote; source 3 says it",
    "- “Wages rose”: it has no source",
    "- “See there”: the page that it cites was not read",
  ]);
});

test("it is bounded, and nothing where all statements hold", () => {
  const many = Array.from({ length: 40 }, (_, at): [string, Verdict] => [
    `${at} ${"word ".repeat(200)}`,
    "unsupported",
  ]);
  const asked = correctionOf([block(...many)], words.en) ?? "";
  expect(asked.length).toBeLessThan(6000);
  expect(asked).toContain("- and 28 more");
  expect(correctionOf([block(["It is so", "supported"], ["Partly", "partial"])], words.en)).toBeNull();
});
