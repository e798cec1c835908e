import type { Citation } from "../../protocol/events.gen";
import type { Mark } from "./tree";

/** For each number of a marker the citation that belongs to it, if there is one. */
export type Cited = ReadonlyMap<Mark, readonly (Citation | null)[]>;

interface Place {
  readonly mark: Mark;
  readonly at: number;
  /** In code points, as the server counts. */
  readonly offset: number;
}

/** How far a marker may stand from its sentence: a paragraph of its own belongs to the last sentence before it. */
const FARTHEST = 400;

/**
 * Which citation belongs to which marker.
 *
 * There is one for each number of each marker, in the order of the text, so that those of one marker and number can be
 * counted off. Where the server has found fewer or more of them than there are here, as in a list of sources, the
 * place of the sentence decides.
 */
export function citedBy(marks: readonly Mark[], citations: readonly Citation[], text: string): Cited {
  const cited = new Map<Mark, (Citation | null)[]>();
  if (citations.length === 0) return cited;
  const places = new Map<string, Place[]>();
  const codePoints = codePointCounter(text);
  for (const mark of marks) {
    const numbers = mark.numbers ?? [];
    cited.set(mark, Array(numbers.length).fill(null));
    const offset = codePoints(mark.start ?? 0);
    numbers.forEach((number, at) => {
      listed(places, nameOf(mark.value, number)).push({ mark, at, offset });
    });
  }
  const found = new Map<string, Citation[]>();
  for (const citation of citations) listed(found, nameOf(citation.marker, citation.number)).push(citation);
  for (const [name, given] of found) {
    for (const [place, citation] of paired(places.get(name) ?? [], given)) {
      const row = cited.get(place.mark);
      if (row) row[place.at] = citation;
    }
  }
  return cited;
}

/** The citations of which the text has no marker: they stand behind their statement. */
export function unmarked(marks: readonly Mark[], citations: readonly Citation[]): ReadonlySet<Citation> {
  const names = new Set(marks.flatMap(({ value, numbers = [] }) => numbers.map((number) => nameOf(value, number))));
  return new Set(citations.filter(({ marker, number }) => !names.has(nameOf(marker, number))));
}

function nameOf(marker: string, number: number): string {
  return `${number} ${marker}`;
}

function listed<V>(lists: Map<string, V[]>, name: string): V[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

function* paired(places: readonly Place[], citations: readonly Citation[]): Generator<[Place, Citation]> {
  if (places.length === citations.length) {
    for (const [at, place] of places.entries()) yield [place, citations[at] as Citation];
    return;
  }
  let next = 0;
  for (const [at, citation] of citations.entries()) {
    let best = next;
    while (best + 1 < places.length && distance(places[best + 1], citation) < distance(places[best], citation)) best++;
    const place = places[best];
    const following = citations[at + 1];
    if (!place || distance(place, citation) > FARTHEST) continue;
    const isNearer = following !== undefined && distance(place, following) < distance(place, citation);
    if (isNearer && places.length - best < citations.length - at) continue;
    yield [place, citation];
    next = best + 1;
  }
}

function distance(place: Place | undefined, citation: Citation): number {
  if (!place) return Number.POSITIVE_INFINITY;
  if (place.offset < citation.start) return citation.start - place.offset;
  return Math.max(0, place.offset - citation.end);
}

/** Offsets in code points, asked for in rising order. */
function codePointCounter(text: string): (offset: number) => number {
  let at = 0;
  let pairs = 0;
  return (offset) => {
    for (; at < offset; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 0xd800 && unit < 0xdc00 && at + 1 < offset) {
        const low = text.charCodeAt(at + 1);
        if (low >= 0xdc00 && low < 0xe000) pairs++;
      }
    }
    return offset - pairs;
  };
}
