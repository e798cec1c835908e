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

/** The beginning of a text in one line, for titles and notifications: without markup, markers, code and notes. */
export function plainText(markdown: string): string {
  const parts: string[] = [];
  const visit = (node: Nodes): void => {
    if (node.type === "code" || node.type === "footnoteMark" || node.type.endsWith("efinition")) return;
    if (node.type === "html" || node.type === "footnoteReference") return;
    if ("children" in node) {
      for (const child of node.children) visit(child);
      if (node.type === "paragraph" || node.type === "heading" || node.type === "tableCell") parts.push(" ");
    } else parts.push(textOf(node));
  };
  visit(rootOf(markdown.slice(0, LONGEST)));
  return parts
    .join("")
    .replace(/\s+/g, " ")
    .replace(/ (?=[.,;:!?。，；：！？])/g, "")
    .trim();
}
