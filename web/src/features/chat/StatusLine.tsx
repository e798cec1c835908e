import { useEffect, useRef, useState } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import type { Phase } from "../../state/answer";
import { conversation } from "../../state/conversation";
import { numbersFound } from "./footnotes/known";
import { words } from "./words";

type Said = { phase: Phase; sources: number } | null;

/** The one line that screen readers are told: that an answer began, and how it ended. Its words they read themselves. */
export function StatusLine() {
  const t = useWords(words);
  const said = useSaid();
  if (!said) return <p role="status" className="ui-hidden" />;
  const phases: Record<Phase, string> = {
    waiting: t.answering,
    live: t.answering,
    done: t.complete(said.sources),
    stopped: t.stopped,
    failed: t.failedAnswer,
  };
  return (
    <p role="status" className="ui-hidden">
      {phases[said.phase]}
    </p>
  );
}

/** Nothing is said of answers that had ended before somebody came. */
function useSaid(): Said {
  const key = useStore(conversation, ({ turns }) => turns.at(-1)?.key ?? null);
  const phase = useStore(conversation, ({ turns }) => turns.at(-1)?.answer.phase ?? null);
  const watched = useRef<string | null>(null);
  const [said, setSaid] = useState<Said>(null);
  useEffect(() => {
    if (phase === "waiting" || phase === "live") {
      watched.current = key;
      setSaid({ phase: "live", sources: 0 });
    } else if (phase !== null && watched.current === key) {
      const last = conversation.get().turns.at(-1);
      setSaid({ phase, sources: last ? numbersFound(last).size : 0 });
    } else setSaid(null);
  }, [key, phase]);
  return said;
}
