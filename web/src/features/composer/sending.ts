/** How a question leaves the composer: at once, after its files, or after the answer that is being written. */

import { wordsNow } from "../../lib/i18n";
import { RequestFailed } from "../../protocol/client";
import { ask } from "../../state/commands";
import { conversation } from "../../state/conversation";
import { USUAL_WAY, way } from "../../state/drafts";
import { steer, steerableRun } from "../../state/research";
import { activeTurn } from "../../state/select";
import { dismiss, toast, toasts } from "../../state/toasts";
import { takeAttached, uploads } from "../../state/uploads";
import { attachedNow, storeAttachments } from "./attaching";
import { clarify, followClarified } from "./clarifying";
import { change, draft, followConversation, going, type Held, letGo, putBack } from "./draft";
import { words } from "./words";

/** What Enter and the button do. */
export function submit(): void {
  const t = wordsNow(words);
  const { text, held } = draft.get();
  if (text.trim() === "" || conversation.get().state !== "ready") return;
  const files = attachedNow();
  if (files.some((one) => one.state === "failed")) {
    pointAtFailed();
    return;
  }
  if (held?.state === "queued") {
    change({ notice: t.oneWaits });
    return;
  }
  if (held !== null) return;
  const runId = files.length === 0 ? steerableRun(conversation.get()) : null;
  if (files.some((one) => one.state !== "done")) change({ awaiting: true, notice: t.afterUploads });
  else if (runId !== null) void tell(runId);
  else if (activeTurn(conversation.get())) hold("queued");
  else if (way.get().mode === "research") clarify(hold("clarifying"));
  else void send(hold("sending"));
}

/** Lets the question wait for the end of the answer, though those who do the research could be told something. */
export function queue(): void {
  const { text, held } = draft.get();
  if (text.trim() !== "" && held === null && activeTurn(conversation.get())) hold("queued");
}

/** Tells the researchers what is in the field. */
async function tell(runId: string): Promise<void> {
  const held = hold("sending");
  going(held);
  try {
    await steer(runId, held.text);
    letGo(held);
    sayForAWhile(wordsNow(words).told);
  } catch (error) {
    putBack(held);
    toast(sentence(error), { tone: "error", topic: NOT_SENT });
  }
}

/** Says which files are in the way, and shows the first of them. */
function pointAtFailed(): void {
  const t = wordsNow(words);
  const failed = attachedNow().filter((one) => one.state === "failed");
  const [first, ...others] = failed;
  if (!first) return;
  const canRetry = failed.every((one) => one.retryable);
  const notice = t.failedFirst(first.file.name, others.length, canRetry);
  change({ notice, awaiting: false, blocker: { uploadId: first.id } });
}

/** Takes the question out of the field. */
function hold(state: Held["state"]): Held {
  const { sessionId, text } = draft.get();
  const wanted = way.get();
  const held: Held = { text: text.trim(), attachments: takeAttached(sessionId), way: wanted, state, home: sessionId };
  change({ held, text: "", awaiting: false, notice: null, limits: false });
  // The next question is an ordinary one, unless somebody says otherwise.
  way.set(USUAL_WAY);
  return held;
}

async function send(held: Held): Promise<void> {
  going(held);
  try {
    await ask(held, () => withdrawArrived(held.text));
    letGo(held);
    withdraw();
  } catch (error) {
    putBack(held);
    withdraw();
    toast(sentence(error), { tone: "error", topic: NOT_SENT });
  }
}

function sayForAWhile(notice: string): void {
  change({ notice });
  setTimeout(() => {
    if (draft.get().notice === notice) change({ notice: null });
  }, SAID_MS);
}

const SAID_MS = 6000;
const NOT_SENT = "not-sent";

/** Why the last question could not be sent is of no interest when the next one was. */
function withdraw(): void {
  for (const one of toasts.get()) if (one.topic === NOT_SENT) dismiss(one.id);
}

export function sentence(error: unknown): string {
  if (error instanceof RequestFailed && error.isOffline) return wordsNow(words).offline;
  return error instanceof Error ? error.message : String(error);
}

/** The answer has ended: what waited for it goes, unless it ended before its time and somebody should look first. */
function afterAnswer(): void {
  const { held } = draft.get();
  const now = conversation.get();
  if (held?.state !== "queued" || held.home !== now.sessionId || now.state !== "ready" || activeTurn(now)) return;
  if (now.turns.at(-1)?.answer.phase !== "done") {
    putBack(held, wordsNow(words).endedEarly);
    return;
  }
  const going: Held = { ...held, state: "sending" };
  change({ held: going });
  void send(going);
}

function afterUploads(): void {
  if (!draft.get().awaiting) return;
  const files = attachedNow();
  const isUnderWay = files.some((one) => one.state === "waiting" || one.state === "sending");
  if (files.some((one) => one.state === "failed")) pointAtFailed();
  else if (!isUnderWay) submit();
}

/** Keeps the draft and its files with the open conversation, and sends what waits as soon as the answer has ended or the
 * files are uploaded. */
export function startComposer(): void {
  storeAttachments();
  followConversation();
  followClarified((held) => void send(held));
  conversation.subscribe(() => queueMicrotask(afterAnswer));
  uploads.subscribe(() => queueMicrotask(afterUploads));
}

/** A question was put back because the connection broke, and had reached the server all the same. */
function withdrawArrived(question: string): void {
  const { text, sessionId } = draft.get();
  if (text.trim() !== question) return;
  takeAttached(sessionId);
  withdraw();
  change({ text: "", notice: wordsNow(words).arrived });
}
