/** What the page does to files of the open session. The list of files follows at once, in all tabs. */

import { copied } from "../../lib/clipboard";
import { wordsNow } from "../../lib/i18n";
import { api } from "../../protocol/client";
import type { FileRecord } from "../../protocol/events.gen";
import { dispatch, refreshFiles } from "../../state/conversation";
import { notifyTabs } from "../../state/tabs";
import { toast } from "../../state/toasts";
import { attachAgain } from "../../state/uploads";
import { closeFile, view } from "../../state/view";
import { words } from "./words";

/** The server's own sentence, where it has one. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export const complain = (error: unknown) => toast(messageOf(error), { tone: "error" });

export function took(sessionId: string, record: FileRecord): void {
  dispatch({ type: "file_written", sessionId, file: record });
  notifyTabs({ sessionId, kind: "changed" });
}

export async function removeFile(sessionId: string, file: FileRecord): Promise<void> {
  try {
    await api.removeFile(sessionId, file.path);
  } catch (error) {
    complain(error);
    return;
  }
  dispatch({ type: "file_removed", sessionId, path: file.path });
  if (view.get().file === file.path) closeFile();
  notifyTabs({ sessionId, kind: "changed" });
  toast(wordsNow(words).removed(file.filename));
}

export async function unpack(sessionId: string, file: FileRecord): Promise<void> {
  try {
    const { files } = await api.unpack(sessionId, file.path);
    await refreshFiles();
    notifyTabs({ sessionId, kind: "changed" });
    toast(wordsNow(words).unpacked(files.length));
  } catch (error) {
    complain(error);
  }
}

export function attach(sessionId: string, file: FileRecord): void {
  attachAgain(sessionId, [file]);
  toast(wordsNow(words).attached(file.filename));
}

export async function copyPath(file: FileRecord): Promise<void> {
  const t = wordsNow(words);
  if (await copied(file.path)) toast(t.copied);
  else toast(t.notCopied, { tone: "error" });
}
