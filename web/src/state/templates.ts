/** The templates of reports that the server has. */

import { Store } from "../lib/store";
import { api, type TemplateView } from "../protocol/client";

export const templates = new Store<readonly TemplateView[]>([]);

let isRead = false;

/** Reads them once. Without them the server chooses. */
export function readTemplates(): void {
  if (isRead) return;
  isRead = true;
  api.templates().then(
    (list) => templates.set(list.templates),
    () => {
      isRead = false;
    },
  );
}
