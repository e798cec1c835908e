/**
 * What is written of a text that still grows, so that it can be read at once: no bare `**`, half links, rows of pipes.
 *
 * Only the last inline text of it matters: all that is before has been ended by what came after. Signs are closed by
 * others behind them, or left out until it is known what they are. The finished text is never healed.
 */
export interface Repaired {
  readonly text: string;
  /** Nothing was taken away; there are only closing signs behind the text. */
  readonly whole: boolean;
  /** It ends in a block of code whose closing fence is not there yet. */
  readonly inFence: boolean;
}

/** A line of which nobody knows yet what it will be: `-`, `##`, `1.`, `>`, `|`, `**`, three of a rule. */
const UNDECIDED =
  /^[ \t]*(?:[-+*=_~`#>|:][-+*=_~`#>|: \t]*|(?:>[ \t]*)*(?:\d{1,9}[.)]?[ \t]*|(?:[-+*]|\d{1,9}[.)])[ \t]+(?:\[[ xX]?\]?|[-+*#>]+|\d{1,9}[.)]?)[ \t]*))$/;
const BLOCK_START = /^[ \t]*(?:>[ \t]*)*(?:#{1,6}[ \t]|[-+*][ \t]|\d{1,9}[.)][ \t]|\||>)/;
const HEADING = /^[ \t]*(?:>[ \t]*)*#{1,6}[ \t]/;
const FENCE = /^[ \t]*(?:>[ \t]*)*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(`{3,}(?!`)|~{3,}(?!~))(.*)$/;
const HALF_FENCE = /\n[ \t]*(?:>[ \t]*)*(?:`{1,}|~{1,})$/;
const HALF_MARK = /^(?:[[【［]\s?\^?[0-9０-９,;、，；\s^~～–—-]*(?:†[^】]*)?|\[\^[^\]\s]*)$/;
const LONGEST_HELD = 400;
/** With more of them, the signs are hardly meant as such. */
const MOST_OPEN = 12;

export function repair(source: string): Repaired {
  const before = source.slice(0, Math.max(0, source.lastIndexOf("\n")));
  if (endsInFence(source)) {
    // Without what may become the closing fence, or without an opening one that may not be whole.
    const inFence = endsInFence(before);
    return { text: inFence ? source.replace(HALF_FENCE, "") : before, whole: false, inFence };
  }
  if (endsInFence(before)) return { text: source, whole: false, inFence: false };
  const text = withoutUndecided(source);
  const inline = new Inline(text, inlineStart(text));
  const healed = inline.healed();
  return { text: healed, whole: text.length === source.length && !inline.cut, inFence: false };
}

/** Whether a block of code is open at the end, where no sign means anything but the closing fence. */
function endsInFence(source: string): boolean {
  if (!source.includes("```") && !source.includes("~~~")) return false;
  let open = "";
  for (const line of source.split("\n")) {
    const fence = FENCE.exec(line);
    const [, run = "", rest = ""] = fence ?? [];
    if (open === "") open = run.startsWith("`") && rest.includes("`") ? "" : run;
    else if (run.startsWith(open) && rest.trim() === "") open = "";
  }
  return open !== "";
}

/** Without a last line of unknown kind, and without the head of a table that has no rule yet. */
function withoutUndecided(source: string): string {
  const last = source.lastIndexOf("\n");
  const text = UNDECIDED.test(source.slice(last + 1)) ? source.slice(0, Math.max(0, last)) : source;
  const paragraph = source.lastIndexOf("\n\n") + 1;
  const lines = source.slice(paragraph).replace(/^\n/, "").split("\n");
  const isHead = lines.length < 3 && /^[ \t]*\|/.test(lines[0] ?? "");
  return isHead ? text.slice(0, paragraph) : text;
}

/** Where the text begins in which signs can still be open: after the last empty line, in the last item, row or heading. */
function inlineStart(text: string): number {
  let end = text.length;
  while (end > 0) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(start, end);
    if (line.trim() === "") return Math.min(end + 1, text.length);
    // A heading has one line: what follows is something else.
    if (HEADING.test(line) && end < text.length) return end + 1;
    if (BLOCK_START.test(line)) return rowStart(text, start, line);
    end = start - 1;
  }
  return 0;
}

function rowStart(text: string, start: number, line: string): number {
  if (/^[ \t]*(?:>[ \t]*)*\|/.test(line)) return text.lastIndexOf("|") + 1;
  return start + (BLOCK_START.exec(line)?.[0].length ?? 0);
}

interface Open {
  sign: string;
  at: number;
}

class Inline {
  cut = false;
  private text: string;
  private open: Open[] = [];
  private brackets: number[] = [];
  private closing = "";
  /** Reading ends where something is cut off, so that it stays true as long as it is asked for. */
  private readonly lastBreak: number;

  constructor(
    text: string,
    private readonly start: number,
  ) {
    this.text = text;
    this.lastBreak = text.lastIndexOf("\n");
  }

  healed(): string {
    let at = this.start;
    while (at < this.text.length) at = this.read(at);
    this.endBrackets();
    return this.closed();
  }

  /** Reads what stands at an offset, and says where to go on. */
  private read(at: number): number {
    const sign = this.text[at] as string;
    if (sign === "\\") return this.escape(at);
    if (sign === "`") return this.code(at);
    if (sign === "$") return this.dollars(at);
    if (sign === "*" || sign === "_" || sign === "~") return this.emphasis(at, sign);
    if (sign === "[" || sign === "【" || sign === "［") this.brackets.push(at);
    if (sign === "]" || sign === "】" || sign === "］") return this.bracketEnd(at);
    if (sign === "<") return this.tag(at);
    return at + 1;
  }

  private escape(at: number): number {
    const next = this.text[at + 1];
    if (next === undefined) return this.cutAt(at);
    if (next !== "(" && next !== "[") return at + 2;
    const close = this.text.indexOf(next === "(" ? "\\)" : "\\]", at + 2);
    if (close >= 0) return close + 2;
    return this.text.length - at > LONGEST_HELD ? at + 2 : this.cutAt(at);
  }

  private code(at: number): number {
    const run = runAt(this.text, at);
    for (let next = this.text.indexOf(run, at + run.length); next >= 0; next = this.text.indexOf(run, next)) {
      const found = runAt(this.text, next);
      if (found.length === run.length) return next + run.length;
      next += found.length;
    }
    const body = this.text.slice(at + run.length);
    if (body.trim() === "" || run.startsWith("```")) return this.cutAt(at);
    // A part of the closing run may be there already.
    const partial = /(?<!`)`+$/.exec(body);
    if (partial) this.cutAt(this.text.length - partial[0].length);
    this.closing = run;
    return this.text.length;
  }

  private dollars(at: number): number {
    const run = runAt(this.text, at);
    const close = this.text.indexOf(run, at + run.length);
    const body = this.text.slice(at + run.length, close < 0 ? undefined : close);
    if (close >= 0) return /^\s|\s$/.test(body) && run.length === 1 ? at + 1 : close + run.length;
    const formula = run.length === 2 || (run.length === 1 && /^[A-Za-z\\{(]/.test(body)) || body === "";
    return formula && body.length < LONGEST_HELD ? this.cutAt(at) : at + run.length;
  }

  private emphasis(at: number, sign: string): number {
    const run = runAt(this.text, at);
    const end = at + run.length;
    const before = at > this.start ? (this.text[at - 1] as string) : " ";
    const after = this.text[end];
    const opener = this.open.findLastIndex((one) => one.sign[0] === sign);
    const closes = !/\s/.test(before) && opener >= 0;
    if (after === undefined) return this.lastRun(at, run, closes ? opener : -1);
    if (sign === "~" && run.length !== 2) return end;
    if (closes) this.close(opener, run);
    else if (!/\s/.test(after) && !(sign === "_" && /[\p{L}\p{N}]/u.test(before))) this.open.push({ sign: run, at });
    return end;
  }

  private close(opener: number, run: string): void {
    const open = this.open[opener] as Open;
    this.open.length = opener;
    if (open.sign.length > run.length) this.open.push({ sign: open.sign.slice(run.length), at: open.at });
  }

  /** A run at the very end closes what is open, or a part of it; what it would begin is not there yet. */
  private lastRun(at: number, run: string, opener: number): number {
    const open = this.open[opener];
    if (open && run.length >= open.sign.length) {
      this.open.length = opener;
      return at + run.length;
    }
    return this.cutAt(at);
  }

  private bracketEnd(at: number): number {
    const opening = this.brackets.pop();
    if (opening === undefined || this.text[at] !== "]") return at + 1;
    const after = this.text.slice(at + 1);
    const image = this.text[opening - 1] === "!";
    if (after.startsWith("(")) {
      const target = /^\((?:[^()\\\n]|\\.|\((?:[^()\\\n]|\\.)*\))*\)/.exec(after);
      if (target) return at + 1 + target[0].length;
      if (this.lastBreak < at) return image ? this.cutAt(opening - 1) : this.unlink(opening, at);
    }
    if (after === "" && !HALF_MARK.test(this.text.slice(opening, at))) {
      return image ? this.cutAt(opening - 1) : this.unlink(opening, at);
    }
    return at + 1;
  }

  /** Only the text of a link whose target is not whole yet. */
  private unlink(opening: number, close: number): number {
    this.cut = true;
    this.text = this.text.slice(0, opening) + this.text.slice(opening + 1, close);
    for (const one of this.open) if (one.at > opening) one.at -= 1;
    return this.text.length;
  }

  private endBrackets(): void {
    const opening = this.brackets.pop();
    if (opening === undefined || this.text.length - opening > LONGEST_HELD) return;
    const rest = this.text.slice(opening);
    const image = this.text[opening - 1] === "!";
    if (HALF_MARK.test(rest) || image) this.cutAt(image ? opening - 1 : opening);
    else this.unlink(opening, this.text.length);
  }

  private tag(at: number): number {
    const rest = this.text.slice(at);
    return /^<[a-z/!][^<>\n]{0,200}$/i.test(rest) || rest === "<" ? this.cutAt(at) : at + 1;
  }

  private cutAt(at: number): number {
    this.cut = true;
    this.text = this.text.slice(0, at);
    this.open = this.open.filter((one) => one.at < at);
    return at;
  }

  private closed(): string {
    if (this.open.length > MOST_OPEN) return this.text;
    let text = this.text;
    let closing = this.closing;
    while (this.open.length > 0) {
      const one = this.open.pop() as Open;
      const trimmed = text.trimEnd();
      if (one.at + one.sign.length >= trimmed.length && closing === "") text = text.slice(0, one.at);
      else closing += one.sign;
    }
    if (text.length < this.text.length) this.cut = true;
    return closing ? text.trimEnd() + closing : text;
  }
}

function runAt(text: string, at: number): string {
  let end = at + 1;
  while (text[end] === text[at]) end++;
  return text.slice(at, end);
}
