/** The judged statements of a text, and where they stand in its tree. */

import type { Nodes, Parent, PhrasingContent, RootContent, Text } from "mdast";
import { Offsets } from "../../lib/offsets";
import type { Citation, Verdict } from "../../protocol/events.gen";

/** Of a statement with several footnotes the best verdict counts. The server counts by the same order. */
export const BEST_FIRST = ["supported", "partial", "contradicted", "unsupported", "unread", "uncited"] as const;

/** A statement with all of its footnotes, or without one. The offsets are those of its citations, in code points. */
export interface Statement {
  /** It names the statement within its text. */
  key: string;
  start: number;
  end: number;
  verdict: Verdict;
  citations: readonly Citation[];
}

/** A part of a statement as a node of the tree. The footnotes behind it stand beside it, not in it. */
export interface StatementPart extends Parent {
  type: "statement";
  children: PhrasingContent[];
  statement: Statement;
  /** What is shown behind a statement stands behind its last part. */
  isLast: boolean;
}

declare module "mdast" {
  interface RootContentMap {
    statement: StatementPart;
  }
  interface PhrasingContentMap {
    statement: StatementPart;
  }
}

export function keyOf({ start, end }: Pick<Citation, "start" | "end">): string {
  return `${start}-${end}`;
}

const grouped = new WeakMap<readonly Citation[], readonly Statement[]>();

/** One for each sentence, in the order of the text. The same citations have the same statements, for all who ask. */
export function statementsOf(citations: readonly Citation[]): readonly Statement[] {
  const known = grouped.get(citations) ?? groupedBySentence(citations);
  grouped.set(citations, known);
  return known;
}

function groupedBySentence(citations: readonly Citation[]): readonly Statement[] {
  const found = new Map<string, Citation[]>();
  for (const citation of citations) {
    const key = keyOf(citation);
    const known = found.get(key);
    if (known) known.push(citation);
    else found.set(key, [citation]);
  }
  const statements = [...found].map(([key, all]): Statement => {
    const { start, end } = all[0] as Citation;
    return { key, start, end, verdict: verdictOf(all), citations: all };
  });
  return statements.sort((one, other) => one.start - other.start || one.end - other.end);
}

function verdictOf(citations: readonly Citation[]): Verdict {
  const has = (verdict: Verdict) => citations.some((one) => one.verdict === verdict);
  // What one of its sources contradicts is not undone by another source that supports it.
  return has("contradicted") ? "contradicted" : (BEST_FIRST.find(has) ?? "unsupported");
}

/** A statement by the places of the string. */
interface Placed {
  statement: Statement;
  start: number;
  end: number;
}

/**
 * The same blocks with the judged statements as nodes. A block without one is the same object, so that it is not drawn
 * again. A sentence is cut where its footnotes stand, where markup begins or ends within it, and between the cells of a row.
 */
export function withStatements(
  blocks: readonly RootContent[],
  statements: readonly Statement[],
  text: string,
): readonly RootContent[] {
  if (statements.length === 0) return blocks;
  const offsets = new Offsets(text);
  const placed: Placed[] = [];
  for (const statement of statements) {
    const [start, end] = [offsets.unit(statement.start), offsets.unit(statement.end)];
    // Sentences do not overlap; a text that is not the one that was judged must not break the tree.
    if (end > start && start >= (placed.at(-1)?.end ?? 0)) placed.push({ statement, start, end });
  }
  return new Marker(placed, text).mark(blocks);
}

/** What stands in a line, and the statement that it belongs to. */
interface Piece {
  node: PhrasingContent;
  of: Placed | null;
}

/** Nodes deeper than this are text already. */
const DEEPEST = 70;

class Marker {
  private readonly last = new Map<Statement, StatementPart>();

  constructor(
    private readonly placed: readonly Placed[],
    private readonly text: string,
  ) {}

  mark(blocks: readonly RootContent[]): readonly RootContent[] {
    const marked = blocks.map((block) => this.within(block, 0));
    for (const part of this.last.values()) part.isLast = true;
    return marked;
  }

  private within<N extends Nodes>(node: N, depth: number): N {
    if (!("children" in node) || depth > DEEPEST || !this.touches(node)) return node;
    const isLine = node.type === "paragraph" || node.type === "tableCell" || node.type === "heading";
    const children = isLine
      ? this.line(node.children)
      : (node.children as Nodes[]).map((child) => this.within(child, depth + 1));
    return { ...node, children } as N;
  }

  private touches(node: Nodes): boolean {
    const { start, end } = rangeOf(node);
    const first = this.placed[this.firstEndingAfter(start)];
    return first !== undefined && first.start < end;
  }

