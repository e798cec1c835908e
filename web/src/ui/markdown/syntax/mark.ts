import type { CompileContext, Extension, Token } from "mdast-util-from-markdown";
import { type Code, type Construct, type State, type Syntax, type Tokenize, token } from "./construct";

/**
 * Markers of footnotes: `[1]`, `[2, 3]`, `[1-3]`, `[^1]`, and those in the wide brackets of Chinese.
 *
 * They are part of the syntax, so that code, targets of links and what stands behind a backslash have none. The server
 * reads the same text with the same rules when it checks the footnotes.
 */
const NUMBER = "\\^?[0-9０-９]{1,15}";
const ITEM = `${NUMBER}(?:\\s?[-–—~～]\\s?${NUMBER})?`;
const BODY = `\\s?${ITEM}(?:\\s?[,;、，；]\\s?${ITEM})*\\s?`;
const PLAIN_BODY = new RegExp(`^${BODY}$`);
const DAGGER_BODY = new RegExp(`^(${BODY})(?:†[^】\\n]{0,80})?$`);
const RANGE = /\s?[-–—~～]\s?/;
const BETWEEN = /[,;、，；]/;
/** A longer one, as in `[1990-2020]`, hardly means every number in it: its ends are taken. */
const LONGEST_RANGE = 20;
const LONGEST_BODY = 300;

const CLOSED_BY: Record<number, number> = { 91: 0x5d, 12304: 0x3011, 65339: 0xff3d };
const BANG = 33;
const PARENTHESIS = 40;

/** The numbers of a marker, each once; none if it is no marker at all. */
export function numbersOf(marker: string): number[] {
  const [body = ""] = marker.slice(1, -1).split("†", 1);
  const found: number[] = [];
  for (const item of body.split(BETWEEN)) {
    const ends = item.trim().split(RANGE).map(numberOf);
    const [first = 0, last = 0] = ends;
    if (ends.length === 2 && last > first && last - first <= LONGEST_RANGE) {
      for (let number = first; number <= last; number++) found.push(number);
    } else {
      found.push(...ends);
    }
  }
  // `[0, 1]` is an interval.
  return found.includes(0) && found.length > 1 ? [] : [...new Set(found)];
}

/** Whether this text in brackets is a marker. */
export function isMarker(text: string): boolean {
  const body = text.slice(1, -1);
  return body.length <= LONGEST_BODY && (text.startsWith("【") ? DAGGER_BODY : PLAIN_BODY).test(body);
}

function numberOf(digits: string): number {
  const plain = digits.replace(/[０-９]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) - 0xff10 + 48));
  return Number(plain.trim().replace(/^\^+/, ""));
}

const tokenizeMark: Tokenize = (effects, ok, nok) => {
  let close = 0;
  let body = "";
  const open: State = (code) => {
    close = CLOSED_BY[code as number] ?? 0;
    if (!close) return nok(code);
    effects.enter(token("footnoteMark"));
    effects.consume(code);
    return inside;
  };
  const inside: State = (code: Code) => {
    if (code === null || code < 0 || body.length > LONGEST_BODY) return nok(code);
    if (code === close) {
      if (!(close === 0x3011 ? DAGGER_BODY : PLAIN_BODY).test(body)) return nok(code);
      effects.consume(code);
      return after;
    }
    body += String.fromCharCode(code);
    if (body.length === 2 && !/[0-9０-９^]/.test(body)) return nok(code);
    effects.consume(code);
    return inside;
  };
  const after: State = (code) => {
    if (code === PARENTHESIS && close === 0x5d) return nok(code);
    effects.exit(token("footnoteMark"));
    return ok(code);
  };
  return open;
};

const mark: Construct = { name: "footnoteMark", tokenize: tokenizeMark };

/** `Really![1]` is no picture. */
const afterBang: Construct = {
  name: "footnoteMarkAfterBang",
  tokenize(effects, ok, nok) {
    return (code) => {
      effects.enter(token("data"));
      effects.consume(code);
      effects.exit(token("data"));
      return effects.attempt(mark, ok, nok);
    };
  },
};

export const markSyntax: Syntax = {
  text: { [BANG]: afterBang, ...Object.fromEntries(Object.keys(CLOSED_BY).map((code) => [code, mark])) },
};

export const markTree: Extension = {
  enter: {
    footnoteMark(this: CompileContext, found: Token) {
      this.enter({ type: "footnoteMark", value: this.sliceSerialize(found) }, found);
    },
  },
  exit: {
    footnoteMark(this: CompileContext, found: Token) {
      this.exit(found);
    },
  },
};
