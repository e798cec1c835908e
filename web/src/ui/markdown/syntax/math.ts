import type { CompileContext, Extension, Token } from "mdast-util-from-markdown";
import {
  type Code,
  type Construct,
  consumeLineEnd,
  isLineEnd,
  isSpace,
  Lines,
  type State,
  type Syntax,
  type Tokenize,
  token,
} from "./construct";

/**
 * Formulas: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`.
 *
 * A dollar is more often money than mathematics. `$…$` is a formula only if it touches what it encloses, does not come
 * after a letter or digit, and no digit comes after it. `\[…\]` inside a line is often an escaped bracket: it must
 * look like a formula. Whatever is tried ends at the next sign of its kind, so that no text takes long.
 */
const DOLLAR = 36;
const BACKSLASH = 92;
const BRACKET = 91;
const PARENTHESIS = 40;
const CLOSING: Record<number, number> = { [BRACKET]: 93, [PARENTHESIS]: 41 };
const LOOKS_LIKE_FORMULA = /[\\^_=+<>{}|]/;

function isWord(code: Code): boolean {
  return code !== null && ((code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122));
}

/** `\(…\)` and `\[…\]` in a line. */
const tokenizeEscaped: Tokenize = (effects, ok, nok) => {
  const lines = new Lines(effects, "formulaData");
  let opening = 0;
  let body = "";
  const begin: State = (code) => {
    effects.enter(token("formula"));
    lines.take(code);
    return kind;
  };
  const kind: State = (code) => {
    if (code !== BRACKET && code !== PARENTHESIS) return nok(code);
    opening = code;
    lines.take(code);
    return inside;
  };
  const inside: State = (code) => {
    if (code === null) return nok(code);
    body += code < 0 ? " " : String.fromCharCode(code);
    if (isLineEnd(code)) {
      lines.next(code);
      return inside;
    }
    lines.take(code);
    return code === BACKSLASH ? escaped : inside;
  };
  const escaped: State = (code) => {
    if (code === null || isLineEnd(code)) return inside(code);
    if (code === opening) return nok(code);
    if (code === CLOSING[opening]) return close(code);
    lines.take(code);
    return inside;
  };
  const close: State = (code) => {
    const written = body.slice(0, -1);
    if (!written.trim() || (opening === BRACKET && !LOOKS_LIKE_FORMULA.test(written))) return nok(code);
    lines.take(code);
    lines.end();
    effects.exit(token("formula"));
    return ok;
  };
  return begin;
};

/** `$…$` and `$$…$$` in a line. */
const tokenizeDollars: Tokenize = function (effects, ok, nok) {
  const lines = new Lines(effects, "formulaData");
  const before = this.previous;
  let size = 0;
  let closing = 0;
  let body = "";
  const begin: State = (code) => {
    if (isWord(before) || before === DOLLAR) return nok(code);
    effects.enter(token("formula"));
    return opening(code);
  };
  const opening: State = (code) => {
    if (code === DOLLAR && size < 3) {
      lines.take(code);
      size++;
      return opening;
    }
    return size > 2 || code === null ? nok(code) : inside(code);
  };
  const inside: State = (code) => {
    if (code === null) return nok(code);
    if (code === DOLLAR) return closingRun(code);
    body += code < 0 ? " " : String.fromCharCode(code);
    if (isLineEnd(code)) {
      lines.next(code);
      return inside;
    }
    lines.take(code);
    return code === BACKSLASH ? escaped : inside;
  };
  const escaped: State = (code) => {
    if (code !== DOLLAR) return inside(code);
    body += "$";
    lines.take(code);
    return inside;
  };
  const closingRun: State = (code) => {
    if (code === DOLLAR) {
      lines.take(code);
      closing++;
      return closingRun;
    }
    if (closing !== size || !body.trim() || (size === 1 && isMoney(body, code))) return nok(code);
    lines.end();
    effects.exit(token("formula"));
    return ok(code);
  };
  return begin;
};

function isMoney(body: string, after: Code): boolean {
  if (isDigit(after) || /^\s|\s$/.test(body)) return true;
  return /^\d/.test(body) && !/^[\d.,]+$/.test(body) && !LOOKS_LIKE_FORMULA.test(body);
}

