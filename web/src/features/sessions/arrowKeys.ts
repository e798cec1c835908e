/** The keyboard in the list of sessions: arrow keys lead through it, and from the search field into it and back. */

import type { KeyboardEvent } from "react";

export function linksIn(room: HTMLElement | null): HTMLAnchorElement[] {
  return [...(room?.querySelectorAll<HTMLAnchorElement>("a.sessions-link") ?? [])];
}

/** From the search field to the first session below it. False: there is none. */
export function focusFirst(field: HTMLElement): boolean {
  const first = linksIn(field.closest("nav"))[0];
  first?.focus();
  return first !== undefined;
}

/** Arrow keys lead from session to session, and above the first one to the search field; Tab still leads to everything. */
export function move(event: KeyboardEvent<HTMLElement>): void {
  const links = linksIn(event.currentTarget);
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (at < 0) return;
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  const field = event.currentTarget.closest("nav")?.querySelector<HTMLInputElement>("input[type=search]");
  if (next < 0 && field) field.focus();
  else links[Math.max(0, Math.min(next, links.length - 1))]?.focus();
}
