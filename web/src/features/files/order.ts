import type { FileRecord } from "../../protocol/events.gen";
import type { Turn } from "../../state/turns";

/** What was written here first, uploads behind it, and of both the newest first. */
export function ordered(files: readonly FileRecord[]): readonly FileRecord[] {
  const newestFirst = files.toSorted((one, other) => other.created_at.localeCompare(one.created_at));
  const isUpload = (file: FileRecord) => file.source === "upload";
  return [...newestFirst.filter((file) => !isUpload(file)), ...newestFirst.filter(isUpload)];
}

/** Files of one turn. `question` null: they belong to none that is shown. */
export interface FilesOfTurn {
  key: string;
  question: string | null;
  files: readonly FileRecord[];
}

type Asked = Pick<Turn, "key" | "questionId" | "text"> & { answer: Pick<Turn["answer"], "messageId"> };

/** By the turn that made or brought them, the last turn first; those of no turn come last. */
export function byTurn(files: readonly FileRecord[], turns: readonly Asked[]): readonly FilesOfTurn[] {
  const left = new Set(files);
  const groups: FilesOfTurn[] = [];
  for (const { key, questionId, text, answer } of turns.toReversed()) {
    const ids = [questionId, answer.messageId];
    const own = files.filter((file) => left.has(file) && file.message_id !== null && ids.includes(file.message_id));
    for (const file of own) left.delete(file);
    if (own.length > 0) groups.push({ key, question: text, files: own });
  }
  const others = files.filter((file) => left.has(file));
  return others.length > 0 ? [...groups, { key: "", question: null, files: others }] : groups;
}

/** Those that have all the words in their names; the address of an upload is no name. */
export function matching(files: readonly FileRecord[], wanted: string): readonly FileRecord[] {
  const words = wanted.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return files.filter((file) => {
    const name = (file.source === "upload" ? file.filename : file.path).toLocaleLowerCase();
    return words.every((word) => name.includes(word));
  });
}
