/** The words that a message was found by, marked where they stand. */

import { type Place, placesOf } from "../../lib/fold";

/** The names that `chat.css` draws these marks by: all of them, and the one that is looked at. */
const NAME = "chat-found";
const NOW = "chat-found-now";
const MAX_MARKS = 500;

/** Marks them without changing the page, where the browser can do that, and says where they stand. */
export function highlightMatches(room: HTMLElement, query: string): readonly Range[] {
  clearHighlights();
  const ranges = rangesIn(room, query);
  if (ranges.length > 0 && isAble()) CSS.highlights.set(NAME, new Highlight(...ranges));
  return ranges;
}

export function highlightCurrent(range: Range): void {
  if (!isAble()) return;
  const mark = new Highlight(range);
  mark.priority = 1;
  CSS.highlights.set(NOW, mark);
}

export function clearHighlights(): void {
  if (!isAble()) return;
  CSS.highlights.delete(NAME);
  CSS.highlights.delete(NOW);
}

function isAble(): boolean {
  return typeof CSS !== "undefined" && "highlights" in CSS;
}

function rangesIn(room: HTMLElement, query: string): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(room, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node && ranges.length < MAX_MARKS; node = texts.nextNode()) {
    const around = node.parentElement;
    const text = node.textContent ?? "";
    // What is folded away cannot be gone to.
    if (!around || around.closest(".ui-hidden, button") || !around.checkVisibility()) continue;
    for (const { start, end } of joined(placesOf(query, text), text)) {
      const range = document.createRange();
      range.setStart(node, start);
      range.setEnd(node, end);
      ranges.push(range);
    }
  }
  return ranges;
}

/** Words that follow each other are one place. */
function joined(places: readonly Place[], text: string): Place[] {
  const all: Place[] = [];
  for (const place of places) {
    const last = all.at(-1);
    if (last && text.slice(last.end, place.start).trim() === "") last.end = place.end;
    else all.push({ ...place });
  }
  return all;
}
