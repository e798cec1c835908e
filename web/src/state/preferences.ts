import { type Locale, languageTag, locale, localeOfBrowser } from "../lib/i18n";
import { onStoredElsewhere, readStored, writeStored } from "../lib/localStorage";
import { Store } from "../lib/store";

export type Theme = "system" | "light" | "dark";
export const NARROWEST_DRAWER = 320;
export const WIDEST_DRAWER = 600;

/** What somebody likes, on this browser. `locale` null: that of the browser. `model` null: what the server takes. */
export interface Preferences {
  theme: Theme;
  locale: Locale | null;
  model: string | null;
  agent: string | null;
  sidebar: boolean;
  drawerWidth: number;
  notify: boolean;
}

const DEFAULTS: Preferences = {
  theme: "system",
  locale: null,
  model: null,
  agent: null,
  sidebar: true,
  drawerWidth: 400,
  notify: false,
};

export const preferences = new Store<Preferences>(recalled());

export function prefer(changes: Partial<Preferences>): void {
  for (const [name, value] of Object.entries(changes)) writeStored(name, value);
  preferences.set((known) => ({ ...known, ...changes }));
  apply();
}

export function clampedWidth(width: number): number {
  return Math.round(Math.min(WIDEST_DRAWER, Math.max(NARROWEST_DRAWER, width)));
}

/** What the document itself must know: theme and language. */
function apply(): void {
  const { theme, locale: chosen } = preferences.get();
  const wanted = chosen ?? localeOfBrowser();
  if (locale.get() !== wanted) locale.set(wanted);
  document.documentElement.lang = languageTag(wanted);
  document.documentElement.dataset.theme = theme;
}

function recalled(): Preferences {
  const entries = Object.entries(DEFAULTS).map(([name, value]) => [name, readStored<unknown>(name, value)]);
  const known = Object.fromEntries(entries) as Preferences;
  return { ...known, drawerWidth: clampedWidth(Number(known.drawerWidth) || DEFAULTS.drawerWidth) };
}

/** Applies the preferences, also when another tab changes them. */
export function followPreferences(): void {
  apply();
  onStoredElsewhere((name) => {
    if (!(name in DEFAULTS)) return;
    preferences.set(recalled());
    apply();
  });
}
