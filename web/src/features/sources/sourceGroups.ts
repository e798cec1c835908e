/** What the searches of a session found, and how often answers rest on it. */

import { Offsets } from "../../lib/offsets";
import type { Citation, PageReport, Source, Verdict } from "../../protocol/events.gen";
import type { Block, TextPart } from "../../state/answer";
import { pointedBy, type SearchFound, searchOf } from "../../state/select";
import type { Turn } from "../../state/turns";

export interface Group extends SearchFound {
  /** Of the call that found them. */
  id: string;
}

export interface Cited {
  total: number;
  verdicts: Readonly<Record<Verdict, number>>;
}

const NONE = { supported: 0, partial: 0, contradicted: 0, unsupported: 0, uncited: 0, unread: 0 };

/** One for each search, in order, never merged. */
export const groupsOf = lasting(
  (turn) => turn.answer.blocks.flatMap((block) => groupOf(block) ?? []),
  (groups: readonly Group[]) => groups,
);

/** How often each source is cited in answers, by its number. */
export const citedOf = lasting(
  (turn) => turn.answer.blocks.flatMap((block) => (block.type === "text" && block.citations.length > 0 ? [block] : [])),
  (blocks) => counted(blocks.flatMap((block) => block.citations)),
);

const groupOf = remembering((block: Block): Group | null => {
  const found = block.type === "tool_use" ? searchOf(block) : null;
  return found && block.type === "tool_use" ? { ...found, id: block.id } : null;
});

function counted(citations: readonly Citation[]): ReadonlyMap<number, Cited> {
  const cited = new Map<number, Cited>();
  for (const { number, verdict } of citations) {
    const known = cited.get(number) ?? { total: 0, verdicts: NONE };
    const verdicts = { ...known.verdicts, [verdict]: known.verdicts[verdict] + 1 };
    cited.set(number, { total: known.total + 1, verdicts });
  }
  return cited;
}

/** The statement of a citation, as it is written. Null: it is not among the answers that are shown. */
export function statementOf(turns: readonly Turn[], citation: Citation): string | null {
  const block = blockOf(turns, citation);
  if (block === null) return null;
  const offsets = new Offsets(block.text);
  return block.text.slice(offsets.unit(citation.start), offsets.unit(citation.end));
}

/** The verdict on the same statement as it is now: a second look may have replaced the one that was opened. */
export function citationNow(turns: readonly Turn[], citation: Citation): Citation {
  const citations = blockOf(turns, citation)?.citations ?? [];
  return citations.includes(citation) ? citation : (citations.find((one) => isSame(one, citation)) ?? citation);
}

function blockOf(turns: readonly Turn[], citation: Citation): TextPart | null {
  const blocks = turns.flatMap(({ answer }) => answer.blocks.filter((block) => block.type === "text"));
  return (
    blocks.find(({ citations }) => citations.includes(citation)) ??
    blocks.find(({ citations }) => citations.some((one) => isSame(one, citation) && one.quote === citation.quote)) ??
    blocks.find(({ citations }) => citations.some((one) => isSame(one, citation))) ??
    null
  );
}

/** The first footnote of an answer that rests on these words of a source, or else points to a passage of these words. */
export function citationOf(turns: readonly Turn[], number: number, words: string): Citation | null {
  const blocks = turns.flatMap(({ answer }) => answer.blocks.filter((block) => block.type === "text"));
  const citations = blocks.flatMap((block) => block.citations.filter((one) => one.number === number));
  return (
    citations.find(({ quote }) => quote === words) ??
    citations.find((one) => pointedBy(turns, one)?.text === words) ??
    null
  );
}

/** The same footnote of the same sentence, whatever was found out about it. */
function isSame(one: Citation, { number, start, end, marker }: Citation): boolean {
  return one.number === number && one.start === start && one.end === end && one.marker === marker;
}

/** How the reading of a page ended, as the last search that tried it tells. */
export function reportOf(groups: readonly Group[], url: string): PageReport | null {
  for (const { receipt } of groups.toReversed()) {
    const report = receipt?.pages.find((page) => page.url === url || page.final_url === url);
    if (report) return report;
  }
  return null;
}

/** What was found there, with the words of the search result if there are any. */
export function sourceOf(groups: readonly Group[], number: number): Source | null {
  const found = groups.flatMap((group) => group.sources.filter((source) => source.number === number));
  return found.findLast((source) => source.snippet !== "") ?? found.at(-1) ?? null;
}

/** While an answer is written, turns change with every frame: what is made of the same parts stays the same thing. */
function lasting<P, R>(partsOf: (turn: Turn) => readonly P[], make: (parts: readonly P[]) => R) {
  const partsOfTurn = remembering(partsOf);
  let known: readonly P[] | null = null;
  let made: R;
  return (turns: readonly Turn[]): R => {
    const parts = turns.flatMap(partsOfTurn);
    if (known === null || known.length !== parts.length || parts.some((part, index) => part !== known?.[index])) {
      known = parts;
      made = make(parts);
    }
    return made;
  };
}

function remembering<A extends object, B>(work: (value: A) => B): (value: A) => B {
  const known = new WeakMap<A, { of: B }>();
  return (value) => {
    const kept = known.get(value) ?? { of: work(value) };
    known.set(value, kept);
    return kept.of;
  };
}
