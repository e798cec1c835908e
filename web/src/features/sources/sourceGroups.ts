/** What the searches of a session found, and how often answers rest on it. */

import type { Citation, PageReport, Source, Verdict } from "../../protocol/events.gen";
import type { Block } from "../../state/answer";
import { pointedBy, type SearchFound, searchOf } from "../../state/select";
import type { Turn } from "../../state/turns";
import { readableText } from "../../ui/markdown";
import { Offsets } from "./footnote/offsets";

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

/** The sentence that a citation stands for, in plain words. Null: it is not among the answers that are shown. */
export function sentenceOf(turns: readonly Turn[], citation: Citation): string | null {
  for (const { answer } of turns) {
    for (const block of answer.blocks) {
      if (block.type !== "text" || !block.citations.some((one) => isSame(one, citation))) continue;
      const offsets = new Offsets(block.text);
      return plain(block.text.slice(offsets.unit(citation.start), offsets.unit(citation.end)));
    }
  }
  return null;
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

function isSame(one: Citation, other: Citation): boolean {
  if (one === other) return true;
  const { number, start, end, marker, quote } = other;
  return (
    one.number === number && one.start === start && one.end === end && one.marker === marker && one.quote === quote
  );
}

/** Without the signs of markdown and without footnotes: only what is said. */
export function plain(sentence: string): string {
  const said = sentence.replace(/(?<!\\)[[【［]\^?\d+(?:\s*[-–,，、]\s*\^?\d+)*[\]】］](?!\()/g, "");
  return readableText(said).replace(/(?<!\s)\s+([.,;:!?。，；：！？])/g, "$1");
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
