import { CircleAlert, CircleStop, Info, type LucideIcon, RotateCcw } from "lucide-react";
import { useWords } from "../../lib/i18n";
import type { ErrorBody } from "../../protocol/events.gen";
import type { Answer } from "../../state/answer";
import { retry } from "../../state/asking";
import type { Turn } from "../../state/turns";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { AnswerActions } from "./AnswerActions";
import { attempt, useBusy } from "./busy";
import { copy } from "./clipboard";
import { words } from "./words";

/** How an answer ended, and what can be done with it. */
export function AnswerEnd({ turn }: { turn: Turn }) {
  return (
    <>
      <StopNote answer={turn.answer} />
      {turn.answer.phase === "failed" && <Failure turn={turn} error={turn.answer.error} />}
      <AnswerActions turn={turn} />
    </>
  );
}

function StopNote({ answer }: { answer: Answer }) {
  const t = useWords(words);
  if (answer.phase === "stopped") return <Note icon={CircleStop} text={t.stoppedByYou} />;
  if (answer.stopReason === "length") return <Note icon={Info} text={t.reachedLength} />;
  return answer.stopReason === "max_rounds" ? <Note icon={Info} text={t.reachedRounds} /> : null;
}

function Note({ icon, text }: { icon: LucideIcon; text: string }) {
  return (
    <p className="chat-note">
      <Icon of={icon} />
      <span>{text}</span>
    </p>
  );
}

function Failure({ turn, error }: { turn: Turn; error: ErrorBody | null }) {
  const t = useWords(words);
  const busy = useBusy();
  const said: Readonly<Record<string, string>> = {
    upstream_error: t.errorUpstream,
    limit_reached: t.errorLimit,
    config_error: t.errorConfig,
    internal_error: t.errorOther,
  };
  // Other names are those of the model's provider.
  const title = error ? (said[error.type] ?? t.errorUpstream) : t.errorOther;
  const detail = [error?.type, error?.message, turn.answer.model, turn.answer.runId].filter(Boolean).join("\n");
  return (
    <div className="chat-failure">
      <Icon of={CircleAlert} />
      <div className="chat-failure-text">
        <p className="chat-failure-title">{title}</p>
        {error && (
          <p className="chat-failure-detail" dir="auto">
            {error.message}
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
