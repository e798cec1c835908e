import { useMemo, useRef } from "react";
import { Offsets } from "../../lib/offsets";
import type { Block } from "../../state/answer";
import { statementsOf } from "../../ui/markdown";
import { beginningOf, elementsOf, type Judged, Proof } from "../../ui/proof";

/** The verdicts on the statements of an answer, below its text. */
export function AnswerProof({ blocks }: { blocks: readonly Block[] }) {
  const room = useRef<HTMLDivElement>(null);
  const statements = useMemo(() => judgedIn(blocks, () => room.current?.closest(".chat-answer")), [blocks]);
  if (statements.length === 0) return null;
  return (
    <div ref={room} className="chat-proof">
      <Proof statements={statements} />
    </div>
  );
}

function judgedIn(blocks: readonly Block[], answer: () => Element | null | undefined): Judged[] {
  return blocks.flatMap((block, at) => {
    if (block.type !== "text" || block.citations.length === 0) return [];
    const offsets = new Offsets(block.text);
    return statementsOf(block.citations).map((statement) => ({
      key: `${at} ${statement.key}`,
      verdict: statement.verdict,
      beginning: () => beginningOf(block.text.slice(offsets.unit(statement.start), offsets.unit(statement.end))),
      find: () => elementsOf(answer()?.querySelector(`.chat-text[data-block="${at}"]`), statement),
    }));
  });
}
