/** What parts of the page need of a conversation, worked out once for each state of it. */

import type { Receipt, Source, SourceGroup } from "../protocol/events.gen";
import type { CallPart } from "./answer";
import { isActive } from "./answer";
import type { Conversation } from "./conversation";
import type { Turn } from "./turns";

/** What a search found, if the call was one: its artifact has a query and sources. */
export interface SearchFound extends SourceGroup {
  receipt: Receipt | null;
}

export function searchOf(call: CallPart): SearchFound | null {
  const artifact = call.result?.artifact;
  if (!artifact || typeof artifact.query !== "string" || !Array.isArray(artifact.sources)) return null;
  const sources = artifact.sources.filter(isSource);
  return { query: artifact.query, sources, receipt: isReceipt(artifact.receipt) ? artifact.receipt : null };
}

function isSource(value: unknown): value is Source {
  const source = value as Partial<Source> | null;
  return typeof source?.url === "string" && typeof source.title === "string" && typeof source.domain === "string";
}

function isReceipt(value: unknown): value is Receipt {
  const receipt = value as Partial<Receipt> | null;
  return Array.isArray(receipt?.providers) && Array.isArray(receipt.pages);
}

export function activeTurn({ turns }: Conversation): Turn | null {
  const last = turns.at(-1);
  return last && isActive(last.answer) ? last : null;
}

const groupsOfTurn = memo((turn: Turn): SourceGroup[] =>
  turn.answer.blocks.flatMap((block) => (block.type === "tool_use" ? (searchOf(block) ?? []) : [])),
);

/** One for each search, in order, never merged. */
const sourceGroups = memo((turns: readonly Turn[]): SourceGroup[] => turns.flatMap(groupsOfTurn));

/** Each source by its number: the reading that has the most to show. */
export const sourcesByNumber = memo((turns: readonly Turn[]): ReadonlyMap<number, Source> => {
  const found = new Map<number, Source>();
  for (const source of sourceGroups(turns).flatMap((group) => group.sources)) {
    if (source.number === null || source.number === undefined) continue;
    if (!found.has(source.number) || source.snapshot_id) found.set(source.number, source);
  }
  return found;
});

function memo<A extends object, B>(work: (value: A) => B): (value: A) => B {
  const known = new WeakMap<A, B>();
  return (value) => {
    if (!known.has(value)) known.set(value, work(value));
    return known.get(value) as B;
  };
}
