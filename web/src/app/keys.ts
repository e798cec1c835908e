import { stop } from "../state/asking";
import { conversation } from "../state/conversation";
import { goTo } from "../state/place";
import { activeTurn } from "../state/select";
import { pressed, type ShortcutName } from "../state/shortcuts";
import { toast } from "../state/toasts";
import { closeDrawer, openDialog, toggleDrawer, toggleSidebar, view } from "../state/view";

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
    if (!reach("session-search")) toggleSidebar();
    requestAnimationFrame(() => reach("session-search")?.focus());
  },
  stop: () => {
    if (view.get().drawer) closeDrawer();
    else if (activeTurn(conversation.get())) stop().catch(say);
  },
  sources: () => toggleDrawer("sources"),
  files: () => toggleDrawer("files"),
  copy: () => reach("copy-answer")?.click(),
  sidebar: toggleSidebar,
  settings: () => openDialog("settings"),
  help: () => openDialog("shortcuts"),
};

function say(error: unknown): void {
  toast(error instanceof Error ? error.message : String(error), { tone: "error" });
}

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
