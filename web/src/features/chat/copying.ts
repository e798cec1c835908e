/** An answer to take away: its text, and behind it the sources that its numbers mean. */

import { wordsNow } from "../../lib/i18n";
import type { Source } from "../../protocol/events.gen";
import { mainBlocks, type TextPart } from "../../state/answer";
import { conversation } from "../../state/conversation";
import { sourcesByNumber } from "../../state/select";
import type { Turn } from "../../state/turns";
import { safeHref } from "../../ui/Link";
import { words } from "./words";

export function markdownOf(turn: Turn, known = sourcesByNumber(conversation.get().turns)): string {
  const texts = textsOf(turn).map((block) => block.text.trim());
  const cited = citedIn(turn, known).map((source) => `[${source.number}] ${oneLine(source.title)} ${source.url}`);
  const text = texts.filter(Boolean).join("\n\n");
  if (cited.length === 0) return text;
  return `${text}\n\n**${wordsNow(words).sourcesHeading}**\n\n${cited.map((line) => `- ${line}`).join("\n")}\n`;
}

/** The sources that footnotes of the answer name, by number. */
function citedIn(turn: Turn, known: ReadonlyMap<number, Source>): Source[] {
  const numbers = new Set(textsOf(turn).flatMap((block) => block.citations.map(({ number }) => number)));
  return [...numbers]
    .sort((one, two) => one - two)
    .map((number) => known.get(number))
    .filter((source) => source !== undefined);
}

function textsOf(turn: Turn): TextPart[] {
  return mainBlocks(turn.answer.blocks).filter((block) => block.type === "text");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

const CONTROLS = "button, input, select, [popover], .ui-hidden, svg";

/** The same as the page shows it, with its numbers as links and without its buttons. */
export function htmlOf(turn: Turn, shown: Iterable<Element>): string {
  const known = sourcesByNumber(conversation.get().turns);
  const out = document.createElement("div");
  for (const element of shown) {
    const copy = element.cloneNode(true) as HTMLElement;
    for (const chip of copy.querySelectorAll<HTMLElement>(".chat-footnote")) chip.replaceWith(mark(chip, known));
    for (const statement of copy.querySelectorAll(".md-statement")) statement.replaceWith(...statement.childNodes);
    for (const control of copy.querySelectorAll(CONTROLS)) control.remove();
    out.append(...copy.childNodes);
  }
  const cited = citedIn(turn, known);
  if (cited.length > 0) out.append(element("p", wordsNow(words).sourcesHeading), list(cited));
  return new XMLSerializer().serializeToString(out);
}

/** Whoever reads it elsewhere must see the doubt too. */
const DOUBTS: Readonly<Record<string, string>> = { partial: "~", contradicted: "≠", unsupported: "?", unread: "–" };

function mark(chip: HTMLElement, known: ReadonlyMap<number, Source>): HTMLElement {
  const sup = document.createElement("sup");
  const text = chip.textContent ?? "";
  const number = Number.parseInt(text, 10);
  // A statement without a source has words instead of a number.
  if (Number.isNaN(number)) sup.append(`[${text}]`);
  else sup.append(link(`[${number}${DOUBTS[chip.dataset.verdict ?? ""] ?? ""}]`, known.get(number)?.url));
  return sup;
}

function list(sources: readonly Source[]): HTMLElement {
  const all = document.createElement("ul");
  for (const source of sources) {
    const item = element("li", `[${source.number}] `);
    item.append(link(oneLine(source.title) || source.url, source.url));
    all.append(item);
  }
  return all;
}

function link(text: string, url?: string): HTMLElement {
  const href = url ? safeHref(url) : null;
  const made = element(href ? "a" : "span", text);
  if (href) made.setAttribute("href", href);
  return made;
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
