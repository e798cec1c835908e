/** Comparing words as people type them: case, width and diacritics do not count, `dien bien phu` finds Điện Biên Phủ. */

export function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("đ", "d");
}

export interface Place {
  start: number;
  end: number;
}

/** Where words of a query stand in a text, in order and apart, by the places of the text as it is. */
export function placesOf(query: string, text: string): Place[] {
  const words = fold(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const { folded, origin } = foldedWithOrigin(text);
  const found = words.flatMap((word) => placesOfWord(word, folded, origin));
  const apart: Place[] = [];
  for (const place of found.toSorted((one, other) => one.start - other.start || other.end - one.end))
    if (place.start >= (apart.at(-1)?.end ?? 0)) apart.push(place);
  return apart;
}

function placesOfWord(word: string, folded: string, origin: readonly number[]): Place[] {
  const found: Place[] = [];
  for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length))
    found.push({ start: origin[at] ?? 0, end: origin[at + word.length] ?? 0 });
  return found;
}

/** `origin` says for every unit of the folded text, and for its end, where in the text it comes from. */
function foldedWithOrigin(text: string): { folded: string; origin: number[] } {
  const origin: number[] = [];
  let folded = "";
  let at = 0;
  for (const letter of text) {
    const plain = fold(letter);
    origin.push(...Array<number>(plain.length).fill(at));
    folded += plain;
    at += letter.length;
  }
  origin.push(text.length);
  return { folded, origin };
}
