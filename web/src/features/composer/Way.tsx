import { SlidersHorizontal, Telescope } from "lucide-react";
import { lazy, Suspense } from "react";
import { useLocale, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { conversation } from "../../state/conversation";
import { chooseWay, way } from "../../state/drafts";
import { Boundary } from "../../ui/Boundary";
import { Button } from "../../ui/Button";
import { amountText, LIMITS } from "./amounts";
import { change, draft } from "./draft";
import { words } from "./words";

// What is opened now and then comes when it is opened.
const LimitChoices = lazy(async () => ({ default: (await import("./research")).LimitChoices }));

/** Whether the question is answered by research, and the button that opens its limits. */
export function WayButtons() {
  const t = useWords(words);
  const locale = useLocale();
  const { mode, budget } = useStore(way);
  const open = useStore(draft, (known) => known.limits);
  const isResearch = mode === "research";
  const chosen = LIMITS.flatMap((name) => {
    const value = budget[name];
    return value === undefined ? [] : [amountText(name, value, t, locale)];
  });
  return (
    <>
      <Button
        look="quiet"
        small
        className="composer-research"
        icon={Telescope}
        aria-pressed={isResearch}
        aria-label={t.research}
        title={t.researchTitle}
        onClick={() => chooseWay(conversation.get().sessionId, { mode: isResearch ? "answer" : "research" })}
      >
        <span className="composer-research-name">{t.research}</span>
      </Button>
      <Button
        look="quiet"
        small
        className="composer-limits-button"
        icon={SlidersHorizontal}
        aria-label={chosen.length > 0 ? t.limitsOf(chosen.join(", ")) : t.limits}
        title={t.limits}
        aria-expanded={open}
        aria-controls={open ? "composer-limits" : undefined}
        onClick={() => change({ limits: !open })}
      >
        {chosen.length > 0 && <span className="composer-choice-name">{chosen.join(" · ")}</span>}
      </Button>
    </>
  );
}

/** What the run may use, and what its report is like. */
export function Limits() {
  const open = useStore(draft, (known) => known.limits);
  return open ? (
    <Boundary>
      <Suspense>
        <LimitChoices />
      </Suspense>
    </Boundary>
  ) : null;
}
