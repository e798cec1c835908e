/** What cannot be seen, or changes the order of what can: control and format characters, odd blanks, halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;

/** The text with escapes in the place of all that hides: whoever decides on it sees what a tool would get. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (letter) =>
    letter === "\n" || letter === "\t" ? letter : `\\u{${letter.codePointAt(0)?.toString(16)}}`,
  );
}
