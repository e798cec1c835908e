import { ArrowDown, History } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { number } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { conversation } from "../../state/conversation";
import type { Turn } from "../../state/turns";
import { Boundary } from "../../ui/Boundary";
import { Button } from "../../ui/Button";
import "./chat.css";
import { MatchBar } from "./MatchBar";
import { useMatchNavigation } from "./matchNavigation";
import { NotShown } from "./NotShown";
import { StatusLine } from "./StatusLine";
import { useScrolling } from "./scrolling";
import { TurnView } from "./TurnView";
import { words } from "./words";

/** Turns that are drawn at first, and how many more each time somebody asks for earlier ones. */
const DRAWN = 50;

/** The conversation, in its own scrolling box, with the line that tells screen readers how it goes. */
export function ChatLog() {
  const t = useWords(words);
  const state = useStore(conversation, (known) => known.state);
  const turns = useStore(conversation, (known) => known.turns);
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const scrolling = useScrolling();
  const { log, column, isAtEnd, goToEnd, hold } = scrolling;
  const { first, showFrom } = useEarlier(sessionId, turns.length);

  const last = turns.at(-1);
  // A turn without a run was asked here and now.
  const asked = last && last.answer.runId === null ? last.key : null;
  useEffect(() => {
    if (asked === null) return;
    goToEnd();
    // The button that asked again, or the field of an edited question, is gone with what stood there.
    if (document.activeElement === document.body) log.current?.focus({ preventScroll: true });
  }, [asked, goToEnd, log]);
  useEffect(() => {
    if (state === "ready" && sessionId !== null) goToEnd();
  }, [state, sessionId, goToEnd]);

  const walk = useMatchNavigation({ turns, first, showFrom }, scrolling);

  return (
    <div className="chat">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <div ref={log} className="chat-log" role="log" aria-live="off" aria-label={t.conversation} tabIndex={0}>
        <div ref={column} className="chat-column">
          {state !== "ready" && turns.length === 0 ? (
            <NotShown state={state} />
          ) : (
            <Turns
              turns={turns}
              first={first}
              onEarlier={() => {
                hold();
                showFrom(first - DRAWN);
              }}
            />
          )}
        </div>
      </div>
      {!isAtEnd && (
        <Button small className="chat-jump" icon={ArrowDown} onClick={goToEnd}>
          {t.jump}
        </Button>
      )}
      {walk && <MatchBar walk={walk} />}
      <StatusLine />
    </div>
  );
}

function Turns({ turns, first, onEarlier }: { turns: readonly Turn[]; first: number; onEarlier: () => void }) {
  const t = useWords(words);
  const locale = useLocale();
  return (
    <>
      {first > 0 && (
        <Button small className="chat-earlier" icon={History} onClick={onEarlier}>
          {t.loadEarlier(number(2 * first, locale))}
        </Button>
      )}
      {turns.slice(first).map((turn) => (
        <Boundary key={turn.key}>
          <TurnView turn={turn} />
        </Boundary>
      ))}
    </>
  );
}

function useEarlier(sessionId: string | null, count: number) {
  const [wanted, setWanted] = useState({ sessionId, from: Number.POSITIVE_INFINITY });
  const from = wanted.sessionId === sessionId ? wanted.from : Number.POSITIVE_INFINITY;
  const first = Math.max(0, Math.min(from, count - DRAWN));
  const showFrom = useCallback((at: number) => setWanted({ sessionId, from: Math.max(0, at) }), [sessionId]);
  return { first, showFrom };
}
