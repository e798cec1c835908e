/** An answer that ended while nobody looked: a mark in the title of the tab, and a notice if one is wanted. */

import { wordsNow } from "../../lib/i18n";
import { Store, useStore } from "../../lib/store";
import { mainBlocks } from "../../state/answer";
import { conversation } from "../../state/conversation";
import { preferences } from "../../state/preferences";
import { activeTurn } from "../../state/select";
import type { Turn } from "../../state/turns";
import { plainText } from "../../ui/markdown";
import { words } from "./words";

const LONGEST_NOTICE = 160;

const unseen = new Store(false);

/** True from the end of an answer in a hidden tab until somebody looks at it. */
export function useUnseenAnswer(): boolean {
  return useStore(unseen);
}

/** Marks the tab when an answer ends while it is hidden. */
export function followAnswers(): void {
  let awaited: string | null = null;
  conversation.subscribe(() => {
    const session = conversation.get();
    const active = activeTurn(session);
    if (active) {
      awaited = active.key;
      return;
    }
    const last = session.turns.at(-1);
    const hasEnded = awaited !== null && last?.key === awaited;
    awaited = null;
    if (hasEnded && last && document.hidden && last.answer.phase !== "stopped") {
      unseen.set(true);
      notify(last, session.head?.title ?? "");
    }
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && unseen.get()) unseen.set(false);
  });
}

function notify(turn: Turn, title: string): void {
  if (!preferences.get().notify || !("Notification" in globalThis) || Notification.permission !== "granted") return;
  const t = wordsNow(words);
  const text = mainBlocks(turn.answer.blocks).findLast((block) => block.type === "text");
  const said = text ? plainText(text.text).slice(0, LONGEST_NOTICE) : "";
  const body = turn.answer.phase === "failed" ? t.failedAnswer : said || t.readyNotice;
  try {
    const notice = new Notification(title || t.readyNotice, { body, tag: turn.key });
    notice.onclick = () => {
      focus();
      notice.close();
    };
  } catch {
    // Phones allow notices from service workers only; the mark in the title is there all the same.
  }
}
