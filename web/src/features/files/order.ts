import type { FileRecord } from "../../protocol/events.gen";

/** What was written here first, uploads behind it, and of both the newest first. */
export function ordered(files: readonly FileRecord[]): readonly FileRecord[] {
  const newestFirst = files.toSorted((one, other) => other.created_at.localeCompare(one.created_at));
  const isUpload = (file: FileRecord) => file.source === "upload";
  return [...newestFirst.filter((file) => !isUpload(file)), ...newestFirst.filter(isUpload)];
}

/** Those that have all the words in their names; the address of an upload is no name. */
export function matching(files: readonly FileRecord[], wanted: string): readonly FileRecord[] {
  const words = wanted.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return files.filter((file) => {
    const name = (file.source === "upload" ? file.filename : file.path).toLocaleLowerCase();
    return words.every((word) => name.includes(word));
  });
}
