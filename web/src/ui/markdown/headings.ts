import type { Nodes } from "mdast";

declare module "mdast" {
  interface HeadingData {
    rank?: number;
  }
}

/**
 * How deep each heading stands, by those before it: a text that begins with `###`, or goes from `#` to `####`, skips no
 * level for whoever reads by headings. Gives the last rank, from which the next part of a text goes on.
 */
export function rank(nodes: readonly Nodes[], before: number): number {
  let last = before;
  for (const node of nodes) {
    if (node.type === "heading") {
      last = Math.min(node.depth, last + 1);
      node.data = { ...node.data, rank: last };
    } else if (node.type === "blockquote" || node.type === "list" || node.type === "listItem") {
      last = rank(node.children, last);
    }
  }
  return last;
}
