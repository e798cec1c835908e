import type {
  Definition,
  FootnoteDefinition,
  Literal,
  Nodes,
  Parents,
  PhrasingContent,
  Root,
  RootContent,
  Text,
} from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { cjkFriendlyExtension } from "micromark-extension-cjk-friendly";
import { gfmStrikethroughCjkFriendly } from "micromark-extension-cjk-friendly-gfm-strikethrough";
import { gfm } from "micromark-extension-gfm";
import { rank } from "./headings";
import type { Construct, Syntax } from "./syntax/construct";
import { markSyntax, markTree, numbersOf } from "./syntax/mark";
import { mathSyntax, mathTree } from "./syntax/math";

/**
 * `[1]` in a text. `start` is its offset in UTF-16 units. If the text itself defines something of that name, `link` is
 * where it leads to, `note` the footnote that it is.
 */
export interface Mark extends Literal {
  type: "footnoteMark";
  start?: number;
  numbers?: readonly number[];
  link?: string;
  note?: string;
}

interface Formula extends Literal {
  source?: string;
  display?: boolean;
  closed?: boolean;
}

interface BlockFormula extends Formula {
  type: "math";
}

interface InlineFormula extends Formula {
  type: "inlineMath";
}

declare module "mdast" {
  interface RootContentMap {
    footnoteMark: Mark;
    math: BlockFormula;
    inlineMath: InlineFormula;
  }
  interface PhrasingContentMap {
    footnoteMark: Mark;
    inlineMath: InlineFormula;
  }
  interface BlockContentMap {
    math: BlockFormula;
  }
  interface CodeData {
    /** Its closing fence has not been written yet. */
    open?: boolean;
  }
}

export interface Document {
  readonly blocks: readonly RootContent[];
  readonly marks: readonly Mark[];
  /** Footnotes that the text defines itself, by their name. */
  readonly notes: ReadonlyMap<string, FootnoteDefinition>;
}

const extensions = [withoutMail(gfm()), cjkFriendlyExtension(), gfmStrikethroughCjkFriendly(), mathSyntax, markSyntax];
// What looks for addresses in the finished tree goes over every text again; the syntax has found those of the web.
const mdastExtensions = [...gfmFromMarkdown().map(({ transforms: _, ...extension }) => extension), mathTree, markTree];

/** Addresses of mail can begin with any letter, so that the tokenizer would stop at each. They are found afterwards. */
function withoutMail(syntax: Syntax): Syntax {
  const text: NonNullable<Syntax["text"]> = {};
  for (const [code, constructs] of Object.entries(syntax.text ?? {})) {
    const kept = [constructs].flat().filter((construct) => construct?.name !== "emailAutolink");
    if (kept.length > 0) text[code] = kept as Construct[];
  }
  return { ...syntax, text };
}

