import type { Verdict } from "../../protocol/events.gen";
import { keyOf, type Statement } from "../markdown";

/** A statement of a text that is shown. */
export interface Judged {
  /** The same one after a second verdict. */
  key: string;
  verdict: Verdict;
  /** How it begins, in plain words. */
  beginning: () => string;
  /** Its elements on the page. */
  find: () => readonly HTMLElement[];
}

const LONGEST = 160;

/** Markup and footnotes, by their signs: it is read in one line, and there may be hundreds of them. */
const SIGNS = /[[【［]\^?\d[^\]】］\n]{0,40}[\]】］]|[*`~#>|]{1,40}|\\(?=[!-/:-@[-`{-~])/g;

export function beginningOf(text: string): string {
  const said = text
    .slice(0, 2 * LONGEST)
    .replace(SIGNS, "")
    .replace(/\s+/g, " ")
    .trim();
  return said.length > LONGEST ? `${said.slice(0, LONGEST)}…` : said;
}

/** Its elements within a text that is drawn by `Markdown`. */
export function elementsOf(
  room: Element | null | undefined,
  statement: Pick<Statement, "start" | "end">,
): HTMLElement[] {
  return [...(room?.querySelectorAll<HTMLElement>(`[data-statement="${keyOf(statement)}"]`) ?? [])];
}

/** Brings a statement into sight, and shows for a moment which it is. */
export function showStatement(elements: readonly HTMLElement[]): void {
  const [first] = elements;
  const room = first && scrollerOf(first);
  if (!first || !room) return;
  const [outer, inner] = [room.getBoundingClientRect(), first.getBoundingClientRect()];
  const isInSight = inner.top >= outer.top + 24 && inner.bottom <= outer.bottom - 24;
  if (!isInSight) room.scrollTop += inner.top - outer.top - outer.height / 3;
  for (const element of elements) {
    const shown = { outline: "2px solid var(--accent)", outlineOffset: "2px" };
    element.animate([shown, { ...shown, offset: 0.8 }, { outline: "2px solid transparent", outlineOffset: "2px" }], {
      duration: 1200,
    });
  }
}

/** Moves the keyboard to the footnote of a statement, which explains itself there. */
export function focusStatement(elements: readonly HTMLElement[]): void {
  const last = elements.at(-1);
  if (!last) return;
  const room = last.closest(".md");
  const buttons = [...(room?.querySelectorAll<HTMLElement>("[data-footnote]") ?? [])];
  const own = buttons.find((button) => button.dataset.footnote === last.dataset.statement);
  own?.focus();
}

function scrollerOf(element: HTMLElement): HTMLElement | null {
  for (let at = element.parentElement; at; at = at.parentElement) {
    const { overflowY } = getComputedStyle(at);
    if ((overflowY === "auto" || overflowY === "scroll") && at.scrollHeight > at.clientHeight + 1) return at;
  }
  return document.scrollingElement instanceof HTMLElement ? document.scrollingElement : null;
}
