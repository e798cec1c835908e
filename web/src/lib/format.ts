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

export function number(value: number, locale: Locale): string {
  return new Intl.NumberFormat(languageTag(locale)).format(value);
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
  const digits = dollars > 0 && dollars < 0.01 ? 4 : 2;
  const style = {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  } as const;
  return new Intl.NumberFormat(languageTag(locale), style).format(dollars);
}

export function moment(iso: string, locale: Locale): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return new Intl.DateTimeFormat(languageTag(locale), { dateStyle: "medium", timeStyle: "short" }).format(date);
}

export function day(iso: string, locale: Locale): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return new Intl.DateTimeFormat(languageTag(locale), { dateStyle: "medium" }).format(date);
}

/** "just now", "5 minutes ago", "yesterday"; a date for anything older than a week. */
export function ago(iso: string, locale: Locale, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const past = Math.abs(seconds);
  const relative = new Intl.RelativeTimeFormat(languageTag(locale), { numeric: "auto", style: "short" });
  if (Number.isNaN(seconds)) return iso;
  if (past < MINUTE) return JUST_NOW[locale];
  if (past < HOUR) return relative.format(Math.round(seconds / MINUTE), "minute");
  if (past < DAY) return relative.format(Math.round(seconds / HOUR), "hour");
  if (past < 7 * DAY) return relative.format(Math.round(seconds / DAY), "day");
  return day(iso, locale);
}
