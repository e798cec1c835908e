/** The lines of a unified diff, each with its numbers before and after. */

export interface DiffLine {
  kind: "same" | "added" | "removed" | "hunk" | "note";
  before: number | null;
  after: number | null;
  text: string;
}

/** The versions that are compared at first: the one that is looked at with the one before; the first with the second. */
export function comparedAtFirst(looked: number, numbers: readonly number[]): { from: number; to: number } {
  const earlier = numbers.filter((number) => number < looked);
  if (earlier.length > 0) return { from: Math.max(...earlier), to: looked };
  const later = numbers.filter((number) => number > looked);
  return { from: looked, to: later.length > 0 ? Math.min(...later) : looked };
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function linesOf(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inside = false;
  for (const row of diff.split("\n")) {
    const hunk = HUNK.exec(row);
    if (hunk) {
      inside = true;
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      lines.push({ kind: "hunk", before: null, after: null, text: row });
    } else if (!inside || row === "") {
      // The names of both versions stand before the first hunk; nothing but the end of the diff is empty.
    } else if (row.startsWith("+")) {
      lines.push({ kind: "added", before: null, after, text: row.slice(1) });
      after += 1;
    } else if (row.startsWith("-")) {
      lines.push({ kind: "removed", before, after: null, text: row.slice(1) });
      before += 1;
    } else if (row.startsWith("\\")) {
      lines.push({ kind: "note", before: null, after: null, text: row.slice(2) });
    } else {
      lines.push({ kind: "same", before, after, text: row.slice(1) });
      before += 1;
      after += 1;
    }
  }
  return lines;
}
