import type { Code, FootnoteDefinition, Nodes, RootContent, Text } from "mdast";
import { rank } from "./headings";
import { cut, join, type Resumed } from "./longBlocks";
import { repair } from "./repair";
import { type Document, parse } from "./tree";

/** Signs that may change what stands before them. Whatever has none of them only makes the last text longer. */
const NOT_PLAIN = /[\n\r\\`*_~[\]<>&$|@/#^=【】［］]/;
/** The beginning of an address or an entity, which letters behind it are part of. */
const GROWS_A_LINK = /[@/&]|www/i;
const LONGEST_WORD = 300;
const CLOSING_FENCE = /^ {0,3}(`+|~+)[ \t]*$/;

/** Citations come with the end of a text. Always the same object, so that no marker is drawn again for it. */
const NONE: Document["marks"] = [];

interface Grown {
  readonly text: string;
  readonly path: readonly Nodes[];
  /** How much white space stands behind the last text. */
  readonly gap: string;
}

interface Fence {
  /** The run of signs that opened it: at least as many of them close it. */
  readonly run: string;
  readonly node: Code;
  readonly start: number;
}

/**
 * A markdown text that grows at its end.
 *
 * Blocks that can no longer change are kept: they are the same objects as before, and not read again. What is read
 * again is the last block, with the one before it where that is not surely done, and of a long list or table only the
 * end; and most often not even that, because the text goes on with plain words or with more code.
 */
export class IncrementalDocument {
  private text = "";
  private frozenAt = 0;
  private frozen: RootContent[] = [];
  /** Of the last heading among them. */
  private frozenRank = 0;
  private resumed: Resumed | null = null;
  private tail: readonly RootContent[] = [];
  /** The tail as it was read last, and from what. */
  private blocks: readonly RootContent[] = [];
  private healed = "";
  private leaf: Grown | null = null;
  private fence: Fence | null = null;
  private document: Document = { blocks: [], marks: NONE, notes: new Map() };

  grow(text: string): Document {
    if (text === this.text) return this.document;
    // Comparing two strings is much faster than `startsWith`, and this is done with every piece of a long text.
    const grew = text.slice(0, this.text.length) === this.text;
    if (!grew) this.forget();
    const changed = !(grew && (this.addPlain(text.slice(this.text.length)) || this.addCode(text)));
    this.text = text;
    if (changed) this.read();
    const blocks = this.frozen.length > 0 ? this.frozen.concat(this.tail) : this.tail;
    this.document = { blocks, marks: NONE, notes: notesOf(blocks) };
    return this.document;
  }

  private forget(): void {
    this.frozenAt = 0;
    this.frozen = [];
    this.frozenRank = 0;
    this.resumed = null;
    this.blocks = [];
    this.healed = "";
  }

  private get prefix(): string {
    return this.resumed?.prefix ?? "";
  }

  private read(): void {
    const source = this.prefix + this.text.slice(this.frozenAt);
    const { text, whole, inFence } = repair(source);
    const old = this.blocks;
    this.blocks = parse(text).blocks.map((block, at) => shared(block, old[at], text, this.healed));
    this.healed = text;
    this.tail = this.joined();
    rank(this.tail, this.frozenRank);
    this.leaf = whole ? leafOf(this.tail, source) : null;
    this.fence = null;
    if (inFence) this.openFence(source);
    this.freeze(text);
  }

  private joined(): readonly RootContent[] {
    const [first, ...rest] = this.blocks;
    if (!this.resumed) return this.blocks;
    const whole = first && join(this.resumed, first);
    return whole ? [whole, ...rest] : [this.resumed.head, ...this.blocks];
  }

  /** Keeps what is done: all but the last block if a new one has surely begun, otherwise all but the last two. */
  private freeze(source: string): void {
    const last = this.tail.length - 1;
    const keep = last > 0 && beginsAnew(this.tail[last], this.tail[last - 1], source) ? 1 : 2;
    const count = this.tail.length - keep;
    if (count > 0) {
      this.frozenRank = rank(this.tail.slice(0, count), this.frozenRank);
      this.frozen = this.frozen.concat(this.tail.slice(0, count));
      this.tail = this.tail.slice(count);
      this.goOnAt(source.lastIndexOf("\n", offsetOf(this.tail[0]) - 1) + 1, null);
    } else if (this.blocks.length === 1 && this.tail.length === 1) {
      const found = cut(this.blocks[0] as RootContent, this.tail[0] as RootContent, source);
      if (found) this.goOnAt(found.at, found);
    }
  }

  private goOnAt(at: number, resumed: Resumed | null): void {
    const moved = at - this.prefix.length;
    this.frozenAt += moved;
    if (this.fence) this.fence = { ...this.fence, start: this.fence.start - at };
    this.resumed = resumed;
    // Places count from where the tail began, and it now begins elsewhere.
    this.blocks = [];
    this.healed = "";
  }

