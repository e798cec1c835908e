/** Words in three languages. Each folder has its own, in `words.ts`; that none is missing is checked by the compiler. */

import { readStored } from "./localStorage";
import { Store, useStore } from "./store";

const LOCALES = ["en", "vi", "zh"] as const;
export type Locale = (typeof LOCALES)[number];

type Word = string | ((...values: never[]) => string);
type Words = Record<string, Word>;
/** The same names, and for each of them the same values to put in. */
type Translated<W extends Words> = { [K in keyof W]: W[K] extends string ? string : W[K] };

export type Phrases<W extends Words> = Readonly<Record<Locale, Translated<W>>>;

export function phrases<W extends Words>(all: { en: W; vi: Translated<W>; zh: Translated<W> }): Phrases<W> {
  return all as Phrases<W>;
}

/** The first language of the browser that we speak. */
export function localeOfBrowser(languages: readonly string[] = navigator.languages): Locale {
  const known = languages.map((one) => one.toLowerCase().split("-")[0]);
  return LOCALES.find((locale) => locale === known.find((one) => LOCALES.some((two) => two === one))) ?? "en";
}

export const locale = new Store<Locale>(readStored<Locale | null>("locale", null) ?? localeOfBrowser());

/** How screen readers and fonts know the language: Chinese needs to say which script. */
export function languageTag(of: Locale): string {
  return of === "zh" ? "zh-Hans" : of;
}

export function useLocale(): Locale {
  return useStore(locale);
}

export function useWords<W extends Words>(words: Phrases<W>): Translated<W> {
  return words[useLocale()];
}

/** For text that is made outside of components. */
export function wordsNow<W extends Words>(words: Phrases<W>): Translated<W> {
  return words[locale.get()];
}
