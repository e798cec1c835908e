import { ChevronDown, ChevronUp } from "lucide-react";
import { useWords } from "../../lib/i18n";
import { Button } from "../../ui/Button";
import type { MatchNavigation } from "./matchNavigation";
import { words } from "./words";

/** Leads from one place that was searched for to the next. */
export function MatchBar({ walk: { at, of, step } }: { walk: MatchNavigation }) {
  const t = useWords(words);
  return (
    <section className="chat-found" aria-label={t.found}>
      <span role="status">{t.foundAt(at, of)}</span>
      {of > 1 && (
        <>
          <Button look="quiet" small icon={ChevronUp} label={t.previousFound} onClick={() => step(-1)} />
          <Button look="quiet" small icon={ChevronDown} label={t.nextFound} onClick={() => step(1)} />
        </>
      )}
    </section>
  );
}
