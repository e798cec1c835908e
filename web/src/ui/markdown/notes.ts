import type { FootnoteDefinition, Nodes } from "mdast";
import type { Document, Mark } from "./tree";

/** The footnotes that a text has of its own, in the order in which it refers to them. Those that are all named by numbers
 * keep them: the text may speak of note 3. Others are counted. */
export interface Notes {
  readonly listed: readonly FootnoteDefinition[];
  numberOf(name: string): number | null;
  /** Whether a node is the first that refers to its footnote: that is where the way back leads. */
  isFirst(node: Nodes): boolean;
}

const NONE: Notes = { listed: [], numberOf: () => null, isFirst: () => false };

/** `isSource` says of a marker or a definition that it is a source of the session, and no footnote of the text. */
export function notesOf(document: Document, isSource: (name: string, mark: Mark | null) => boolean): Notes {
  if (document.notes.size === 0) return NONE;
  const order: string[] = [];
  const first = new Set<Nodes>();
  const refer = (node: Nodes, name: string) => {
    if (order.includes(name) || !document.notes.has(name)) return;
    order.push(name);
    first.add(node);
  };
  const visit = (node: Nodes) => {
    if (node.type === "footnoteReference") refer(node, node.identifier);
    else if (node.type === "footnoteMark" && node.note && !isSource(node.note, node)) refer(node, node.note);
    else if ("children" in node) for (const child of node.children) visit(child);
  };
  for (const block of document.blocks) if (block.type !== "footnoteDefinition") visit(block);
  for (const block of document.notes.values()) visit(block);
  // One that nothing refers to is still something that was written.
  for (const name of document.notes.keys()) if (!order.includes(name) && !isSource(name, null)) order.push(name);
  const areNumbers = order.every((name) => /^[1-9]\d{0,5}$/.test(name));
  const listed = order.map((name) => document.notes.get(name)).filter((note) => note !== undefined);
  return {
    listed,
    numberOf: (name) => {
      if (!order.includes(name)) return null;
      return areNumbers ? Number(name) : order.indexOf(name) + 1;
    },
    isFirst: (node) => first.has(node),
  };
}
