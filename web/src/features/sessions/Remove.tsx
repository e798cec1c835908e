import { useState } from "react";
import { useWords } from "../../lib/i18n";
import type { FoundSession } from "../../protocol/events.gen";
import { conversation } from "../../state/conversation";
import { navigate } from "../../state/router";
import { removeSession } from "../../state/sessions";
import { toast } from "../../state/toasts";
import { Spinner } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { words } from "./words";

/** Asks before it deletes: nothing brings a session back. */
export function Remove({ session, onDone }: { session: FoundSession; onDone: (removed: boolean) => void }) {
  const t = useWords(words);
  const [state, setState] = useState<"asking" | "removing" | "failed">("asking");
  const remove = async () => {
    setState("removing");
    try {
      await removeSession(session.id);
    } catch {
      setState("failed");
      return;
    }
    if (conversation.get().sessionId === session.id) navigate(null);
    toast(t.removed);
    onDone(true);
  };
  return (
    <Dialog title={t.removeTitle} onClose={() => onDone(false)}>
      <div className="sessions-removing">
        <p dir="auto">{t.removeNote(session.title || t.untitled)}</p>
        {session.active_run_id && <p>{t.removeActive}</p>}
        {state === "failed" && (
          <p role="alert" className="sessions-error">
            {t.notRemoved}
          </p>
        )}
        <div className="sessions-choice">
          <Button onClick={() => onDone(false)}>{t.cancel}</Button>
          <Button look="danger" disabled={state === "removing"} onClick={() => void remove()}>
            {state === "removing" && <Spinner />}
            {state === "failed" ? t.retry : t.remove}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
