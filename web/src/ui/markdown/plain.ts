import type { Nodes } from "mdast";
import { rootOf } from "./tree";

/** The text of a node as it is read, without markup. */
export function textOf(node: Nodes): string {
  if (node.type === "break") return "\n";
  if (node.type === "html") return /^<br\s*\/?>$/i.test(node.value) ? "\n" : node.value;
  if (node.type === "image") return node.alt ?? "";
  if ("value" in node) return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}

const LONGEST = 4000;

const BLOCKS = new Set<Nodes["type"]>(["paragraph", "heading", "tableCell", "code"]);
const LEFT_OUT = new Set<Nodes["type"]>(["code", "footnoteMark", "html", "footnoteReference"]);

/** The beginning of a text in one line, for titles and notifications: without markup, markers, code and notes. */
export function plainText(markdown: string): string {
  return said(markdown, LEFT_OUT).replace(/ (?=[.,;:!?。，；：！？])/g, "");
}

/** A passage of a text in one line: all its words, its code and its own numbers, without markup. */
export function readableText(markdown: string): string {
  // What is cut out of a text may have the one half of a pair.
  return said(markdown, new Set()).replace(/(?<=\S)(?:\*\*|~~)|(?:\*\*|~~)(?=\S)|`{3,}[\w-]* ?/g, "");
}

/** A statement as it is read: without the signs of markdown and without footnotes. */
export function sentenceText(sentence: string): string {
  const said = sentence.replace(/(?<!\\)[[【［]\^?\d+(?:\s*[-–,，、]\s*\^?\d+)*[\]】］](?!\()/g, "");
  return readableText(said).replace(/(?<!\s)\s+([.,;:!?。，；：！？])/g, "$1");
}

function said(markdown: string, leftOut: ReadonlySet<Nodes["type"]>): string {
  const parts: string[] = [];
  const visit = (node: Nodes): void => {
    if (leftOut.has(node.type) || node.type.endsWith("efinition")) return;
    if ("children" in node) for (const child of node.children) visit(child);
    else parts.push(node.type === "footnoteReference" ? `[^${node.label}]` : textOf(node));
    if (BLOCKS.has(node.type)) parts.push(" ");
  };
  visit(rootOf(markdown.slice(0, LONGEST)));
  return parts.join("").replace(/\s+/g, " ").trim();
}
