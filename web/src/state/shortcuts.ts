/** What can be done by keyboard from anywhere. `mod` is Ctrl, or Command on a Mac. */

export type ShortcutName =
  | "focus"
  | "new"
  | "search"
  | "stop"
  | "sources"
  | "files"
  | "sidebar"
  | "settings"
  | "copy"
  | "help";

export interface Shortcut {
  name: ShortcutName;
  keys: readonly string[];
}

export const SHORTCUTS: readonly Shortcut[] = [
  { name: "focus", keys: ["/"] },
  { name: "new", keys: ["mod", "shift", "o"] },
  { name: "search", keys: ["mod", "k"] },
  { name: "stop", keys: ["escape"] },
  { name: "sources", keys: ["mod", "shift", "e"] },
  { name: "files", keys: ["mod", "shift", "f"] },
  { name: "copy", keys: ["mod", "shift", "y"] },
  { name: "sidebar", keys: ["mod", "b"] },
  { name: "settings", keys: ["mod", ","] },
  { name: "help", keys: ["?"] },
];

/** The shortcut that was pressed. Those of one letter do not count where text is written. */
export function pressed(event: KeyboardEvent): ShortcutName | null {
  const mod = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  const found = SHORTCUTS.find(({ keys }) => {
    if (keys.at(-1) !== key || keys.includes("mod") !== mod || event.altKey) return false;
    // "?" is typed with shift on many keyboards, and without it on others.
    return keys.length === 1 || keys.includes("shift") === event.shiftKey;
  });
  if (!found || (found.keys.length === 1 && key.length === 1 && isWriting(event.target))) return null;
  return found.name;
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
