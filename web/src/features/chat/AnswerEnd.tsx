import { CircleAlert, CircleStop, Info, type LucideIcon, Play, RotateCcw, Search, Unlink } from "lucide-react";
import type { ReactNode } from "react";
import { useLocale, useWords } from "../../lib/i18n";
import type { ErrorBody } from "../../protocol/events.gen";
import { reasonText } from "../../protocol/reasons";
import { ask, retry } from "../../state/commands";
import { READER } from "../../state/modelChoice";
import type { Turn } from "../../state/turns";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { AnswerActions } from "./AnswerActions";
import { attempt, useBusy, useIsLast } from "./busy";
import { copy } from "./clipboard";
import { words } from "./words";

/** How an answer ended, and what can be done with it. */
export function AnswerEnd({ turn }: { turn: Turn }) {
  return (
    <>
      <StopNote turn={turn} />
      {turn.answer.unsourced && <Unsourced turn={turn} />}
      {turn.answer.phase === "failed" && <Failure turn={turn} error={turn.answer.error} />}
      <AnswerActions turn={turn} />
    </>
  );
}

function StopNote({ turn }: { turn: Turn }) {
  const t = useWords(words);
  const { answer } = turn;
  if (answer.phase === "stopped")
    return (
      <Note icon={CircleStop} text={t.stoppedByYou}>
        <Continue turn={turn} />
      </Note>
    );
  if (answer.stopReason === "length") {
    const { seconds, usd } = answer.budget ?? {};
    const isLimited = seconds !== undefined || usd !== undefined;
    return <Note icon={Info} text={isLimited ? t.reachedBudget : t.reachedLength} />;
  }
  return answer.stopReason === "max_rounds" ? <Note icon={Info} text={t.reachedRounds} /> : null;
}

function Note({ icon, text, children }: { icon: LucideIcon; text: string; children?: ReactNode }) {
  return (
    <p className="chat-note">
      <Icon of={icon} />
      <span>{text}</span>
      {children}
    </p>
  );
}

/** The answer states facts that nobody looked up, and says so; the same question can be asked with looking up. */
function Unsourced({ turn }: { turn: Turn }) {
  const t = useWords(words);
  const busy = useBusy();
  const isLast = useIsLast(turn);
  const question = turn.text.length > MAX_REPEATED ? `${turn.text.slice(0, MAX_REPEATED)}…` : turn.text;
  const lookUp = () => void attempt(() => ask({ text: t.lookUpQuestion(question), attachments: [] }));
  return (
    <Note icon={Unlink} text={t.unsourced}>
      {isLast && (
        <Button small icon={Search} disabled={busy} onClick={lookUp}>
          {t.lookUp}
        </Button>
      )}
    </Note>
  );
}

/** Of a long question the beginning says which one it was: all of it stands above. */
const MAX_REPEATED = 500;

/** Asks to go on from what came. The reader has no memory of it: it would look for the word itself. */
function Continue({ turn }: { turn: Turn }) {
  const t = useWords(words);
  const isLast = useIsLast(turn);
  if (!isLast || turn.answer.model === READER) return null;
  return (
    <Button small icon={Play} onClick={() => void attempt(() => ask({ text: t.continueQuestion, attachments: [] }))}>
      {t.goOn}
    </Button>
  );
}

function Failure({ turn, error }: { turn: Turn; error: ErrorBody | null }) {
  const t = useWords(words);
  const locale = useLocale();
  const busy = useBusy();
  const titles: Readonly<Record<string, string>> = {
    upstream_error: t.errorUpstream,
    limit_reached: t.errorLimit,
    config_error: t.errorConfig,
    internal_error: t.errorOther,
  };
  // Other types are those of the model's provider.
  const title = error ? (titles[error.type] ?? t.errorUpstream) : t.errorOther;
  const detail = [error?.type, error?.message, turn.answer.model, turn.answer.runId].filter(Boolean).join("\n");
  return (
    <div className="chat-failure">
      <Icon of={CircleAlert} />
      <div className="chat-failure-text">
        <p className="chat-failure-title">{title}</p>
        {error && (
          <p className="chat-failure-detail" dir="auto">
            {reasonText(error, locale)}
          </p>
        )}
      </div>
      <div className="chat-failure-actions">
        {turn.questionId !== null && (
          <Button small icon={RotateCcw} disabled={busy} onClick={() => void attempt(() => retry(turn))}>
            {t.tryAgain}
          </Button>
        )}
        <Button small look="quiet" onClick={() => void copy(detail)}>
          {t.copyDetail}
        </Button>
      </div>
    </div>
  );
}
