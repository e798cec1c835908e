import { navigate } from "../state/router";
import { pressed, type ShortcutName } from "../state/shortcuts";
import { pressEscape } from "../state/stopping";
import { closeDrawer, openDialog, toggleDrawer, toggleSidebar, view } from "../state/view";

/** A menu or a card that is open. Notices are popovers too, but nothing that Escape closes. */
const OVER = "[popover=auto]:popover-open, [role=tooltip]:popover-open";

/** Parts of the page that shortcuts lead to say so themselves. */
function reach(name: "composer" | "session-search" | "copy-answer"): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(`[data-reach="${name}"]`)].at(-1);
}

/** What was searched for before is replaced by the next key. */
function searchAnew(): void {
  const field = reach("session-search");
  field?.focus();
  if (field instanceof HTMLInputElement) field.select();
}

const ACTIONS: Record<ShortcutName, (target: EventTarget | null) => void> = {
  focus: () => reach("composer")?.focus(),
  new: () => {
    navigate(null);
    requestAnimationFrame(() => reach("composer")?.focus());
  },
  search: () => {
    if (reach("session-search")) searchAnew();
    else {
      toggleSidebar();
      requestAnimationFrame(searchAnew);
    }
  },
  stop: (target) => {
    if (view.get().drawer) closeDrawer();
    else if (isForAnswer(target)) pressEscape();
  },
  sources: () => toggleDrawer("sources"),
  files: () => toggleDrawer("files"),
  copy: () => reach("copy-answer")?.click(),
  sidebar: toggleSidebar,
  settings: () => openDialog("settings"),
  help: () => openDialog("shortcuts"),
};

/** Escape in the search field, or on a button, means that field or button, and not the answer. */
function isForAnswer(target: EventTarget | null): boolean {
  return target === document.body || (target instanceof Element && target.closest("#composer") !== null);
}

export function listenForShortcuts(): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    const name = pressed(event);
    // Escape belongs to what is open first: a menu, a card, a field that is being edited.
    if (name === null || (name === "stop" && document.querySelector(OVER))) return;
    if (name !== "stop") event.preventDefault();
    ACTIONS[name](event.target);
  };
  addEventListener("keydown", listen);
  return () => removeEventListener("keydown", listen);
}
