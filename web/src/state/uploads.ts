/** Files on their way to the server, each with its progress. Two are sent at a time. */

import { wordsNow } from "../lib/i18n";
import { newId } from "../lib/id";
import { Store } from "../lib/store";
import { api, RequestFailed } from "../protocol/client";
import type { ErrorBody, FileList, FileRecord } from "../protocol/events.gen";
import { reasonText } from "../protocol/reasons";
import { words } from "../protocol/words";
import { ensureSession } from "./commands";
import { conversation, dispatch, isOpen } from "./conversation";
import { notifyTabs } from "./tabs";

export interface Upload {
  id: string;
  /** Null until the session exists. */
  sessionId: string | null;
  /** The visit of the conversation that the file was added to, which may have no id yet. */
  visit: number;
  file: File;
  /** Null: it was in the session already. */
  size: number | null;
  sent: number;
  state: "waiting" | "sending" | "done" | "failed";
  /** It goes with the next question. */
  attached: boolean;
  record: FileRecord | null;
  error: string | null;
  /** Sent once more, it may arrive. */
  retryable: boolean;
}

const AT_ONCE = 2;
const requests = new Map<string, XMLHttpRequest>();

export const uploads = new Store<readonly Upload[]>([]);

export function upload(files: Iterable<File>, { attached }: { attached: boolean }): void {
  uploads.set((known) => [...known, ...[...files].map((file) => fresh(file, attached))]);
  void sendNext();
}

/** Lists what is not even sent, with the reason. */
export function refuse(files: readonly File[], error: string, { attached }: { attached: boolean }): void {
  const refused = files.map((file): Upload => ({ ...fresh(file, attached), state: "failed", error, retryable: false }));
  uploads.set((known) => [...known, ...refused]);
}

function fresh(file: File, attached: boolean): Upload {
  const { sessionId, visit } = conversation.get();
  const begun = { sent: 0, state: "waiting", record: null, error: null, retryable: true } as const;
  return { id: newId(), sessionId, visit, file, size: file.size, attached, ...begun };
}

/** Takes it off the list; one that is being sent is broken off. The file itself stays in the session once it is there. */
export function removeUpload(id: string): void {
  requests.get(id)?.abort();
  uploads.set((known) => known.filter((one) => one.id !== id));
  void sendNext();
}

export function retryUpload(id: string): void {
  change(id, { state: "waiting", sent: 0, error: null, visit: conversation.get().visit });
  void sendNext();
}

/** What goes with a question leaves the composer with it. */
export function takeAttached(sessionId: string | null): FileRecord[] {
  const mine = uploads.get().filter((one) => one.attached && one.sessionId === sessionId && one.record);
  uploads.set((known) => known.filter((one) => !mine.includes(one)));
  return mine.map((one) => one.record).filter((record) => record !== null);
}

/** Puts back what could not be sent. */
export function attachAgain(sessionId: string | null, records: readonly FileRecord[]): void {
  const again = records.map((record): Upload => {
    const one = fresh(new File([], record.filename), true);
    return { ...one, sessionId, size: null, state: "done", record };
  });
  uploads.set((known) => [...known, ...again]);
}

function change(id: string, changes: Partial<Upload>): void {
  uploads.set((known) => known.map((one) => (one.id === id ? { ...one, ...changes } : one)));
}

async function sendNext(): Promise<void> {
  const known = uploads.get();
  const next = known.find((one) => one.state === "waiting");
  if (!next || known.filter((one) => one.state === "sending").length >= AT_ONCE) return;
  change(next.id, { state: "sending" });
  void sendNext();
  try {
    const sessionId = next.sessionId ?? (await sessionForAll(next.visit));
    // Somebody may have taken it off before there was anything to break off.
    if (uploads.get().some((one) => one.id === next.id)) {
      const record = await sent(next, sessionId);
      change(next.id, { state: "done", sent: next.file.size, record, sessionId });
      dispatch({ type: "file_written", sessionId, file: record });
      notifyTabs({ sessionId, kind: "changed" });
    }
  } catch (error) {
    change(next.id, {
      state: "failed",
      error: error instanceof Error ? error.message : String(error),
      retryable: isRetryable(error),
    });
  }
  requests.delete(next.id);
  void sendNext();
}

/** Files that were dropped into a new conversation make it one. */
async function sessionForAll(visit: number): Promise<string> {
  // Another conversation is open by now.
  if (!isOpen(visit)) throw new Error(wordsNow(words).unsent);
  const sessionId = await ensureSession();
  const isTheirs = (one: Upload) => one.sessionId === null && one.visit === visit;
  uploads.set((known) => known.map((one) => (isTheirs(one) ? { ...one, sessionId } : one)));
  return sessionId;
}

/** By XMLHttpRequest, because `fetch` does not tell how much was sent. */
function sent(one: Upload, sessionId: string): Promise<FileRecord> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    requests.set(one.id, request);
    request.open("POST", api.filesUrl(sessionId));
    request.setRequestHeader("accept", "application/json");
    request.upload.onprogress = ({ loaded }) => change(one.id, { sent: Math.min(loaded, one.file.size) });
    request.onerror = () => reject(new RequestFailed(0, "offline", wordsNow(words).offline, true));
    request.onabort = () => reject(new Error("aborted"));
    request.onload = () => {
      const record = request.status === 201 ? (JSON.parse(request.responseText) as FileList).files[0] : undefined;
      if (record) resolve(record);
      else reject(refusalOf(request));
    };
    const form = new FormData();
    form.append("file", one.file, one.file.name);
    request.send(form);
  });
}

/** Of one file the reason alone: its name stands beside it here. */
export function refusalOf({ status, responseText }: Pick<XMLHttpRequest, "status" | "responseText">): RequestFailed {
  try {
    const { error } = JSON.parse(responseText) as { error: ErrorBody };
    const message = reasonText(error.files?.[0] ?? error);
    return new RequestFailed(status, error.type, message, error.retryable);
  } catch {
    return new RequestFailed(status, "unreadable", wordsNow(words).unreadable(status), true);
  }
}

/** After a new login it may work, too. */
function isRetryable(error: unknown): boolean {
  return !(error instanceof RequestFailed) || error.retryable || error.status === 401;
}
