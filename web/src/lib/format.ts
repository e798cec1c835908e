/** Numbers, sizes, dates and prices as the reader's language writes them. */

import { type Locale, languageTag } from "./i18n";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The steps that limits are set in: 100 MB are 104,857,600 bytes. */
const STEP = 1024;
/** `Intl.RelativeTimeFormat` would say "this minute". */
const JUST_NOW: Readonly<Record<Locale, string>> = { en: "just now", vi: "vừa xong", zh: "刚刚" };
const UNITS = ["KB", "MB", "GB", "TB"] as const;

/** A formatter takes far longer to make than to use, and a long conversation has hundreds of numbers and dates. */
function once<F>(make: (tag: string) => F): (locale: Locale) => F {
  const made = new Map<Locale, F>();
  return (locale) => {
    const known = made.get(locale) ?? make(languageTag(locale));
    made.set(locale, known);
    return known;
  };
}

const numbers = once((tag) => new Intl.NumberFormat(tag));
const moments = once((tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short" }));
const days = once((tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium" }));
const relatives = once((tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto", style: "short" }));
const prices = once((tag) => new Intl.NumberFormat(tag, inDollars(2)));
const smallPrices = once((tag) => new Intl.NumberFormat(tag, inDollars(4)));

function inDollars(maximumFractionDigits: number): Intl.NumberFormatOptions {
  return { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits };
}

export function number(value: number, locale: Locale): string {
  return numbers(locale).format(value);
}

export function size(bytes: number, locale: Locale): string {
  const tag = languageTag(locale);
  let power = 0;
  // What would be written as 1,024 of a unit is one of the next.
  while (power < UNITS.length && Math.round((10 * bytes) / STEP ** power) >= 10 * STEP) power += 1;
  const unit = UNITS[power - 1];
  if (!unit) return new Intl.NumberFormat(tag, { style: "unit", unit: "byte", unitDisplay: "long" }).format(bytes);
  return `${new Intl.NumberFormat(tag, { maximumFractionDigits: 1 }).format(bytes / STEP ** power)} ${unit}`;
}

/** In US dollars; parts of a cent are shown where that is all it cost. */
export function price(dollars: number, locale: Locale): string {
  const isSmall = dollars > 0 && dollars < 0.01;
  return (isSmall ? smallPrices : prices)(locale).format(dollars);
}

export function moment(iso: string, locale: Locale): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return moments(locale).format(date);
}

export function day(iso: string, locale: Locale): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return days(locale).format(date);
}

/** "just now", "5 minutes ago", "yesterday"; a date for anything older than a week. */
export function ago(iso: string, locale: Locale, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const past = Math.abs(seconds);
  const relative = relatives(locale);
  if (Number.isNaN(seconds)) return iso;
  if (past < MINUTE) return JUST_NOW[locale];
  if (past < HOUR) return relative.format(Math.round(seconds / MINUTE), "minute");
  if (past < DAY) return relative.format(Math.round(seconds / HOUR), "hour");
  if (past < 7 * DAY) return relative.format(Math.round(seconds / DAY), "day");
  return day(iso, locale);
}
