/** Where a source comes from: the web, a file that somebody brought, or Footnote's own documentation. */

import type { FileRecord } from "../../protocol/events.gen";

/** `path` null: the file is not in this session, or it is not certain which one it is. */
export type Origin =
  | { kind: "web"; href: string }
  | { kind: "file"; name: string; path: string | null }
  | { kind: "documentation" };

const OWN = "footnote://";
const FILES = `${OWN}files/`;

export function originOf(url: string, files: readonly FileRecord[]): Origin {
  if (!url.startsWith(OWN)) return { kind: "web", href: url };
  if (!url.startsWith(FILES)) return { kind: "documentation" };
  const name = nameIn(url);
  return { kind: "file", name, path: fileAt(name, files)?.path ?? null };
}

/** The library gives a second `report.pdf` the address `report-2.pdf`. Where two files could be meant, none is: a wrong
 * one would be worse. */
function fileAt(name: string, files: readonly FileRecord[]): FileRecord | undefined {
  const uploads = files.filter(({ source }) => source === "upload");
  for (const wanted of [name, name.replace(/-\d+(?=(?:\.[^.]*)?$)/, "")]) {
    const found = uploads.filter(({ filename }) => filename.normalize() === wanted);
    if (found.length > 0) return found.length === 1 ? found[0] : undefined;
  }
  return undefined;
}

/** On a shared server the name stands in a folder of the user. */
function nameIn(url: string): string {
  const last = url.slice(url.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last).normalize();
  } catch {
    return last;
  }
}
