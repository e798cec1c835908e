import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useWords, wordsNow } from "../../lib/i18n";
import type { FoundSession } from "../../protocol/events.gen";
import { renameSession } from "../../state/sessions";
import { toast } from "../../state/toasts";
import { words } from "./words";

/** The title as a field: Enter or leaving it keeps the new one, Escape the old. `onDone` with whether the keyboard is still there. */
export function Rename({ session, onDone }: { session: FoundSession; onDone: (byKey: boolean) => void }) {
  const t = useWords(words);
  const field = useRef<HTMLInputElement>(null);
  const [title, setTitle] = useState(session.title);
  const over = useRef(false);
  useEffect(() => field.current?.select(), []);
  const finish = (keep: boolean, byKey: boolean) => {
    if (over.current) return;
    over.current = true;
    const wanted = title.trim();
    if (keep && wanted !== "" && wanted !== session.title) void rename(session.id, wanted);
    onDone(byKey);
  };
  const press = (event: KeyboardEvent) => {
    // Enter that chooses a word of an input method is not meant for us.
    if (event.nativeEvent.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    finish(event.key === "Enter", true);
  };
  return (
    <input
      ref={field}
      className="ui-field sessions-rename"
      dir="auto"
      aria-label={t.title}
      value={title}
      maxLength={200}
      onChange={(event) => setTitle(event.target.value)}
      onKeyDown={press}
      onBlur={() => finish(true, false)}
    />
  );
}

async function rename(sessionId: string, title: string): Promise<void> {
  try {
    await renameSession(sessionId, title);
  } catch {
    const t = wordsNow(words);
    const again = { label: t.retry, run: () => void rename(sessionId, title) };
    toast(t.notRenamed, { tone: "error", action: again });
  }
}
