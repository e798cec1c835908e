import { ChevronDown } from "lucide-react";
import { useEffect } from "react";
import { type Locale, useLocale, useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import type { Budget } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { chooseWay, type Way, way } from "../../../state/drafts";
import { readTemplates, templates } from "../../../state/templates";
import { Icon } from "../../../ui/Icon";
import { Menu, type MenuItem } from "../../../ui/Menu";
import { amountText, LIMITS } from "../amounts";
import { words as shared } from "../words";
import { words } from "./words";

const MINUTE = 60;
const PRESETS = {
  seconds: [2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, 60 * MINUTE],
  usd: [0.1, 0.5, 1, 5, 20],
  pages: [10, 30, 60, 150, 300],
} as const;

function choose(changes: Partial<Way>): void {
  chooseWay(conversation.get().sessionId, changes);
}

/** What the run may use, and what its report is like. */
export function LimitChoices() {
  const t = useWords(words);
  const locale = useLocale();
  const { limits } = useWords(shared);
  const { mode, budget } = useStore(way);
  const titles: Record<keyof Budget, string> = { seconds: t.time, usd: t.money, pages: t.pages };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a row in every browser.
    <div id="composer-limits" className="composer-limits" role="group" aria-label={limits}>
      {LIMITS.map((name) => (
        <Limit key={name} name={name} title={titles[name]} value={budget[name]} locale={locale} />
      ))}
      {mode === "research" && <TemplateMenu />}
    </div>
  );
}

interface LimitProps {
  name: keyof Budget;
  title: string;
  value: number | undefined;
  locale: Locale;
}

function Limit({ name, title, value, locale }: LimitProps) {
  const t = useWords(words);
  const units = useWords(shared);
  const mode = useStore(way, (known) => known.mode);
  const usual = mode === "research" ? t.standard : t.noLimit;
  const set = (wanted: number | undefined) => {
    const { [name]: _, ...others } = way.get().budget;
    choose({ budget: wanted === undefined ? others : { ...others, [name]: wanted } });
  };
  const known: readonly number[] = PRESETS[name];
  // One that was kept by an earlier page.
  const values = value === undefined || known.includes(value) ? known : [...known, value].sort((a, b) => a - b);
  const items = [undefined, ...values].map(
    (one): MenuItem => ({
      key: `${one}`,
      text: one === undefined ? usual : t.upTo(amountText(name, one, units, locale)),
      checked: one === value,
      onChoose: () => set(one),
    }),
  );
  return (
    <Choice title={title} shown={value === undefined ? usual : amountText(name, value, units, locale)} items={items} />
  );
}

function TemplateMenu() {
  const t = useWords(words);
  const locale = useLocale();
  const wanted = useStore(way, (known) => known.template);
  const known = useStore(templates);
  useEffect(() => void readTemplates(locale), [locale]);
  if (known.length === 0) return null;
  const titleOf = (name: string) => known.find((one) => one.name === name)?.title ?? name;
  const items = [null, ...known.map(({ name }) => name)].map(
    (name): MenuItem => ({
      key: `${name}`,
      text: name === null ? t.automatic : <span dir="auto">{titleOf(name)}</span>,
      checked: name === wanted,
      onChoose: () => choose({ template: name }),
    }),
  );
  return <Choice title={t.report} shown={wanted === null ? t.automatic : titleOf(wanted)} items={items} />;
}

function Choice({ title, shown, items }: { title: string; shown: string; items: readonly MenuItem[] }) {
  const t = useWords(words);
  return (
    <Menu items={items} small look="quiet" className="composer-limit" label={t.option(title, shown)}>
      <span className="composer-limit-title">{title}</span>
      <span className="composer-choice-name" dir="auto">
        {shown}
      </span>
      <Icon of={ChevronDown} />
    </Menu>
  );
}
