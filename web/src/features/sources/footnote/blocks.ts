/** A text that was read, cut into blocks by its lines. Nothing is taken out or changed: every block is a range of the
 * text, so that a passage is marked exactly where it stands. Inside a line the text is plain already. */

import type { Range } from "./pieces";

export interface Block extends Range {
  kind: "heading" | "item" | "code" | "table" | "quote" | "rule" | "text";
  /** Of a heading 1 to 6; of an item how deep it lies. */
  level: number;
  /** How many characters are a sign rather than words: `## `, `- `, `> `. */
  sign: number;
  /** The rest of a block that was too long for one piece. */
  continued: boolean;
}

const LONGEST = 20_000;

const HEADING = /^ {0,3}(#{1,6})[ \t]+/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ITEM = /^([ \t]*)(?:[-*+•]|\d{1,9}[.)])[ \t]+/;
const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$/;
const TABLE = /^ {0,3}\|/;

export function blocksOf(text: string): Block[] {
  const scan = new Scan(text);
  return scan.run();
}

class Scan {
  private readonly found: Block[] = [];
  private open: Block | null = null;
  /** The sign that ends the code which is open. */
  private fence: string | null = null;

  constructor(private readonly text: string) {}

  run(): Block[] {
    for (let at = 0; at < this.text.length; ) {
      const newline = this.text.indexOf("\n", at);
      const end = newline < 0 ? this.text.length : newline;
      this.line(at, end);
      at = end + 1;
    }
    this.close();
    return this.found;
  }

  private line(start: number, end: number): void {
    // A line may be the whole of a page; its kind stands at its beginning.
    const line = this.text.slice(start, Math.min(end, start + 200));
    if (this.fence !== null) {
      this.extend(end);
      if (closes(line, this.fence)) this.close();
      return;
    }
    if (line.trim() === "" && end - start <= 200) {
      this.close();
      return;
    }
    this.fence = FENCE.exec(line)?.[1] ?? null;
    if (this.fence !== null) this.begin("code", start, end);
    else this.plain(line, start, end);
  }

  private plain(line: string, start: number, end: number): void {
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    const quote = QUOTE.exec(line);
    if (heading) {
      this.begin("heading", start, end, heading[1]?.length, heading[0].length);
      this.close();
    } else if (RULE.test(line)) {
      this.begin("rule", start, end);
      this.close();
    } else if (item) this.begin("item", start, end, depthOf(item[1] ?? ""), item[0].length);
    else if (TABLE.test(line)) this.join("table", start, end);
    else if (quote) this.join("quote", start, end, quote[0].length);
    else if (this.open?.kind === "item") this.extend(end);
    else this.join("text", start, end);
  }

  private begin(kind: Block["kind"], start: number, end: number, level = 0, sign = 0): void {
    const { fence } = this;
    this.close();
    this.fence = fence;
    this.open = { kind, start, end, level, sign, continued: false };
  }

  private join(kind: Block["kind"], start: number, end: number, sign = 0): void {
    if (this.open?.kind === kind) this.extend(end);
    else this.begin(kind, start, end, 0, sign);
  }

  private extend(end: number): void {
    if (this.open) this.open.end = end;
  }

  private close(): void {
    if (this.open) this.found.push(...shortened(this.text, this.open));
    this.open = null;
    this.fence = null;
  }
}

function closes(line: string, fence: string): boolean {
  const sign = line.trim();
  return sign.length >= fence.length && sign === fence.charAt(0).repeat(sign.length);
}

function depthOf(indent: string): number {
  return Math.min(6, Math.floor(indent.replaceAll("\t", "    ").length / 2));
}

/** In pieces that can be drawn one by one, each ending at a line or a space if there is one. */
function shortened(text: string, block: Block): Block[] {
  const pieces: Block[] = [];
  let { start } = block;
  while (block.end - start > LONGEST) {
    const end = breakBefore(text, start, start + LONGEST);
    pieces.push({ ...block, start, end, continued: start > block.start, sign: start > block.start ? 0 : block.sign });
    start = end;
  }
  const continued = start > block.start;
  pieces.push(continued ? { ...block, start, continued, sign: 0 } : block);
  return pieces;
}

function breakBefore(text: string, start: number, end: number): number {
  const line = text.lastIndexOf("\n", end - 1);
  if (line > start) return line + 1;
  const space = text.lastIndexOf(" ", end - 1);
  if (space > start) return space + 1;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}
