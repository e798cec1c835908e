import { Check, CircleDashed, CircleHelp, CircleSlash, EyeOff, type LucideIcon, Quote } from "lucide-react";
import { useWords } from "../../lib/i18n";
import type { Verdict } from "../../protocol/events.gen";
import { Badge, type Tone } from "../../ui/Badge";
import { Icon } from "../../ui/Icon";
import type { Cited } from "./sourceGroups";
import { words } from "./words";

const TONES: Record<Verdict, Tone> = {
  supported: "good",
  partial: "warn",
  contradicted: "bad",
  unsupported: "bad",
  uncited: "warn",
  unread: "warn",
};
const SIGNS: Record<Verdict, LucideIcon> = {
  supported: Check,
  partial: CircleDashed,
  contradicted: CircleSlash,
  unsupported: CircleHelp,
  uncited: Quote,
  unread: EyeOff,
};
const BEST_FIRST: readonly Verdict[] = ["supported", "partial", "contradicted", "unsupported", "unread", "uncited"];

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  const t = useWords(words);
  return (
    <Badge tone={TONES[verdict]}>
      <Icon of={SIGNS[verdict]} />
      {t[verdict]}
    </Badge>
  );
}

/** How often a source is cited, and how often it says what it is cited for. */
export function CitedBadges({ cited }: { cited: Cited }) {
  const t = useWords(words);
  return (
    <>
      <Badge>{t.cited(cited.total)}</Badge>
      {BEST_FIRST.filter((verdict) => cited.verdicts[verdict] > 0).map((verdict) => (
        <Badge key={verdict} tone={TONES[verdict]}>
          <Icon of={SIGNS[verdict]} />
          <span aria-hidden="true" title={t.verdicts(cited.verdicts[verdict], t[verdict])}>
            {cited.verdicts[verdict]}
          </span>
          <span className="ui-hidden">{t.verdicts(cited.verdicts[verdict], t[verdict])}</span>
        </Badge>
      ))}
    </>
  );
}
