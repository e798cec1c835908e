import { lazy, Suspense } from "react";
import { number } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import type { ToolProgress } from "../../protocol/events.gen";
import { type Answer, isActive, mainBlocks, planOf } from "../../state/answer";
import { isOpen } from "../../state/planChanges";
import type { Turn } from "../../state/turns";
import { Boundary } from "../../ui/Boundary";
import { AnswerEnd } from "./AnswerEnd";
import { AnswerProof } from "./AnswerProof";
import "./answer.css";
import { useAwaitedSeconds } from "./awaiting";
import { BlockView } from "./BlockView";
import { FinishButton } from "./FinishButton";
import { words } from "./words";

const load = () => import("./plan/PlanCard");
const PlanCard = lazy(async () => ({ default: (await load()).PlanCard }));
const BudgetLine = lazy(async () => ({ default: (await load()).BudgetLine }));

/** A model that begins sooner is not said to be awaited. */
const SAID_AFTER_SECONDS = 3;

/** An answer: what was thought, done and said, in the order in which it came. */
export function AnswerView({ turn }: { turn: Turn }) {
  const t = useWords(words);
  const { answer } = turn;
  const files = answer.blocks.findIndex(({ type }) => type === "attachments");
  const proof = (!isActive(answer) || isJudged(answer)) && <AnswerProof turn={turn} />;
  return (
    <div className="chat-answer" aria-busy={isActive(answer) || undefined}>
      <h2 className="ui-hidden">{t.footnote}</h2>
      {answer.blocks.map((block, at) =>
        block.parent === undefined ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the index of a block is its name.
          <Boundary key={at}>
            {at === files && proof}
            {block.type === "plan" ? (
              <Suspense fallback={<div className="chat-plan-place" />}>
                <PlanCard turn={turn} plan={block} />
              </Suspense>
            ) : (
              <BlockView block={block} at={at} turnKey={turn.key} />
            )}
          </Boundary>
        ) : null,
      )}
      {files < 0 && proof}
      {isActive(answer) ? <Working answer={answer} /> : <AnswerEnd turn={turn} />}
    </div>
  );
}

/** Its last text has verdicts, though a second look may go on. */
function isJudged({ blocks }: Answer): boolean {
  const last = mainBlocks(blocks).findLast(({ type }) => type !== "attachments");
  return last?.type === "text" && last.citations.length > 0;
}

/** That something goes on, from the first moment to the last. */
function Working({ answer }: { answer: Answer }) {
  const t = useWords(words);
  return (
    <p className="chat-working">
      <span className="chat-pulse" aria-hidden="true" />
      <Doing answer={answer} />
      {answer.budget && answer.spent && !planOf(answer) && (
        <Suspense>
          <BudgetLine budget={answer.budget} spent={answer.spent} />
        </Suspense>
      )}
      {answer.runId !== null && isLookingUp(answer) && (
        <FinishButton runId={answer.runId} text={t.answerNow} title={t.answerNowTitle} />
      )}
    </p>
  );
}

const LOOKS_UP = new Set(["web_search", "read_page"]);

/** A search goes on, or has ended before the answer has begun. */
function isLookingUp({ blocks, writing }: Answer): boolean {
  const last = blocks.findLast((block) => block.type !== "thinking");
  if (writing || last?.type === "text" || blocks.some((block) => block.type === "plan")) return false;
  return blocks.some((block) => block.type === "tool_use" && LOOKS_UP.has(block.name));
}

function Doing({ answer }: { answer: Answer }) {
  const t = useWords(words);
  const seconds = useAwaitedSeconds(answer);
  if (seconds !== null && seconds >= SAID_AFTER_SECONDS)
    return <span className="chat-waiting">{t.waiting(t.elapsed(seconds))}</span>;
  if (answer.writing) return <Writing progress={answer.writing} />;
  if (answer.blocks.length === 0) return answer.phase === "waiting" ? t.starting : t.working;
  if (isJudged(answer)) return t.checkingStatements;
  const plan = planOf(answer);
  if (plan?.items.some(isOpen)) return t.researching;
  if (plan && !mainBlocks(answer.blocks).some((block) => block.type === "tool_use")) return t.writingBegins;
  const last = mainBlocks(answer.blocks).findLast((block) => block.type !== "unknown");
  const speaks = last && "open" in last && last.open;
  return speaks ? <span className="ui-hidden">{t.working}</span> : t.working;
}

function Writing({ progress }: { progress: ToolProgress }) {
  const t = useWords(words);
  const locale = useLocale();
  const { label, stage, done, total } = progress;
  const what = label || stage;
  const text =
    total === null
      ? t.writing(what, number(done, locale))
      : t.writingReport(what, number(done, locale), number(total, locale));
  return <span dir="auto">{text}</span>;
}
