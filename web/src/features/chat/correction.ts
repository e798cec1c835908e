import { Offsets } from "../../lib/offsets";
import type { Verdict } from "../../protocol/events.gen";
import type { Block } from "../../state/answer";
import { type Statement, sentenceText, statementsOf } from "../../ui/markdown";

/** What is asked for. A part of a statement may be wrong without anybody being misled by it. */
const WRONG: readonly Verdict[] = ["contradicted", "unsupported", "uncited", "unread"];
const MAX_LISTED = 12;
const MAX_LENGTH = 300;

export interface CorrectionWords {
  correctQuestion: string;
  correctMore: (count: number) => string;
  wrongContradicted: (quote: string) => string;
  wrongUnsupported: string;
  wrongUncited: string;
  wrongSuggested: (number: number) => string;
  wrongUnread: string;
}

/** Whether an answer has statements that do not hold. */
export function isWrong(blocks: readonly Block[]): boolean {
  return blocks.some(
    (block) => block.type === "text" && statementsOf(block.citations).some(({ verdict }) => WRONG.includes(verdict)),
  );
}

/** Asks for a corrected answer, with the statements that do not hold and why. Null: all of them do. */
export function correctionOf(blocks: readonly Block[], t: CorrectionWords): string | null {
  const lines = blocks.flatMap((block) => {
    if (block.type !== "text") return [];
    const offsets = new Offsets(block.text);
    const wrong = statementsOf(block.citations).filter(({ verdict }) => WRONG.includes(verdict));
    return wrong.map((statement) => {
      const said = sentenceText(block.text.slice(offsets.unit(statement.start), offsets.unit(statement.end)));
      return `- “${shortened(said)}”: ${reasonOf(statement, t)}`;
    });
  });
  if (lines.length === 0) return null;
  const more = lines.length > MAX_LISTED ? [`- ${t.correctMore(lines.length - MAX_LISTED)}`] : [];
  return [t.correctQuestion, "", ...lines.slice(0, MAX_LISTED), ...more].join("\n");
}

function reasonOf({ verdict, citations }: Statement, t: CorrectionWords): string {
  const citation = citations.find((one) => one.verdict === verdict);
  const { quote, suggestion } = citation ?? { quote: null, suggestion: null };
  if (verdict === "contradicted" && quote) return t.wrongContradicted(shortened(quote.replace(/\s+/g, " ")));
  if (verdict === "uncited") return suggestion === null ? t.wrongUncited : t.wrongSuggested(suggestion);
  return verdict === "unread" ? t.wrongUnread : t.wrongUnsupported;
}

function shortened(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
