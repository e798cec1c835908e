/** Cutting a range of a text where passages and links begin and end. All places are those of the string. */

export interface Range {
  start: number;
  end: number;
}

export interface LinkRange extends Range {
  url: string;
}

export interface Piece extends Range {
  /** `current`: of the passage that is looked at; `other`: of one that is quoted too. */
  passage: "current" | "other" | null;
  parts: readonly (Range & { url: string | null })[];
}

/** `passages` and `links` must be in order and apart: see `union` and `apart`. */
export function piecesOf(
  range: Range,
  current: Range | null,
  passages: readonly Range[],
  links: readonly LinkRange[],
): Piece[] {
  const found: Piece[] = [];
  const add = (part: Range, passage: Piece["passage"]) => {
    const parts = cut(part, links).map(({ start, end, by }) => ({ start, end, url: by?.url ?? null }));
    found.push({ ...part, passage, parts });
  };
  for (const { by: isCurrent, ...part } of cut(range, current ? [current] : [])) {
    if (isCurrent) add(part, "current");
    else for (const { by, ...rest } of cut(part, passages)) add(rest, by ? "other" : null);
  }
  return found;
}

interface Cut<R> extends Range {
  by: R | null;
}

export function cut<R extends Range>(range: Range, by: readonly R[]): Cut<R>[] {
  const parts: Cut<R>[] = [];
  let at = range.start;
  for (let index = firstEndingAfter(by, range.start); index < by.length; index += 1) {
    const one = by[index] as R;
    if (one.start >= range.end) break;
    const start = Math.max(at, one.start);
    const end = Math.min(range.end, one.end);
    if (start > at) parts.push({ start: at, end: start, by: null });
    if (end > start) parts.push({ start, end, by: one });
    at = end;
  }
  if (at < range.end) parts.push({ start: at, end: range.end, by: null });
  return parts;
}

/** The first of ranges in order that reaches beyond a place. */
export function firstEndingAfter(ranges: readonly Range[], place: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.end ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Ranges that overlap become one. */
export function union(ranges: readonly Range[]): Range[] {
  const together: Range[] = [];
  for (const { start, end } of ranges.toSorted(inOrder)) {
    const last = together.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else together.push({ start, end });
  }
  return together;
}

/** In order, and without those that lie over an earlier one. */
export function apart<R extends Range>(ranges: readonly R[]): R[] {
  const kept: R[] = [];
  for (const one of ranges.toSorted(inOrder))
    if (one.end > one.start && one.start >= (kept.at(-1)?.end ?? 0)) kept.push(one);
  return kept;
}

function inOrder(one: Range, other: Range): number {
  return one.start - other.start || one.end - other.end;
}

export function overlaps(one: Range, other: Range): boolean {
  return one.start < other.end && other.start < one.end;
}
