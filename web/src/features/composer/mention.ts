/** `@` and the beginning of a name, before the caret. */

import type { FileRecord } from "../../protocol/events.gen";

export interface Mention {
  /** Where the `@` stands. */
  at: number;
  name: string;
}

const MOST = 8;
/** Not behind a letter: that is an address of mail. Chinese has no spaces to ask for. */
const BEFORE_CARET = /(?:^|[^A-Za-z0-9._-])@([^\s@]{0,60})$/u;

export function mentionAt(text: string, caret: number): Mention | null {
  const found = BEFORE_CARET.exec(text.slice(Math.max(0, caret - 80), caret));
  if (found?.[1] === undefined) return null;
  return { at: caret - found[1].length - 1, name: found[1] };
}

/** The files that may be meant, the newest first. */
export function mentioned(files: readonly FileRecord[], { name }: Mention): FileRecord[] {
  const wanted = folded(name);
  return files
    .filter((file) => folded(file.filename).includes(wanted) || folded(file.path).includes(wanted))
    .toSorted((one, other) => other.created_at.localeCompare(one.created_at))
    .slice(0, MOST);
}

/** So that `báo cáo` is found by `bao cao`, however it is encoded. */
function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").replace(/đ/gi, "d").toLowerCase();
}
