import { goTo } from "../state/place";
import { pressed, type ShortcutName } from "../state/shortcuts";
import { closeDrawer, openDialog, toggleDrawer, toggleSidebar, view } from "../state/view";

/** Parts of the page that shortcuts lead to say so themselves. */
function reach(name: "composer" | "session-search" | "copy-answer" | "stop"): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(`[data-reach="${name}"]`)].at(-1);
}

const ACTIONS: Record<ShortcutName, () => void> = {
  focus: () => reach("composer")?.focus(),
  new: () => {
    goTo(null);
    requestAnimationFrame(() => reach("composer")?.focus());
  },
  search: () => {
    if (!reach("session-search")) toggleSidebar();
    requestAnimationFrame(() => reach("session-search")?.focus());
  },
  stop: () => {
    if (view.get().drawer) closeDrawer();
    else reach("stop")?.click();
  },
  sources: () => toggleDrawer("sources"),
  files: () => toggleDrawer("files"),
  copy: () => reach("copy-answer")?.click(),
  sidebar: toggleSidebar,
  settings: () => openDialog("settings"),
  help: () => openDialog("shortcuts"),
};

export function listenForShortcuts(): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    const name = pressed(event);
    // Escape belongs to what is open first: a menu, a card, a field that is being edited.
    if (name === null || (name === "stop" && document.querySelector(":popover-open"))) return;
    if (name !== "stop") event.preventDefault();
    ACTIONS[name]();
  };
  addEventListener("keydown", listen);
  return () => removeEventListener("keydown", listen);
}
