/** The words that a message was found by, marked where they stand. */

import { placesOf } from "../../lib/fold";

/** The name that `chat.css` draws these marks by. */
const NAME = "chat-found";
const MAX_MARKS = 500;

/** Marks them without changing the page, where the browser can do that, and says where they stand. */
export function markFound(room: HTMLElement, query: string): readonly Range[] {
  unmarkFound();
  const ranges = rangesIn(room, query);
  if (ranges.length > 0 && isAble()) CSS.highlights.set(NAME, new Highlight(...ranges));
  return ranges;
}

export function unmarkFound(): void {
  if (isAble()) CSS.highlights.delete(NAME);
}

function isAble(): boolean {
  return typeof CSS !== "undefined" && "highlights" in CSS;
}

function rangesIn(room: HTMLElement, query: string): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(room, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node && ranges.length < MAX_MARKS; node = texts.nextNode()) {
    if (node.parentElement?.closest(".ui-hidden, button")) continue;
    for (const { start, end } of placesOf(query, node.textContent ?? "")) {
      const range = document.createRange();
      range.setStart(node, start);
      range.setEnd(node, end);
      ranges.push(range);
    }
  }
  return ranges;
}
