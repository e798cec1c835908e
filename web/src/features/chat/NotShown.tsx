import { MessageSquarePlus, RotateCcw } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useWords } from "../../lib/i18n";
import { refresh, type Session } from "../../state/conversation";
import { navigate } from "../../state/router";
import { Button } from "../../ui/Button";
import { words } from "./words";

const SLOW_MS = 5000;

/** A conversation that is not there (yet): why, and what can be done. */
export function NotShown({ state }: { state: Session["state"] }) {
  const t = useWords(words);
  if (state === "missing")
    return (
      <Sentence title={t.missing} more={t.missingMore}>
        <Button look="main" icon={MessageSquarePlus} onClick={() => navigate(null)}>
          {t.startNew}
        </Button>
      </Sentence>
    );
  if (state === "failed")
    return (
      <Sentence title={t.failed} more={t.failedMore}>
        <Button look="main" icon={RotateCcw} onClick={() => void refresh()}>
          {t.tryAgain}
        </Button>
        <Button icon={MessageSquarePlus} onClick={() => navigate(null)}>
          {t.startNew}
        </Button>
      </Sentence>
    );
  return <Opening />;
}

function Sentence({ title, more, children }: { title: string; more: string; children: ReactNode }) {
  return (
    <div className="chat-not-shown">
      <h2>{title}</h2>
      <p>{more}</p>
      <div className="chat-not-shown-actions">{children}</div>
    </div>
  );
}

function Opening() {
  const t = useWords(words);
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="chat-opening">
      <p className="chat-soft">{slow ? t.openingSlowly : t.opening}</p>
      <div className="chat-skeleton" data-side="end" aria-hidden="true" />
      <div className="chat-skeleton" aria-hidden="true" />
      <div className="chat-skeleton" aria-hidden="true" />
      <div className="chat-skeleton" aria-hidden="true" />
    </div>
  );
}