function isDigit(code: Code): boolean {
  return code !== null && code >= 48 && code <= 57;
}

/** The next line, unless it is only a lazy one, which no formula has. */
const nextLine: Construct = {
  partial: true,
  tokenize(effects, ok, nok) {
    return (code) => {
      consumeLineEnd(effects, code);
      return (next) => (this.parser.lazy[this.now().line] ? nok(next) : ok(next));
    };
  },
};

/** One on lines of its own: what in there looks like an item of a list is none. It ends at an empty line at the latest. */
const tokenizeDisplay: Tokenize = function (effects, ok, nok) {
  const lines = new Lines(effects, "formulaData");
  let close = 0;
  let alone = false;
  let blank = false;
  const begin: State = (code) => {
    effects.enter(token("formulaBlock"));
    lines.take(code);
    return (second) => {
      if (second !== (code === DOLLAR ? DOLLAR : BRACKET)) return nok(second);
      close = second === DOLLAR ? DOLLAR : (CLOSING[second] ?? 0);
      lines.take(second);
      return opened;
    };
  };
  const opened: State = (code) => {
    if (code === DOLLAR && close === DOLLAR) return nok(code);
    if (isSpace(code)) {
      lines.take(code);
      return opened;
    }
    alone = code === null || isLineEnd(code);
    if (this.interrupt) return alone ? ok(code) : nok(code);
    return inside(code);
  };
  const inside: State = (code) => {
    if (code === null || isLineEnd(code)) return alone ? endOfLine(code) : nok(code);
    if (!isSpace(code)) blank = false;
    lines.take(code);
    if (code === BACKSLASH) return escaped;
    return code === DOLLAR && close === DOLLAR ? second : inside;
  };
  const escaped: State = (code) => {
    if (code === null || isLineEnd(code)) return inside(code);
    lines.take(code);
    return code === close && close !== DOLLAR ? after : inside;
  };
  const second: State = (code) => {
    if (code !== DOLLAR) return inside(code);
    lines.take(code);
    return after;
  };
  const after: State = (code) => {
    if (isSpace(code)) {
      lines.take(code);
      return after;
    }
    return code === null || isLineEnd(code) ? done(code) : nok(code);
  };
  const endOfLine: State = (code) => (code === null || blank ? done(code) : effects.check(nextLine, goOn, done)(code));
  const goOn: State = (code) => {
    lines.next(code);
    blank = true;
    return inside;
  };
  const done: State = (code) => {
    lines.end();
    effects.exit(token("formulaBlock"));
    return ok(code);
  };
  return begin;
};

const escapedFormula: Construct = { name: "escapedFormula", tokenize: tokenizeEscaped };
const dollarFormula: Construct = { name: "dollarFormula", tokenize: tokenizeDollars };
const displayFormula: Construct = { name: "displayFormula", tokenize: tokenizeDisplay, concrete: true };

export const mathSyntax: Syntax = {
  flow: { [DOLLAR]: displayFormula, [BACKSLASH]: displayFormula },
  text: { [DOLLAR]: dollarFormula, [BACKSLASH]: escapedFormula },
};

function enterFormula(display: boolean) {
  return function enter(this: CompileContext, found: Token) {
    this.enter({ type: display ? "math" : "inlineMath", value: "" }, found);
    this.buffer();
  };
}

function exitFormula(this: CompileContext, found: Token) {
  const source = this.resume().trim();
  const node = this.stack[this.stack.length - 1];
  if (node?.type === "math" || node?.type === "inlineMath") {
    const size = /^\$(?!\$)/.test(source) ? 1 : 2;
    const closed = source.length > 2 * size - 1 && /(?:\$|\\\)|\\\])$/.test(source.slice(size));
    node.source = source;
    node.value = (closed ? source.slice(size, -size) : source.slice(size)).trim();
    node.display = source.startsWith("$$") || source.startsWith("\\[");
    node.closed = closed;
  }
  this.exit(found);
}

export const mathTree: Extension = {
  enter: { formula: enterFormula(false), formulaBlock: enterFormula(true) },
  exit: {
    formula: exitFormula,
    formulaBlock: exitFormula,
    formulaData(this: CompileContext, found: Token) {
      this.config.enter.data?.call(this, found);
      this.config.exit.data?.call(this, found);
    },
  },
};
