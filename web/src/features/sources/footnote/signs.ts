/** The signs inside the lines of a text that is markdown. What was made of a web page or a document has none. */

import type { Block } from "./blocks";
import type { Range } from "./pieces";

/** `hidden`: a sign, and no word. `code`: words that are written as code. */
export interface Styled extends Range {
  as: "hidden" | "code" | "differs";
}

/** Every repetition has a limit: a text may be hostile. */
const SIGNS = new RegExp(
  [
    "(?<escaping>\\\\)[!-/:-@[-`{-~]",
    "(?<ticks>`{1,3})(?<code>[^`]{1,400})\\k<ticks>",
    "(?<open>!?\\[)(?<text>[^[\\]\\n]{1,400})(?<close>\\]\\([^()\\s]{1,2000}\\))",
    "(?<strong>\\*{2,3}|~~)(?=\\S)|(?<=\\S)(?<ended>\\*{2,3}|~~)",
  ].join("|"),
  "g",
);

/** In order and apart. A block of code is what it is. */
export function signsIn(text: string, { kind, start, end }: Block): Styled[] {
  if (kind === "code") return [];
  return signsBetween(text, start, end);
}

function signsBetween(text: string, start: number, end: number): Styled[] {
  const found: Styled[] = [];
  for (const match of text.slice(start, end).matchAll(SIGNS)) {
    const at = start + match.index;
    const { escaping, ticks, code, open, text: words, close, strong, ended } = match.groups ?? {};
    const hide = (from: number, length: number) => found.push({ start: from, end: from + length, as: "hidden" });
    if (ticks && code) {
      hide(at, ticks.length);
      found.push({ start: at + ticks.length, end: at + ticks.length + code.length, as: "code" });
      hide(at + ticks.length + code.length, ticks.length);
    } else if (open && words && close) {
      hide(at, open.length);
      const inside = at + open.length;
      found.push(...signsBetween(text, inside, inside + words.length));
      hide(inside + words.length, close.length);
    } else hide(at, (escaping ?? strong ?? ended ?? "").length);
  }
  return found;
}
