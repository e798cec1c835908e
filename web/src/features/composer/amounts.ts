import { number, price } from "../../lib/format";
import type { Locale } from "../../lib/i18n";
import type { Budget } from "../../protocol/events.gen";
import type { words } from "./words";

export const LIMITS = ["seconds", "usd", "pages"] as const;

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** "15 minutes", "$1.00", "60 pages". */
export function amountText(name: keyof Budget, value: number, t: (typeof words)["en"], locale: Locale): string {
  if (name === "usd") return price(value, locale);
  if (name === "pages") return t.pagesOf(number(value, locale));
  return value % HOUR === 0 ? t.hours(value / HOUR) : t.minutes(Math.round(value / MINUTE));
}
