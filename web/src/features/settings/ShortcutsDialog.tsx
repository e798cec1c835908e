import { useWords } from "../../lib/i18n";
import { SHORTCUTS } from "../../state/shortcuts";
import { closeDialog } from "../../state/view";
import { Dialog } from "../../ui/Dialog";
import "./settings.css";
import { words } from "./words";

export function ShortcutsDialog() {
  const t = useWords(words);
  const names = {
    focus: t.keyFocus,
    new: t.keyNew,
    search: t.keySearch,
    stop: t.keyStop,
    sources: t.keySources,
    files: t.keyFiles,
    sidebar: t.keySidebar,
    settings: t.keySettings,
    copy: t.keyCopy,
    help: t.keyHelp,
  };
  const rows = [
    ...SHORTCUTS.map(({ name, keys }) => ({ text: names[name], keys })),
    { text: t.keySend, keys: ["enter"] },
    { text: t.keyLine, keys: ["shift", "enter"] },
    { text: t.keyMention, keys: ["@"] },
  ];
  return (
    <Dialog title={t.shortcuts} onClose={closeDialog}>
      <dl className="settings-shortcuts">
        {rows.map(({ text, keys }) => (
          <div key={text} className="settings-shortcut">
            <dt>{text}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key} className="settings-key">
                  {capOf(key)}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** What stands on the key. */
function capOf(key: string): string {
  const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const caps: Record<string, string> = {
    mod: isMac ? "⌘" : "Ctrl",
    shift: isMac ? "⇧" : "Shift",
    escape: "Esc",
    enter: "Enter",
  };
  return caps[key] ?? key.toUpperCase();
}
