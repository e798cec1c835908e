/** JSON with its lines broken and indented, and nothing else changed: numbers keep all their digits, names their order.
 * Null: it is none. */
export function indented(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let depth = 0;
  const parts = [...text.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/gs)].map(([part]) => part);
  const pieces = parts.map((part, index) => {
    const next = parts[index + 1];
    if (part === "{" || part === "[") {
      if (next === "}" || next === "]") return part;
      depth += 1;
      return part + fresh(depth);
    }
    if (part === ",") return part + fresh(depth);
    if (part === ":") return ": ";
    if (next !== "}" && next !== "]") return part;
    depth -= 1;
    return part + fresh(depth);
  });
  return pieces.join("");
}

function fresh(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}
