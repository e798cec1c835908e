/** What the items of a plan did, taken from the blocks of the answer. */

import type { Source } from "../../../protocol/events.gen";
import type { Block, CallPart } from "../../../state/answer";
import { searchOf } from "../../../state/select";
import { statementsOf } from "../../../ui/markdown";

/** A block with its index in the answer. */
export interface PlacedBlock {
  block: Block;
  at: number;
}

export type BlocksByItem = ReadonlyMap<string, readonly PlacedBlock[]>;

/** The blocks of each item. An item to which nothing came keeps the list that it had, so that it is not drawn again. */
export function blocksByItem(blocks: readonly Block[], before: BlocksByItem): BlocksByItem {
  const found = new Map<string, PlacedBlock[]>();
  blocks.forEach((block, at) => {
    if (block.parent === undefined) return;
    const known = found.get(block.parent);
    if (known) known.push({ block, at });
    else found.set(block.parent, [{ block, at }]);
  });
  return new Map(
    [...found].map(([id, placed]) => [id, isSame(placed, before.get(id)) ? (before.get(id) ?? placed) : placed]),
  );
}

function isSame(now: readonly PlacedBlock[], before: readonly PlacedBlock[] | undefined): boolean {
  return (
    before?.length === now.length && now.every(({ block, at }, i) => block === before[i]?.block && at === before[i]?.at)
  );
}

export interface ItemFound {
  sources: readonly Source[];
  /** The sites that are being read now. */
  sites: readonly string[];
  /** Statements that were handed over and hold. */
  statements: number;
  /** Calls that wait for the user. */
  asking: readonly PlacedBlock[];
}

export function foundBy(placed: readonly PlacedBlock[]): ItemFound {
  const calls = placed.map(({ block }) => block).filter((block) => block.type === "tool_use");
  const text = placed.findLast(({ block }) => block.type === "text" && block.citations.length > 0)?.block;
  const statements = text?.type === "text" ? statementsOf(text.citations) : [];
  return {
    sources: sourcesOf(calls),
    sites: [...new Set(calls.filter(({ status }) => status === "running").flatMap((call) => call.sites ?? []))],
    statements: statements.filter(({ verdict }) => verdict === "supported" || verdict === "partial").length,
    asking: placed.filter(({ block }) => block.type === "tool_use" && block.asked !== null),
  };
}

/** Each source that was read, once. */
function sourcesOf(calls: readonly CallPart[]): readonly Source[] {
  const read = calls.flatMap((call) => searchOf(call)?.sources ?? []).filter(({ status }) => status === "read");
  return [...new Map(read.map((source) => [source.number ?? source.url, source])).values()];
}
