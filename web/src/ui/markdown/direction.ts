import type { Nodes } from "mdast";

const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;

/** How the first letter in it is written. `dir="auto"` looks past whatever has a direction of its own, and so would find
 * nothing in a list or a table, whose items have. */
export function directionOf(node: Nodes): "rtl" | "ltr" {
  return RIGHT_TO_LEFT.test(firstLetter(node) ?? "") ? "rtl" : "ltr";
}

function firstLetter(node: Nodes): string | null {
  if (node.type === "text") return /\p{L}/u.exec(node.value)?.[0] ?? null;
  if (!("children" in node)) return null;
  for (const child of node.children) {
    const letter = firstLetter(child);
    if (letter !== null) return letter;
  }
  return null;
}