  private firstEndingAfter(place: number): number {
    let [low, high] = [0, this.placed.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.placed[middle]?.end ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** What stands in a line, with each run of nodes that belong to one statement as a part of it. */
  private line(nodes: readonly PhrasingContent[]): PhrasingContent[] {
    const out: PhrasingContent[] = [];
    const pieces = nodes.flatMap((node) => this.pieces(node));
    for (let at = 0; at < pieces.length; ) {
      const { of, node } = pieces[at] as Piece;
      let next = at + 1;
      while (of && pieces[next]?.of === of) next += 1;
      const run = pieces.slice(at, next).map((piece) => piece.node);
      out.push(...(of ? this.part(of, run) : [node]));
      at = next;
    }
    return out;
  }

  private pieces(node: PhrasingContent): Piece[] {
    if (node.type === "footnoteMark" || node.type === "footnoteReference") return [{ node, of: null }];
    const { start, end } = rangeOf(node);
    const first = this.placed[this.firstEndingAfter(start)];
    if (!first || first.start >= end) return [{ node, of: null }];
    if (first.start <= start && end <= first.end && !hasMark(node)) return [{ node, of: first }];
    if (node.type === "text") return this.cutText(node);
    if (!("children" in node)) return [{ node, of: null }];
    return [{ node: { ...node, children: this.line(node.children) } as PhrasingContent, of: null }];
  }

  /** A text that belongs to several statements, or only partly to one. */
  private cutText(node: Text): Piece[] {
    const { start, end } = rangeOf(node);
    const indexOf = alignment(this.text.slice(start, end), node.value);
    const pieces: Piece[] = [];
    let done = 0;
    const add = (until: number, of: Placed | null) => {
      if (until > done) pieces.push({ node: { ...node, value: node.value.slice(done, until) }, of });
      done = Math.max(done, until);
    };
    for (let at = this.firstEndingAfter(start); at < this.placed.length; at++) {
      const one = this.placed[at] as Placed;
      if (one.start >= end) break;
      add(indexOf(one.start - start), null);
      add(indexOf(one.end - start), one);
    }
    add(node.value.length, null);
    return pieces;
  }

  /** Space around the words, and punctuation that belongs to a footnote before it, are left outside. */
  private part(of: Placed, children: PhrasingContent[]): PhrasingContent[] {
    let inner = children;
    const around: { before: Text[]; after: Text[] } = { before: [], after: [] };
    const first = inner[0];
    if (first?.type === "text") {
      const [sign, words] = parted(first, PUNCTUATION.exec(first.value)?.[0].length ?? 0);
      around.before = sign;
      inner = [...words, ...inner.slice(1)];
    }
    const last = inner.at(-1);
    if (last?.type === "text") {
      const [words, space] = parted(last, last.value.trimEnd().length);
      around.after = space;
      inner = [...inner.slice(0, -1), ...words];
    }
    if (inner.length === 0) return [...around.before, ...around.after];
    const part: StatementPart = { type: "statement", children: inner, statement: of.statement, isLast: false };
    this.last.set(of.statement, part);
    return [...around.before, part, ...around.after];
  }
}

/** Signs that end a sentence or a clause, with the space behind them. */
const PUNCTUATION = /^[.,;:!?…‥。，；：！？、．)\]}’”»›）］｝」』】》〉]*\s*/u;

/** A text cut in two, without what is empty. */
function parted(node: Text, at: number): [Text[], Text[]] {
  const part = (value: string): Text[] => (value === "" ? [] : [{ ...node, value }]);
  return [part(node.value.slice(0, at)), part(node.value.slice(at))];
}

function hasMark(node: Nodes): boolean {
  if (node.type === "footnoteMark" || node.type === "footnoteReference") return true;
  return "children" in node && node.children.some(hasMark);
}

function rangeOf({ position }: Pick<Nodes, "position">): { start: number; end: number } {
  return { start: position?.start.offset ?? 0, end: position?.end.offset ?? 0 };
}

const ENTITY = /^&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});/;

/**
 * Where a place of the source is in the value of its text. They differ where the source has a backslash, an entity, or the
 * signs of a quotation at the beginning of a line.
 */
export function alignment(source: string, value: string): (place: number) => number {
  if (source === value) return (place) => Math.max(0, Math.min(place, value.length));
  const starts = new Int32Array(source.length + 1);
  let read = 0;
  let at = 0;
  while (at < source.length) {
    starts[at] = read;
    if (source[at] === value[read] && !(source[at] === "\\" && isEscape(source, at, value, read))) {
      at += 1;
      read += 1;
      continue;
    }
    const entity = source[at] === "&" ? ENTITY.exec(source.slice(at, at + 40))?.[0] : undefined;
    if (entity) {
      starts.fill(read, at, at + entity.length);
      at += entity.length;
      const low = value.charCodeAt(read + 1);
      read += low >= 0xdc00 && low < 0xe000 ? 2 : 1;
    } else at += 1;
  }
  starts[source.length] = value.length;
  return (place) => Math.min(value.length, starts[Math.max(0, Math.min(place, source.length))] ?? value.length);
}

/** A backslash before a sign of the text is none of it, unless the text has the backslash too. */
function isEscape(source: string, at: number, value: string, read: number): boolean {
  return source[at + 1] !== value[read + 1] && source[at + 1] === value[read];
}
