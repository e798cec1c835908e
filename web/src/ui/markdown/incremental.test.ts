import type { Nodes } from "mdast";
import { describe, expect, test } from "vitest";
import { IncrementalDocument } from "./incremental";
import { repair } from "./repair";
import { HARD_CASES } from "./samples.fixture";
import { parse } from "./tree";

/** What of a tree is drawn: no places, and two texts in a row are one. */
function drawn(node: Nodes): unknown {
  const { position: _, data: __, start: ___, ...rest } = node as Nodes & { start?: number };
  if (!("children" in node)) return rest;
  const children: unknown[] = [];
  for (const child of node.children) {
    const last = children[children.length - 1] as { type?: string; value?: string } | undefined;
    if (child.type === "text" && last?.type === "text") last.value += child.value;
    else children.push(drawn(child));
  }
  return { ...rest, children };
}

function steps(text: string, size: () => number): string[] {
  const parts: string[] = [];
  for (let end = 0; end < text.length; ) {
    end = Math.min(text.length, end + size());
    parts.push(text.slice(0, end));
  }
  return parts;
}

/** Numbers that look random and are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What has been frozen, read anew beside the healed rest. References need the whole text and are left out. */
function check(text: string, parts: string[]): void {
  const growing = new IncrementalDocument();
  for (const part of parts) {
    const shown = growing.grow(part).blocks.map(drawn);
    const expected = parse(healed(part)).blocks.map(drawn);
    expect(shown, `after ${JSON.stringify(part)}`).toEqual(expected);
  }
  expect(parts[parts.length - 1]).toBe(text);
}

function healed(text: string): string {
  return repair(text).text;
}

const GROWN_CASES = HARD_CASES.filter(([name]) => !name.includes("reference"));

describe("a text that grows is drawn as if it had been read at once", () => {
  for (const size of [1, 2, 7]) {
    test.each(GROWN_CASES)(`in steps of ${size}: %s`, (_, text) =>
      check(
        text,
        steps(text, () => size),
      ),
    );
  }

  test("in random steps, blocks in random order", () => {
    const random = seeded(7);
    for (let round = 0; round < 40; round++) {
      const count = 1 + Math.floor(random() * 5);
      const texts = Array.from({ length: count }, () => GROWN_CASES[Math.floor(random() * GROWN_CASES.length)]?.[1]);
      const text = texts.join(random() < 0.8 ? "\n\n" : "\n");
      check(
        text,
        steps(text, () => 1 + Math.floor(random() * 12)),
      );
    }
  }, 60_000);
});
