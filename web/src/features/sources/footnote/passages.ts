/** A snapshot made ready to be shown: its blocks, and the passages of it that are quoted. */

import { Offsets } from "../../../lib/offsets";
import type { Citation, EvidencePassage, SourceSnapshot, SourceView } from "../../../protocol/events.gen";
import { type Block, blocksOf } from "./blocks";
import { apart, type LinkRange, type Range, union } from "./pieces";
import { contains } from "./span";

export interface Passage extends Range {
  text: string;
  /** In the address: its number among the quotations of the text; where it is none of them, its place in the text. */
  name: string;
  /** The page of a PDF on which it begins. */
  page: number | null;
}

export interface Reading {
  snapshot: SourceSnapshot;
  blocks: readonly Block[];
  links: readonly LinkRange[];
  /** In the order of the text. */
  passages: readonly Passage[];
  /** All that is quoted, apart. */
  quoted: readonly Range[];
  /** Where the pages of a PDF begin. */
  pages: readonly number[];
  /** The passage that is shown first; -1: none. */
  first: number;
  /** The passage with the quotation that the citation rests on; -1: none. */
  cited: number;
  /** The quotation is the closest one, and says something else than the answer. */
  isOtherwise: boolean;
}

/** Lines of markdown end anywhere, and have signs in them; what was made of a page or a document is plain inside a line. */
export function isMarkdown(mediaType: string): boolean {
  return mediaType === "text/markdown";
}

interface Prepared {
  offsets: Offsets;
  blocks: readonly Block[];
  links: readonly LinkRange[];
  pages: readonly number[];
}

/** A text of megabytes is looked through once. */
const prepared = new WeakMap<SourceSnapshot, Prepared>();

export interface Opening {
  citation: Citation | null;
  /** The passage that the model was given, and that the footnote points to. */
  pointed: EvidencePassage | null;
  /** The passage that the address names. */
  named?: string | undefined;
}

/** A quotation inside of the passage that is pointed to is shown first, else that passage as a whole. */
export function readingOf(snapshot: SourceSnapshot, { citation, pointed, named }: Opening): Reading {
  const { offsets, blocks, links, pages } = prepare(snapshot);
  const cited = citation && citedRange(snapshot.text, offsets, citation);
  const quotes = snapshot.quotes.map(({ start, end }) => ({ start: offsets.unit(start), end: offsets.unit(end) }));
  const listed = distinct(quotes).map(placeOf);
  const placed = placedRange(offsets, named);
  const target = pointed && evidenceRange(snapshot, pointed);
  const shown = target && cited && contains(target, cited) ? cited : target;
  const ranges = distinct([...quotes, cited, placed, shown].filter((range) => range !== null));
  const passages = ranges.map(({ start, end }) => ({
    start,
    end,
    text: snapshot.text.slice(start, end),
    name: nameOf(listed, offsets, { start, end }),
    page: pageAt(pages, start),
  }));
  const indexOf = (range: Range | null) => passages.findIndex((passage) => isSameRange(passage, range));
  const first = citation || shown ? indexOf(shown ?? cited) : Math.min(0, passages.length - 1);
  const isOtherwise = citation?.verdict === "unsupported" || citation?.verdict === "contradicted";
  const quoted = union(passages.filter((passage) => !isSameRange(passage, target)));
  return { snapshot, blocks, links, pages, passages, quoted, first, cited: indexOf(cited), isOtherwise };
}

/** Where a passage that the model was given stands. Null: not in this text. */
export function evidenceRange(snapshot: SourceSnapshot, { text, start, end }: EvidencePassage): Range | null {
  return textRange(snapshot.text, prepare(snapshot).offsets, text, start, end);
}

/** A place of the text that was checked, by the offsets of the server. */
export function rangeAt(snapshot: SourceSnapshot, start: number, end: number): Range {
  const { offsets } = prepare(snapshot);
  return { start: offsets.unit(start), end: offsets.unit(end) };
}

export function isSameRange(one: Range, other: Range | null): boolean {
  return one.start === other?.start && one.end === other.end;
}

/** The reading that has the passage which is pointed to; else the one that the citation was checked against; else one that
 * says it too; else the last. */
export function snapshotFor({ snapshots }: SourceView, { citation, pointed }: Opening): SourceSnapshot | null {
  const quote = citation?.quote;
  const given = pointed && snapshots.filter((snapshot) => evidenceRange(snapshot, pointed));
  return (
    given?.find(({ id }) => id === pointed?.snapshot_id) ??
    given?.[0] ??
    snapshots.find(({ id }) => id === citation?.snapshot_id) ??
    (quote ? snapshots.find(({ text }) => text.includes(quote)) : undefined) ??
    snapshots[0] ??
    null
  );
}

const placeOf = ({ start, end }: Range) => `${start}-${end}`;

function nameOf(listed: readonly string[], offsets: Offsets, range: Range): string {
  const at = listed.indexOf(placeOf(range));
  return at < 0 ? placeOf({ start: offsets.point(range.start), end: offsets.point(range.end) }) : String(at + 1);
}

/** A passage that the address names by its place, in code points. */
function placedRange(offsets: Offsets, named: string | undefined): Range | null {
  const [start, end] = (named ?? "").split("-").map(Number);
  if (start === undefined || end === undefined) return null;
  return { start: offsets.unit(start), end: offsets.unit(end) };
}

/** Counted from 1, as on paper. */
function pageAt(pages: readonly number[], place: number): number | null {
  return pages.filter((start) => start <= place).length || null;
}

function prepare(snapshot: SourceSnapshot): Prepared {
  const known = prepared.get(snapshot);
  if (known) return known;
  const offsets = new Offsets(snapshot.text);
  const links = snapshot.links.map(({ url, start, end }) => ({
    url,
    start: offsets.unit(start),
    end: offsets.unit(end),
  }));
  const pages = snapshot.pages.map((offset) => offsets.unit(offset));
  const fresh = { offsets, blocks: blocksOf(snapshot.text), links: apart(links), pages };
  prepared.set(snapshot, fresh);
  return fresh;
}

/** Where the quotation stands. In another reading than the one that was checked it may stand elsewhere, or nowhere. */
function citedRange(text: string, offsets: Offsets, { quote, quote_start, quote_end }: Citation): Range | null {
  return quote ? textRange(text, offsets, quote, quote_start, quote_end) : null;
}

function textRange(text: string, offsets: Offsets, part: string, from: number | null, to: number | null): Range | null {
  if (from !== null && to !== null) {
    const place = { start: offsets.unit(from), end: offsets.unit(to) };
    if (text.slice(place.start, place.end) === part) return place;
  }
  const start = text.indexOf(part);
  return start < 0 ? null : { start, end: start + part.length };
}

function distinct(ranges: readonly Range[]): Range[] {
  const known = new Map(ranges.filter(({ start, end }) => end > start).map((one) => [`${one.start}-${one.end}`, one]));
  return [...known.values()].sort((one, other) => one.start - other.start || one.end - other.end);
}
