import { stop } from "../state/asking";
import { conversation } from "../state/conversation";
import { goTo } from "../state/place";
import { prefer, preferences } from "../state/preferences";
import { activeTurn } from "../state/select";
import { pressed, type ShortcutName } from "../state/shortcuts";
import { isPhone, openDialog, toggleDrawer, toggleSidebar, view } from "../state/view";

/** Parts of the page that shortcuts lead to say so themselves. */
function reach(name: "composer" | "session-search" | "copy-answer"): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(`[data-reach="${name}"]`)].at(-1);
}

const ACTIONS: Record<ShortcutName, () => void> = {
  focus: () => reach("composer")?.focus(),
  new: () => {
    goTo(null);
    requestAnimationFrame(() => reach("composer")?.focus());
  },
  search: () => {
    if (isPhone() ? !view.get().sheet : !preferences.get().sidebar) toggleSidebar();
    requestAnimationFrame(() => reach("session-search")?.focus());
  },
  stop: () => {
    if (activeTurn(conversation.get())) void stop();
  },
  sources: () => toggleDrawer("sources"),
  files: () => toggleDrawer("files"),
  copy: () => reach("copy-answer")?.click(),
  sidebar: () => prefer({ sidebar: !preferences.get().sidebar }),
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
