import { useEffect, useRef, useState } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import type { Phase } from "../../state/answer";
import { conversation } from "../../state/conversation";
import { useAwaitedSeconds } from "./awaiting";
import { numbersFound } from "./footnotes/knownSources";
import { words } from "./words";

type Said = { phase: Phase; sources: number } | null;

const SAID_EVERY_SECONDS = 30;

/** The one line that screen readers are told: that an answer began, how long the model keeps it waiting, and how it ended. Its
 * words they read themselves. */
export function StatusLine() {
  const t = useWords(words);
  const said = useSaid();
  const awaited = useStore(conversation, ({ turns }) => turns.at(-1)?.answer ?? null);
  const steps = Math.floor((useAwaitedSeconds(awaited) ?? 0) / SAID_EVERY_SECONDS);
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
      {steps > 0 ? t.waiting(t.elapsed(steps * SAID_EVERY_SECONDS)) : phases[said.phase]}
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
