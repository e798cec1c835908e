import { Fragment, type ReactNode, useContext } from "react";
import { useWords } from "../../lib/i18n";
import type { Verdict } from "../../protocol/events.gen";
import { MarksContext } from "./context";
import type { StatementPart } from "./statements";
import { words } from "./words";

/** The words of a judged statement. What a verdict looks like does not depend on its colour, and it has a description. */
export function StatementView({ part, content }: { part: StatementPart; content: ReactNode }) {
  const t = useWords(words);
  const { statement, isLast } = part;
  const described: Record<Exclude<Verdict, "supported">, string> = {
    partial: t.partial,
    contradicted: t.contradicted,
    unsupported: t.unsupported,
    uncited: t.uncited,
    unread: t.unread,
  };
  const description = statement.verdict === "supported" ? undefined : described[statement.verdict];
  return (
    <>
      <span
        className="md-statement"
        data-statement={statement.key}
        data-verdict={statement.verdict}
        role={description && "mark"}
        aria-description={description}
      >
        {content}
      </span>
      {isLast && <Unmarked part={part} />}
    </>
  );
}

/** The verdicts of a statement that stand at no marker of the text: it has no footnote, or cites a page by a link. */
function Unmarked({ part }: { part: StatementPart }) {
  const { footnotes, unmarked } = useContext(MarksContext);
  const without = part.statement.citations.filter((one) => unmarked.has(one));
  if (!footnotes || without.length === 0) return null;
  return (
    <span className="md-cited">
      {without.map((citation, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they never change their order
        <Fragment key={at}>{footnotes.render({ number: citation.number, marker: citation.marker, citation })}</Fragment>
      ))}
    </span>
  );
}
