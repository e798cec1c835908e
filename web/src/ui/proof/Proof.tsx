import { Fragment, type ReactNode, useMemo } from "react";
import { number } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import type { ProofCounts } from "../../protocol/events.gen";
import { BEST_FIRST } from "../markdown";
import type { Judged } from "./judged";
import { ProofMap } from "./ProofMap";
import "./proof.css";
import { words } from "./words";

export interface ProofProps {
  /** In the order of the text. */
  statements: readonly Judged[];
  /** What can be done about them. */
  children?: ReactNode;
}

/** What became of the statements of a text: how many have which verdict, and where they stand. */
export function Proof({ statements, children }: ProofProps) {
  const t = useWords(words);
  const counts = useMemo(() => countsOf(statements), [statements]);
  if (statements.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls, and each answer has one: no landmark
    <div className="proof" role="group" aria-label={t.proof}>
      <div className="proof-head">
        <ProofLine counts={counts} />
        {children}
      </div>
      <ProofMap statements={statements} />
    </div>
  );
}

function countsOf(statements: readonly Judged[]): ProofCounts {
  const counts = { supported: 0, partial: 0, contradicted: 0, unsupported: 0, uncited: 0, unread: 0 };
  for (const { verdict } of statements) counts[verdict] += 1;
  return { statements: statements.length, ...counts };
}

/** "12 statements: 9 supported, 2 partly supported, 1 without a source". */
export function ProofLine({ counts }: { counts: ProofCounts }) {
  const t = useWords(words);
  const locale = useLocale();
  const named = {
    supported: t.supportedCount,
    partial: t.partialCount,
    contradicted: t.contradictedCount,
    unsupported: t.unsupportedCount,
    uncited: t.uncitedCount,
    unread: t.unreadCount,
  };
  const found = BEST_FIRST.filter((verdict) => counts[verdict] > 0);
  return (
    <p className="proof-line">
      {t.statements(number(counts.statements, locale), counts.statements === 1)}
      {t.colon}
      {found.map((verdict, at) => (
        <Fragment key={verdict}>
          {at > 0 && t.comma}
          <span className="proof-count">
            <span className="proof-sign" data-verdict={verdict} aria-hidden="true" />
            {named[verdict](number(counts[verdict], locale))}
          </span>
        </Fragment>
      ))}
    </p>
  );
}
