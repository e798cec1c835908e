import type { List, Nodes, RootContent, Table } from "mdast";

/**
 * A list or table that has become long while it grows: its first items or rows are kept, so that only the last ones are
 * read again. `head` has what is kept, `prefix` is what must stand before the rest for it to be read as the same.
 */
export interface Resumed {
  readonly head: List | Table;
  readonly prefix: string;
}

const FEW = 4;

/** Where a long block can be cut, and what is then kept of it. `joined` is the whole block, `read` what was just read. */
export function cut(read: RootContent, joined: RootContent, source: string): (Resumed & { at: number }) | null {
  if ((read.type !== "list" && read.type !== "table") || joined.type !== read.type) return null;
  const parts: readonly Nodes[] = read.children;
  if (parts.length < FEW) return null;
  const at = parts[parts.length - 2]?.position?.start.offset ?? 0;
  // One that is set in is part of what its white space means.
  if (source[at - 1] !== "\n" || read.position?.start.column !== 1) return null;
  const head = { ...joined, children: joined.children.slice(0, -2) } as List | Table;
  return { head, prefix: read.type === "table" ? source.slice(offset(read), offset(parts[1])) : "", at };
}

/** What is kept and what was read after it as the one block that they are. */
export function join(resumed: Resumed, read: RootContent): RootContent | null {
  const { head } = resumed;
  if (head.type === "list" && read.type === "list" && head.ordered === read.ordered) {
    const spread = head.spread === true || read.spread === true;
    return { ...read, start: head.start, spread, children: [...head.children, ...read.children] };
  }
  if (head.type === "table" && read.type === "table") {
    return { ...read, children: [...head.children, ...read.children.slice(1)] };
  }
  return null;
}

function offset(node: Nodes | undefined): number {
  return node?.position?.start.offset ?? 0;
}
