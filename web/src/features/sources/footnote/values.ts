/** What a sentence and the closest passage say differently: numbers, and names that the passage has not. */

import { fold } from "../../../lib/fold";
import type { Range } from "./pieces";

interface Value extends Range {
  /** What two spellings of one number have in common. */
  amount: string;
  kind: "number" | "year";
}

const ENGLISH =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty";
const TENS = "thirty forty fifty sixty seventy eighty ninety";
/** Those that mean nothing else: a hundred is also in "two hundred", a year is "năm" and so is five. */
const VIETNAMESE: Readonly<Record<string, number>> = { hai: 2, bốn: 4, sáu: 6, bảy: 7, tám: 8, chín: 9, mười: 10 };
const AMOUNTS = new Map<string, number>([
  ...ENGLISH.split(" ").map((word, at): [string, number] => [word, at]),
  ...TENS.split(" ").map((word, at): [string, number] => [word, 30 + 10 * at]),
  ...Object.entries(VIETNAMESE),
]);
const DIGITS = "〇一二三四五六七八九";

const NUMBER = /\d+(?:[.,\u00a0\u202f]\d+)*|\p{L}+/gu;
const CHINESE = /[〇零一二两三四五六七八九十百千万亿]{2,}/gu;
/** A word that may be a name, any other word, or the end of a sentence. */
const NAME_OR_END = /(?<name>(?<=\s)\p{Lu}[\p{L}\p{M}'’-]+)|\p{L}+|(?<end>[.!?]|\n(?!\p{Lu}))/gu;

function valuesIn(text: string): Value[] {
  const found: Value[] = [];
  for (const { 0: word, index } of text.matchAll(NUMBER)) {
    const amount = amountOf(word);
    if (amount !== null) found.push({ start: index, end: index + word.length, amount, kind: kindOf(word) });
  }
  for (const { 0: word, index } of text.matchAll(CHINESE))
    found.push({ start: index, end: index + word.length, amount: chinese(word), kind: "number" });
  return found.toSorted((one, other) => one.start - other.start);
}

function amountOf(word: string): string | null {
  if (/^\d/.test(word)) return word.replace(/[.,\u00a0\u202f](?=\d{3}(?!\d))/g, "").replace(",", ".");
  const amount = AMOUNTS.get(word.toLowerCase());
  return amount === undefined ? null : String(amount);
}

function kindOf(word: string): Value["kind"] {
  return /^(?:1\d|20)\d\d$/.test(word) ? "year" : "number";
}

/** Two digits or more in a row, as in a year; other numbers only equal themselves. */
function chinese(word: string): string {
  const plain = [...word.replaceAll("零", "〇").replaceAll("两", "二")];
  return plain.every((sign) => DIGITS.includes(sign)) ? plain.map((sign) => DIGITS.indexOf(sign)).join("") : word;
}

/** Words with a capital letter that do not begin their sentence. */
function namesIn(text: string): Range[] {
  const found: Range[] = [];
  let begun = false;
  for (const { 0: word, index, groups } of text.matchAll(NAME_OR_END)) {
    if (begun && groups?.name !== undefined) found.push({ start: index, end: index + word.length });
    begun = groups?.end === undefined;
  }
  return found;
}

export interface Differences {
  /** In the sentence: what the passage does not have. */
  claim: readonly Range[];
  /** In the passage: what stands there instead. */
  quote: readonly Range[];
}

export function differencesOf(claim: string, quote: string): Differences {
  const [said, read] = [valuesIn(claim), valuesIn(quote)];
  const missing = said.filter(({ amount }) => !read.some((one) => one.amount === amount));
  const kinds = new Set(missing.map(({ kind }) => kind));
  const instead = read.filter(({ amount, kind }) => kinds.has(kind) && !said.some((one) => one.amount === amount));
  const known = fold(quote);
  const names = namesIn(claim).filter(
    ({ start, end }) => !known.includes(fold(claim.slice(start, end))) && !missing.some((one) => one.start === start),
  );
  const ranges = (values: readonly Range[]) =>
    values.map(({ start, end }) => ({ start, end })).sort((one, other) => one.start - other.start);
  return { claim: ranges([...missing, ...names]), quote: ranges(instead) };
}