const MAIL = /(?<![\w.+/-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[\w-]*[A-Za-z](?![\w@-])/g;

/** A text with addresses of mail in it as what it consists of. */
function withMail(node: Text): PhrasingContent[] {
  const parts: PhrasingContent[] = [];
  let end = 0;
  for (const found of node.value.matchAll(MAIL)) {
    const [address] = found;
    if (found.index > end) parts.push(textIn(node, end, found.index));
    const inside = textIn(node, found.index, found.index + address.length);
    const { position } = inside;
    parts.push({
      type: "link",
      url: `mailto:${address}`,
      title: null,
      children: [inside],
      ...(position && { position }),
    });
    end = found.index + address.length;
  }
  if (end === 0) return [node];
  if (end < node.value.length) parts.push(textIn(node, end, node.value.length));
  return parts;
}

/** A part of a text, at its place. Where the source is written in another way than the text, the place is that of all of it. */
function textIn({ value, position }: Text, start: number, end: number): Text {
  const part: Text = { type: "text", value: value.slice(start, end) };
  if (!position) return part;
  const [from, to] = [position.start.offset ?? 0, position.end.offset ?? 0];
  if (to - from !== value.length) return { ...part, position };
  const at = (offset: number) => ({ ...position.start, offset: from + offset });
  return { ...part, position: { start: at(start), end: at(end) } };
}

export function rootOf(source: string): Root {
  return fromMarkdown(source, { extensions, mdastExtensions });
}

/** A markdown text as a tree in which links by reference are links, and every marker knows its numbers. */
export function parse(source: string): Document {
  const root = rootOf(source);
  const found = new Finder(source);
  found.collect(root);
  found.settle(root);
  rank(root.children, 0);
  return { blocks: root.children, marks: found.marks, notes: found.notes };
}

const CODE_NAME = /^(?:[^\W_]*_\w*|[a-z]\d*|arr|argv|args|buf|idx|lst|ptr|str|tmp|vec|xs)$/;
const CODE_AFTER = /^(?:\s?(?:[+*/%-]?=|\+\+|--|->)|\.[a-z]+\(|\[(?!\^?\d))/;

/** What lies deeper than anybody writes is shown as it was written. */
const DEEPEST = 60;

class Finder {
  readonly marks: Mark[] = [];
  readonly notes = new Map<string, FootnoteDefinition>();
  private readonly definitions = new Map<string, Definition>();

  constructor(private readonly source: string) {}

  /** Definitions first: they may come after what refers to them, and the first one counts. */
  collect(node: Nodes, depth = 0): void {
    if (node.type === "definition" && !this.definitions.has(node.identifier)) {
      this.definitions.set(node.identifier, node);
    } else if (node.type === "footnoteDefinition" && !this.notes.has(node.identifier)) {
      this.notes.set(node.identifier, node);
    }
    if ("children" in node && depth < DEEPEST) for (const child of node.children) this.collect(child, depth + 1);
  }

  settle(parent: Parents, inLink = false, depth = 0): void {
    if (depth > DEEPEST) {
      parent.children = [{ type: "text", value: this.written(parent) }];
      return;
    }
    let children = parent.children as Nodes[];
    if (!inLink && children.some((child) => child.type === "text" && child.value.includes("@"))) {
      children = children.flatMap((child): Nodes[] => (child.type === "text" ? withMail(child) : [child]));
      parent.children = children as never;
    }
    for (let at = 0; at < children.length; at++) {
      const node = this.settled(children[at] as Nodes, inLink);
      children[at] = node;
      if ("children" in node) this.settle(node, inLink || node.type === "link", depth + 1);
    }
  }

  private written(node: Nodes): string {
    return this.source.slice(node.position?.start.offset, node.position?.end.offset);
  }

  private settled(node: Nodes, inLink: boolean): Nodes {
    if (node.type === "footnoteMark") return this.mark(node, inLink);
    if (node.type !== "linkReference" && node.type !== "imageReference") return node;
    const definition = this.definitions.get(node.identifier);
    const url = definition?.url ?? "";
    const title = definition?.title ?? null;
    const position = node.position;
    if (node.type === "imageReference") return { type: "image", url, title, alt: node.alt ?? "", position };
    return { type: "link", url, title, children: node.children, position };
  }

  private mark(node: Mark, inLink: boolean): Nodes {
    const start = node.position?.start.offset ?? 0;
    const numbers = inLink || this.isIndex(node.value, start) ? [] : numbersOf(node.value);
    const name = node.value.slice(1, -1).trim();
    const link = inLink ? undefined : this.definitions.get(name)?.url;
    const note = !inLink && name.startsWith("^") && this.notes.has(name.slice(1)) ? name.slice(1) : undefined;
    if (numbers.length === 0 && link === undefined && note === undefined) {
      return { type: "text", value: node.value, position: node.position };
    }
    this.marks.push(node);
    return Object.assign(node, { start, numbers, link, note });
  }

  /** `a[1]` in a text about programs. */
  private isIndex(marker: string, start: number): boolean {
    if (!marker.startsWith("[")) return false;
    const before = /[A-Za-z0-9_]{1,40}$/.exec(this.source.slice(Math.max(0, start - 40), start));
    if (!before) return false;
    return (
      CODE_NAME.test(before[0]) || CODE_AFTER.test(this.source.slice(start + marker.length, start + marker.length + 60))
    );
  }
}