  private addPlain(added: string): boolean {
    const leaf = this.leaf;
    if (!leaf || NOT_PLAIN.test(added)) return false;
    const word = /(?<!\S)\S*$/.exec(this.text.slice(-LONGEST_WORD))?.[0] ?? "";
    if (GROWS_A_LINK.test(word + added)) return false;
    const whole = leaf.text + leaf.gap + added;
    const text = whole.trimEnd();
    this.leaf = { text, gap: whole.slice(text.length), path: withText(leaf.path, text) };
    this.tail = [...this.tail.slice(0, -1), this.leaf.path[0] as RootContent];
    return true;
  }

  private openFence(source: string): void {
    const block = this.tail[this.tail.length - 1];
    const code = lastLeaf(block);
    if (code?.type !== "code") return;
    code.data = { ...code.data, open: true };
    if (code !== block) return;
    const at = offsetOf(block);
    const opening = /^(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n/.exec(source.slice(at));
    if (!opening || (at > 0 && source[at - 1] !== "\n")) return;
    const [line, run = ""] = opening;
    this.fence = { run, node: code, start: at + line.length };
  }

  private addCode(text: string): boolean {
    const fence = this.fence;
    if (!fence) return false;
    const start = this.frozenAt - this.prefix.length + fence.start;
    let at = Math.max(start, this.text.lastIndexOf("\n") + 1);
    while (at <= text.length) {
      const end = text.indexOf("\n", at);
      const closing = CLOSING_FENCE.exec(text.slice(at, end < 0 ? undefined : end));
      if (closing?.[1]?.startsWith(fence.run)) return false;
      if (end < 0) break;
      at = end + 1;
    }
    const value = text
      .slice(start)
      .replace(/(?:^|\n) {0,3}(?:`+|~+)$/, "")
      .replace(/\n$/, "");
    const node: Code = { ...fence.node, value };
    this.fence = { ...fence, node };
    this.tail = [...this.tail.slice(0, -1), node];
    return true;
  }
}

function offsetOf(node: Nodes | undefined): number {
  return node?.position?.start.offset ?? 0;
}

function lastLeaf(node: Nodes | undefined): Nodes | undefined {
  let leaf = node;
  while (leaf && "children" in leaf && leaf.children.length > 0) leaf = leaf.children[leaf.children.length - 1];
  return leaf;
}

/** The last text with all that it stands in, if the source ends with it. */
function leafOf(blocks: readonly RootContent[], source: string): Grown | null {
  const path: Nodes[] = [];
  let node: Nodes | undefined = blocks[blocks.length - 1];
  while (node) {
    if (node.type === "link") return null;
    path.push(node);
    node = "children" in node ? node.children[node.children.length - 1] : undefined;
  }
  const leaf = path[path.length - 1];
  const end = source.trimEnd().length;
  if (leaf?.type !== "text" || leaf.position?.end.offset !== end) return null;
  const gap = source.slice(end);
  return /[^ ]/.test(gap) ? null : { text: leaf.value, path, gap };
}

/** The same path with another text at its end. All beside it stays the same object. */
function withText(path: readonly Nodes[], text: string): Nodes[] {
  const made: Nodes[] = [];
  let below: Nodes = { ...(path[path.length - 1] as Text), value: text };
  made.unshift(below);
  for (let at = path.length - 2; at >= 0; at--) {
    const node = path[at] as Nodes & { children: Nodes[] };
    below = { ...node, children: [...node.children.slice(0, -1), below] } as Nodes;
    made.unshift(below);
  }
  return made;
}

/** Whether a block cannot belong to the one before it any more. */
function beginsAnew(block: RootContent | undefined, before: RootContent | undefined, source: string): boolean {
  if (before?.type === "heading" || before?.type === "thematicBreak") return true;
  const at = offsetOf(block);
  return source.slice(at - 2, at) === "\n\n";
}

/** The node of the last reading if there is the same text at the same place, so that it need not be drawn again. */
function shared<N extends Nodes>(node: N, old: Nodes | undefined, source: string, oldSource: string): N {
  const now = node.position;
  const then = old?.position;
  if (!old || old.type !== node.type) return node;
  if (now && then && now.start.offset === then.start.offset) {
    const written = source.slice(now.start.offset, now.end.offset);
    if (written !== "" && written === oldSource.slice(then.start.offset, then.end.offset)) return old as N;
  }
  if ("children" in node && "children" in old) {
    const olds: readonly Nodes[] = old.children;
    node.children = (node.children as Nodes[]).map((child, at) => shared(child, olds[at], source, oldSource)) as never;
  }
  return node;
}

function notesOf(blocks: readonly RootContent[]): ReadonlyMap<string, FootnoteDefinition> {
  const notes = new Map<string, FootnoteDefinition>();
  for (const block of blocks) {
    if (block.type === "footnoteDefinition" && !notes.has(block.identifier)) notes.set(block.identifier, block);
  }
  return notes;
}
