import { useEffect, useState } from "react";
import { number, price } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import type { Budget, Spent } from "../../../protocol/events.gen";
import { words } from "./words";

interface BudgetProps {
  budget: Budget;
  spent: Spent;
  isActive: boolean;
}

interface Use {
  name: keyof Budget;
  title: string;
  spent: number;
  limit: number;
  text: string;
  /** In words, for screen readers. */
  said: string;
}

/** What a run has used of its time, its money and its pages. */
export function BudgetBars(props: BudgetProps) {
  const uses = useUses(props);
  if (uses.length === 0) return null;
  return (
    <ul className="chat-budget">
      {uses.map(({ name, title, spent, limit, text, said }) => (
        <li key={name} className="chat-budget-use" data-full={spent >= limit || undefined}>
          <span className="chat-budget-title">{title}</span>
          <span className="chat-budget-text">{text}</span>
          <progress
            className="ui-progress"
            aria-label={title}
            aria-valuetext={said}
            max={limit || 1}
            value={Math.min(spent, limit || 1)}
          />
        </li>
      ))}
    </ul>
  );
}

/** The same in one line, for an answer without a plan. */
export function BudgetLine(props: Omit<BudgetProps, "isActive">) {
  const uses = useUses({ ...props, isActive: true });
  return <span className="chat-budget-line">{uses.map(({ text }) => text).join(" · ")}</span>;
}

function useUses({ budget, spent, isActive }: BudgetProps): Use[] {
  const t = useWords(words);
  const locale = useLocale();
  const seconds = useSeconds(spent, isActive);
  const uses: Use[] = [];
  type Shown = (amount: number) => string;
  const use = (name: keyof Budget, title: string, used: number | null, shown: Shown, inWords = shown) => {
    const limit = budget[name];
    if (limit === undefined) return;
    const of = (show: Shown) => t.of(used === null ? t.unknownCost : show(used), show(limit));
    uses.push({ name, title, spent: used ?? 0, limit, text: of(shown), said: of(inWords) });
  };
  use("seconds", t.time, seconds, clockText, (amount) => durationText(amount, t));
  use("usd", t.money, spent.usd, (amount) => price(amount, locale));
  use("pages", t.pages, spent.pages, (amount) => number(amount, locale));
  return uses;
}

/** The seconds that the server has told, and those that have gone by since. */
function useSeconds(spent: Spent, isActive: boolean): number {
  const [told, setTold] = useState({ spent, at: Date.now() });
  const [now, setNow] = useState(Date.now);
  if (told.spent !== spent) setTold({ spent, at: Date.now() });
  useEffect(() => {
    if (!isActive) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isActive]);
  return spent.seconds + (isActive ? Math.max(0, now - told.at) / 1000 : 0);
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** "4:05", "1:04:05": as short as it is while it ticks. */
function clockText(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [Math.floor((whole % HOUR) / MINUTE), whole % MINUTE];
  const hours = Math.floor(whole / HOUR);
  const [first = 0, ...others] = hours > 0 ? [hours, ...parts] : parts;
  return [`${first}`, ...others.map((part) => `${part}`.padStart(2, "0"))].join(":");
}

/** "4 min 5 s". */
export function durationText(seconds: number, t: (typeof words)["en"]): string {
  const whole = Math.round(seconds);
  if (whole < MINUTE) return t.seconds(whole);
  if (whole < HOUR) return t.minutes(Math.floor(whole / MINUTE), whole % MINUTE);
  return t.hours(Math.floor(whole / HOUR), Math.floor((whole % HOUR) / MINUTE));
}
