/** Of a very long text only a part is drawn. */

import type { Block } from "./blocks";
import { firstEndingAfter, type Range } from "./pieces";

/** Texts up to this length are drawn whole. */
export const WHOLE = 200_000;
const AROUND = 40_000;

export function spanAround(length: number, passage: Range | null): Range {
  if (length <= WHOLE) return { start: 0, end: length };
  const { start, end } = passage ?? { start: 0, end: 0 };
  return { start: Math.max(0, start - AROUND), end: Math.min(length, end + AROUND) };
}

export function contains(span: Range, passage: Range): boolean {
  return span.start <= passage.start && passage.end <= span.end;
}

export function grown(span: Range, length: number, where: "earlier" | "later"): Range {
  return where === "earlier"
    ? { ...span, start: Math.max(0, span.start - 2 * AROUND) }
    : { ...span, end: Math.min(length, span.end + 2 * AROUND) };
}

interface Group {
  isOutlined: boolean;
  blocks: readonly Block[];
}

/** Blocks in a row that lie within a passage are drawn together. */
export function groupsIn(blocks: readonly Block[], passage: Range | null): Group[] {
  const isInside = (block: Block) => passage !== null && contains(passage, block);
  const first = blocks.findIndex(isInside);
  if (first < 0) return [{ isOutlined: false, blocks }];
  const last = blocks.findLastIndex(isInside) + 1;
  return [
    { isOutlined: false, blocks: blocks.slice(0, first) },
    { isOutlined: true, blocks: blocks.slice(first, last) },
    { isOutlined: false, blocks: blocks.slice(last) },
  ];
}

/** The blocks that have a part in it. */
export function blocksIn(blocks: readonly Block[], { start, end }: Range): readonly Block[] {
  const first = firstEndingAfter(blocks, start);
  let last = first;
  while (last < blocks.length && (blocks[last]?.start ?? end) < end) last += 1;
  return blocks.slice(first, last);
}
