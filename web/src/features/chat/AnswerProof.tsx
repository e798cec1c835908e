import { PenLine } from "lucide-react";
import { useMemo, useRef } from "react";
import { useWords } from "../../lib/i18n";
import { Offsets } from "../../lib/offsets";
import { type Block, isActive, mainBlocks } from "../../state/answer";
import { ask } from "../../state/commands";
import { READER } from "../../state/modelChoice";
import type { Turn } from "../../state/turns";
import { Button } from "../../ui/Button";
import { statementsOf } from "../../ui/markdown";
import { beginningOf, elementsOf, type Judged, Proof } from "../../ui/proof";
import { attempt, useBusy, useIsLast } from "./busy";
import { correctionOf, isWrong } from "./correction";
import { words } from "./words";

/** The verdicts on the statements of an answer, below its text. */
export function AnswerProof({ turn }: { turn: Turn }) {
  const room = useRef<HTMLDivElement>(null);
  const { blocks } = turn.answer;
  const statements = useMemo(() => judgedIn(blocks, () => room.current?.closest(".chat-answer")), [blocks]);
  if (statements.length === 0 || isCheck(blocks)) return null;
  return (
    <div ref={room} className="chat-proof">
      <Proof statements={statements}>
        <Correct turn={turn} />
      </Proof>
    </div>
  );
}

/** The report on a text that was checked lists its statements that do not hold, with counts of its own. */
function isCheck(blocks: readonly Block[]): boolean {
  return blocks.some((block) => block.type === "tool_use" && block.name === "check_text");
}

/** Asks the model to correct what does not hold. The reader only quotes: it has nothing to correct. */
function Correct({ turn }: { turn: Turn }) {
  const isLast = useIsLast(turn);
  const { answer } = turn;
  if (!isLast || isActive(answer) || answer.model === READER || !isWrong(mainBlocks(answer.blocks))) return null;
  return <CorrectButton blocks={mainBlocks(answer.blocks)} />;
}

function CorrectButton({ blocks }: { blocks: readonly Block[] }) {
  const t = useWords(words);
  const busy = useBusy();
  // The question quotes every statement in plain words, which is worth reading their markup only when it is asked.
  const correct = () => {
    const question = correctionOf(blocks, t);
    if (question !== null) void attempt(() => ask({ text: question, attachments: [] }));
  };
  return (
    <Button small icon={PenLine} disabled={busy} title={t.correctTitle} onClick={correct}>
      {t.correct}
    </Button>
  );
}

function judgedIn(blocks: readonly Block[], answer: () => Element | null | undefined): Judged[] {
  return blocks.flatMap((block, at) => {
    // The statements of an item are those that the report was made from, and not its own.
    if (block.type !== "text" || block.citations.length === 0 || block.parent !== undefined) return [];
    const offsets = new Offsets(block.text);
    return statementsOf(block.citations).map((statement) => ({
      key: `${at} ${statement.key}`,
      verdict: statement.verdict,
      beginning: () => beginningOf(block.text.slice(offsets.unit(statement.start), offsets.unit(statement.end))),
      find: () => elementsOf(answer()?.querySelector(`.chat-text[data-block="${at}"]`), statement),
    }));
  });
}
