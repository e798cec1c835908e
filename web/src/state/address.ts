/** What is open beside a conversation, as it stands in the address: `?source=3&passage=2`, `?file=/report.md`. */

import type { OpenedSource, View } from "./view";

export type Open = Pick<View, "drawer" | "file" | "beside" | "sheet" | "dialog">;

const LISTS = ["sources", "files"] as const;
const DIALOGS = ["settings", "shortcuts", "check"] as const;

export function openIn({ drawer, file, beside, sheet, dialog }: View): Open {
  return { drawer, file, beside, sheet, dialog };
}

export function isSameOpen(one: Open, other: Open): boolean {
  return (
    one.drawer === other.drawer &&
    one.file === other.file &&
    one.beside === other.beside &&
    one.sheet === other.sheet &&
    one.dialog === other.dialog
  );
}

/**
 * The query of the address. Where the lists lie beside the conversation (`overlay` false) they are part of how somebody likes
 * the page, like the width of a panel, and not in the address; over the conversation they are, so that Back closes them.
 */
export function queryOf({ drawer, file, beside, sheet, dialog }: Open, overlay: boolean): string {
  const query = new URLSearchParams();
  if (dialog !== null) query.set("panel", dialog);
  else if (sheet) query.set("panel", "conversations");
  else if (overlay && drawer && drawer.kind !== "source" && file === null) query.set("panel", drawer.kind);
  if (file !== null) query.set("file", file);
  const inDrawer = drawer?.kind === "source" ? drawer : null;
  const source = file === null ? inDrawer : beside;
  if (source) {
    query.set("source", String(source.number));
    if (source.passage) query.set("passage", source.passage);
  }
  const text = query.toString().replaceAll("%2F", "/");
  return text && `?${text}`;
}

/** What a query opens, over what is there already. */
export function openFrom(search: string, known: Open, overlay: boolean): Open {
  const query = new URLSearchParams(search);
  const panel = query.get("panel");
  const list = LISTS.find((one) => one === panel);
  const file = query.get("file") || null;
  const source = sourceIn(query);
  const stays = overlay || known.drawer?.kind === "source" ? null : known.drawer;
  const under = list ? { kind: list } : stays;
  return {
    drawer: source && file === null ? { kind: "source", ...source } : under,
    file,
    beside: file === null ? null : source,
    sheet: overlay && panel === "conversations",
    dialog: DIALOGS.find((one) => one === panel) ?? null,
  };
}

function sourceIn(query: URLSearchParams): OpenedSource | null {
  const number = /^[1-9]\d{0,8}$/.exec(query.get("source") ?? "")?.[0];
  const passage = /^\d{1,9}(-\d{1,9})?$/.exec(query.get("passage") ?? "")?.[0];
  return number ? { number: Number(number), citation: null, ...(passage ? { passage } : {}) } : null;
}

/** Whether something came to be open that Back is to close again. From passage to passage and from file to file is no such
 * step: one Back closes what is open. Nor are settings that were opened from the list of conversations on a phone, which
 * closes by that. */
export function isOpening(before: Open, now: Open, overlay: boolean): boolean {
  if (now.dialog !== null) return before.dialog === null && !before.sheet;
  if (now.file !== null) return before.file === null || (now.beside !== null && before.beside === null);
  if (now.drawer?.kind === "source" && before.drawer?.kind !== "source") return true;
  return (now.sheet && !before.sheet) || (overlay && now.drawer !== null && before.drawer === null);
}
