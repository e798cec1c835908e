/** Files that go with the next question. */

import { size } from "../../lib/format";
import { locale, wordsNow } from "../../lib/i18n";
import { readStored, writeStored } from "../../lib/localStorage";
import { useStore } from "../../lib/store";
import { api } from "../../protocol/client";
import type { FileRecord } from "../../protocol/events.gen";
import { catalog } from "../../state/catalog";
import { conversation, isOpen, refreshFiles } from "../../state/conversation";
import { steerableRun } from "../../state/research";
import { toast } from "../../state/toasts";
import { attachAgain, refuse, removeUpload, type Upload, upload, uploads } from "../../state/uploads";
import { words } from "./words";

const MOST = 100;
/** A text this long is no question: it is something to read. */
export const LONG_PASTE = 8000;

export function isAttached(one: Upload, sessionId: string | null): boolean {
  if (!one.attached) return false;
  if (one.sessionId !== null) return one.sessionId === sessionId;
  // What failed before there was a session may still be wanted in the next new one, and in none that is opened.
  return isOpen(one.visit) || (sessionId === null && one.state === "failed");
}

export function attachedNow(): Upload[] {
  const { sessionId } = conversation.get();
  return uploads.get().filter((one) => isAttached(one, sessionId));
}

/** Whether what is in the field is for those who do the research: a file would be for the next question. */
export function useCanTell(): boolean {
  const isResearching = useStore(conversation, (known) => steerableRun(known) !== null);
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const hasFiles = useStore(uploads, (all) => all.some((one) => isAttached(one, sessionId)));
  return isResearching && !hasFiles;
}

/** Sends them to the session. What cannot be taken is said before a byte is sent. */
export function attach(files: readonly File[]): void {
  const t = wordsNow(words);
  const limit = catalog.get().about?.upload_bytes ?? Number.POSITIVE_INFINITY;
  const room = MOST - attachedNow().length;
  const fitting = files.filter((file) => file.size <= limit);
  const tooLarge = files.filter((file) => file.size > limit);
  refuse(tooLarge, t.tooLarge(size(limit, locale.get())), { attached: true });
  if (fitting.length > room) toast(t.tooMany(MOST), { tone: "error" });
  const taken = fitting.slice(0, Math.max(0, room));
  if (taken.length > 0) upload(taken, { attached: true });
}

/** A file that is in the session already. */
export function attachKnown(record: FileRecord): void {
  if (attachedNow().some((one) => one.record?.path === record.path)) return;
  attachAgain(conversation.get().sessionId, [record]);
}

/** `insert` puts the text into the field after all. */
export function attachText(text: string, insert: (text: string) => void): void {
  const t = wordsNow(words);
  const file = new File([text], "pasted-text.txt", { type: "text/plain" });
  attach([file]);
  const undo = () => {
    void takeBack(file);
    insert(text);
  };
  toast(t.pastedAsFile, { action: { label: t.pasteAsText, run: undo } });
}

async function takeBack(file: File): Promise<void> {
  const one = uploads.get().find((other) => other.file === file);
  if (!one) return;
  removeUpload(one.id);
  if (!one.record || one.sessionId === null) return;
  try {
    await api.removeFile(one.sessionId, one.record.path);
    await refreshFiles();
  } catch {
    // It stays in the session, where it is no trouble.
  }
}

/** The files of a clipboard, unless it is text with a picture of itself, as office programs copy it. */
export function filesOf(clipboard: DataTransfer): File[] {
  const isOffice =
    clipboard.types.includes("text/rtf") || (clipboard.types.includes("text/html") && hasText(clipboard));
  return isOffice ? [] : [...clipboard.files];
}

function hasText(clipboard: DataTransfer): boolean {
  return clipboard.getData("text/plain").trim() !== "";
}

const NAME = "draft-files.";

/** Stores which files are attached in each session, and attaches them again after a reload where they still exist. */
export function storeAttachments(): void {
  let restored: string | null = null;
  conversation.subscribe(() => {
    const { sessionId, state, files } = conversation.get();
    if (sessionId === restored || (sessionId !== null && state !== "ready")) return;
    restored = sessionId;
    if (sessionId === null) return;
    const stored = readStored<readonly string[]>(NAME + sessionId, []);
    for (const record of files) if (stored.includes(record.path)) attachKnown(record);
  });
  uploads.subscribe(() => {
    const { sessionId } = conversation.get();
    if (sessionId === null || restored !== sessionId) return;
    const paths = attachedNow().flatMap(({ record }) => (record ? [record.path] : []));
    writeStored(NAME + sessionId, paths.length > 0 ? paths : null);
  });
}
