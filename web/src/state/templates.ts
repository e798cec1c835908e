/** The templates of reports that the server has. */

import type { Locale } from "../lib/i18n";
import { Store } from "../lib/store";
import { api } from "../protocol/client";
import type { TemplateView } from "../protocol/events.gen";

export const templates = new Store<readonly TemplateView[]>([]);

let language: Locale | null = null;

/** Reads them with titles in this language, once. Without them the server chooses. */
export async function readTemplates(wanted: Locale): Promise<void> {
  if (language === wanted) return;
  language = wanted;
  try {
    const list = await api.templates(wanted);
    if (language === wanted) templates.set(list.templates);
  } catch {
    if (language === wanted) language = null;
  }
}
