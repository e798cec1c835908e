/** Places of a text found again in the same text written differently. */

export interface Place {
  start: number;
  end: number;
}

/**
 * Where words stand in what is shown of a text. `ranges` are their places as it is written, with markup and footnotes; a
 * word that stands there twice is the first or second one here too. Words that are not shown are left out.
 */
export function placesIn(shown: string, written: string, ranges: readonly Place[]): Place[] {
  const found: Place[] = [];
  for (const range of ranges) {
    const words = written.slice(range.start, range.end);
    const start = nthOf(shown, words, countOf(written.slice(0, range.start), words));
    if (words !== "" && start >= 0) found.push({ start, end: start + words.length });
  }
  found.sort((one, other) => one.start - other.start);
  return found.filter(({ start }, at) => at === 0 || start >= (found[at - 1]?.end ?? 0));
}

function countOf(text: string, words: string): number {
  let count = 0;
  for (let at = text.indexOf(words); words !== "" && at >= 0; at = text.indexOf(words, at + words.length)) count += 1;
  return count;
}

/** The last one before it, if there are fewer. */
function nthOf(text: string, words: string, count: number): number {
  let at = text.indexOf(words);
  for (let left = count; left > 0 && at >= 0; left -= 1) {
    const next = text.indexOf(words, at + words.length);
    if (next < 0) break;
    at = next;
  }
  return at;
}
