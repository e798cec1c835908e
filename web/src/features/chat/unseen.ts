/** An answer that ended while nobody looked: a mark in the title of the tab, and a notice if one is wanted. */

import { wordsNow } from "../../lib/i18n";
import { Store, useStore } from "../../lib/store";
import { conversation } from "../../state/conversation";
import { preferences } from "../../state/preferences";
import { activeTurn } from "../../state/select";
import type { Turn } from "../../state/turns";
import { plainText } from "../../ui/markdown";
import { words } from "./words";

const LONGEST_NOTICE = 160;

const unseen = new Store(false);
let awaited: string | null = null;

/** True from the end of an answer in a hidden tab until somebody looks at it. */
export function useUnseenAnswer(): boolean {
  return useStore(unseen);
}

conversation.subscribe(() => {
  const now = conversation.get();
  const active = activeTurn(now);
  if (active) {
    awaited = active.key;
    return;
  }
  const last = now.turns.at(-1);
  const ended = awaited !== null && last?.key === awaited;
  awaited = null;
  if (ended && last && document.hidden && last.answer.phase !== "stopped") {
    unseen.set(true);
    notify(last, now.head?.title ?? "");
  }
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && unseen.get()) unseen.set(false);
});

function notify(turn: Turn, title: string): void {
  if (!preferences.get().notify || !("Notification" in globalThis) || Notification.permission !== "granted") return;
  const t = wordsNow(words);
  const text = turn.answer.blocks.findLast((block) => block.type === "text");
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
