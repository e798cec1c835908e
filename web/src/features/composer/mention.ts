/** `@` and the beginning of a name, before the caret. */

import { fold } from "../../lib/fold";
import type { FileRecord } from "../../protocol/events.gen";

export interface Mention {
  /** Where the `@` stands. */
  at: number;
  name: string;
}

const MOST = 8;
/** Not behind a letter: that is an address of mail. Chinese has no spaces to ask for. Names have spaces in them, so that the
 * words behind the first one belong to the mention for as long as there is a file of such a name. */
const BEFORE_CARET = /(?:^|[^A-Za-z0-9._-])@((?:[^\s@][^\n@]{0,59})?)$/u;

export function mentionAt(text: string, caret: number): Mention | null {
  const found = BEFORE_CARET.exec(text.slice(Math.max(0, caret - 80), caret));
  if (found?.[1] === undefined) return null;
  return { at: caret - found[1].length - 1, name: found[1] };
}

/** The path of a file in the workspace, where it says more than the name. That of an upload is never shown. */
export function visiblePath({ source, path, filename }: FileRecord): string | null {
  return source === "generated" && path !== `/${filename}` ? path : null;
}

/** The files that may be meant: those whose name begins so, then the others; the newest of each first. */
export function mentioned(files: readonly FileRecord[], { name }: Mention): FileRecord[] {
  const wanted = fold(name);
  return files
    .map((file) => ({ file, rank: rankOf(file, wanted) }))
    .filter(({ rank }) => rank < NO_MATCH)
    .toSorted((one, other) => one.rank - other.rank || other.file.created_at.localeCompare(one.file.created_at))
    .slice(0, MOST)
    .map(({ file }) => file);
}

const NO_MATCH = 4;

/** The less, the better: the beginning of the name, of a word or folder in it, a place inside of it. */
function rankOf(file: FileRecord, wanted: string): number {
  const [name, path] = [fold(file.filename), fold(visiblePath(file) ?? "")];
  if (name.startsWith(wanted)) return 0;
  if (beginsWordOf(name, wanted) || beginsWordOf(path, wanted)) return 1;
  if (name.includes(wanted)) return 2;
  return path.includes(wanted) ? 3 : NO_MATCH;
}

function beginsWordOf(text: string, wanted: string): boolean {
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return true;
  return false;
}
