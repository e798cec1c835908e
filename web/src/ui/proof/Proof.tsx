import { Fragment, type ReactNode, useMemo } from "react";
import { number } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
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
  const locale = useLocale();
  const counts = useMemo(() => {
    const found = BEST_FIRST.map((verdict) => ({
      verdict,
      count: statements.filter((one) => one.verdict === verdict).length,
    }));
    return found.filter(({ count }) => count > 0);
  }, [statements]);
  if (statements.length === 0) return null;
  const named = {
    supported: t.supportedCount,
    partial: t.partialCount,
    contradicted: t.contradictedCount,
    unsupported: t.unsupportedCount,
    uncited: t.uncitedCount,
    unread: t.unreadCount,
  };
  return (
    <section className="proof" aria-label={t.proof}>
      <div className="proof-head">
        <p className="proof-line">
          {t.statements(number(statements.length, locale), statements.length === 1)}
          {t.colon}
          {counts.map(({ verdict, count }, at) => (
            <Fragment key={verdict}>
              {at > 0 && t.comma}
              <span className="proof-count">
                <span className="proof-sign" data-verdict={verdict} aria-hidden="true" />
                {named[verdict](number(count, locale))}
              </span>
            </Fragment>
          ))}
        </p>
        {children}
      </div>
      <ProofMap statements={statements} />
    </section>
  );
}
