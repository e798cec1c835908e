import type { PhrasingContent } from "mdast";
import type { Mark } from "./tree";

/** Markers that stand behind the same words, with what is written between them and the punctuation behind the last. */
export interface MarkRun {
  /** The white space before the first marker. */
  space: string;
  /** Each marker, and the white space between it and the one before. */
  marks: readonly { node: Mark; gap: string }[];
  punctuation: string;
}

/** What a line is drawn from: its nodes, and its markers in runs. */
export type LinePart = { node: PhrasingContent } | { run: MarkRun };

/** Signs that may not begin a line: those that end a sentence or a clause, closing brackets and quotation marks. */
const PUNCTUATION = /^(?:[.,;:!?…‥。，；：！？、．)\]}’”»›）］｝」』】》〉](?!\d))+/u;

/** The markers of a line with what must stay on the same line as they do. */
export function linePartsOf(nodes: readonly PhrasingContent[]): LinePart[] {
  const parts: LinePart[] = [];
  /** How much of the next text stands in the run before it. */
  let taken = 0;
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at] as PhrasingContent;
    const text = node.type === "text" ? node.value.slice(taken) : "";
    const first = node.type === "text" ? at + 1 : at;
    taken = 0;
    if (nodes[first]?.type === "footnoteMark") {
      const words = text.trimEnd();
      const space = text.slice(words.length);
      parts.push(...partOf(node, words));
      const { run, next } = runFrom(nodes, first, space);
      parts.push({ run });
      at = next - 1;
      taken = run.punctuation.length;
    } else parts.push(...partOf(node, text));
  }
  return parts;
}

/** A node; of one that is text as much as is left of it. */
function partOf(node: PhrasingContent, text: string): LinePart[] {
  if (node.type === "footnoteMark" || (node.type === "text" && text === "")) return [];
  return [{ node: node.type === "text" && text !== node.value ? { ...node, value: text } : node }];
}

function runFrom(nodes: readonly PhrasingContent[], first: number, space: string): { run: MarkRun; next: number } {
  const marks = [{ node: nodes[first] as Mark, gap: "" }];
  let next = first + 1;
  for (;;) {
    const between = nodes[next];
    const gap = between?.type === "text" && between.value.trim() === "" ? between.value : "";
    const mark = nodes[gap === "" ? next : next + 1];
    if (mark?.type !== "footnoteMark") break;
    marks.push({ node: mark, gap });
    next += gap === "" ? 1 : 2;
  }
  const behind = nodes[next];
  const punctuation = behind?.type === "text" ? (PUNCTUATION.exec(behind.value)?.[0] ?? "") : "";
  return { run: { space, marks, punctuation }, next };
}
