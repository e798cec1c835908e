/** What is open beside the conversation. Features open each other's rooms through here. */

import { readStored, writeStored } from "../lib/localStorage";
import { Store } from "../lib/store";
import type { Citation, EvidencePassage } from "../protocol/events.gen";
import { prefer, preferences } from "./preferences";

export const PHONE = "(max-width: 760px)";
/** The panel of sources and files lies over the conversation: beside it, neither would have room. */
export const OVERLAY = "(max-width: 900px)";
export const NARROW = "(max-width: 1080px)";

/** A footnote opened. `citation` is the one that was clicked: its passage is shown first. `claim` is the sentence in front of
 * it, where that stands in a file. `evidence` is the id of a passage that the model was given, opened without a footnote.
 * `passage` is the name of a passage in the address, shown instead of the first. */
export interface OpenedSource {
  number: number;
  citation: Citation | null;
  claim?: string;
  evidence?: string;
  passage?: string;
}

export type Drawer = { kind: "sources" } | { kind: "files" } | ({ kind: "source" } & OpenedSource);

export type DialogName = "settings" | "shortcuts" | "check";

export interface View {
  drawer: Drawer | null;
  /** The file that is open in the viewer. */
  file: string | null;
  /** The footnote of that file that is open beside it. */
  beside: OpenedSource | null;
  /** The message that somebody looks for: it is brought into sight when its session is open. */
  message: string | null;
  /** The words that it was found by, which are marked there. */
  query: string;
  /** The list of sessions on a phone, where it lies over the page. */
  sheet: boolean;
  dialog: DialogName | null;
  /** The part of the settings that is shown first. */
  section: "models" | null;
}

export const view = new Store<View>({
  drawer: lastDrawer(),
  file: null,
  beside: null,
  message: null,
  query: "",
  sheet: false,
  dialog: null,
  section: null,
});

/** Which list was open is remembered, where there is room for it beside the conversation. */
function lastDrawer(): Drawer | null {
  const kind = isOverlay() ? null : readStored<string | null>("drawer", null);
  return kind === "sources" || kind === "files" ? { kind } : null;
}

function change(changes: Partial<View>): void {
  view.set((known) => ({ ...known, ...changes }));
  const kind = view.get().drawer?.kind ?? null;
  if ("drawer" in changes) writeStored("drawer", kind === "source" ? "sources" : kind);
}

export const openDrawer = (drawer: Drawer) => change({ drawer });
export const closeDrawer = () => change({ drawer: null });

/** In the panel, or beside the file that is open. */
export function openSource(number: number, citation: Citation | null = null, claim?: string): void {
  openBeside({ number, citation, ...(claim === undefined ? {} : { claim }) });
}

/** A passage that the model was given, at its place. */
export function openEvidence({ id, number }: EvidencePassage): void {
  openBeside({ number, citation: null, evidence: id });
}

/** A place of the text of a source, in code points. */
export function openPassage(number: number, start: number, end: number): void {
  openBeside({ number, citation: null, passage: `${start}-${end}` });
}

function openBeside(opened: OpenedSource): void {
  change(view.get().file === null ? { drawer: { kind: "source", ...opened } } : { beside: opened });
}

export const closeBeside = () => change({ beside: null });
export const openFile = (path: string) => change({ file: path, beside: null });
export const lookFor = (message: string | null, query = "") => change({ message, query });
export const closeFile = () => change({ file: null, beside: null });
export const openDialog = (dialog: DialogName, section: View["section"] = null) =>
  change({ dialog, section, sheet: false });
export const closeDialog = () => change({ dialog: null });
export const closeSheet = () => change({ sheet: false });

export function toggleDrawer(kind: "sources" | "files"): void {
  const open = view.get().drawer;
  const shown = open?.kind === "source" ? "sources" : open?.kind;
  change({ drawer: shown === kind ? null : { kind } });
}

/** What the address says is open, or an earlier entry of the browser's history. */
export const showOpen = (open: Pick<View, "drawer" | "file" | "beside" | "sheet" | "dialog">) => change(open);

/** Another session: what was open belonged to the last one. A list stays open, a passage or a file does not. */
export function leaveSession(): void {
  const { drawer } = view.get();
  change({
    drawer: drawer?.kind === "source" ? { kind: "sources" } : drawer,
    file: null,
    beside: null,
    message: null,
    sheet: false,
  });
}

/** Whether panels lie over the conversation instead of beside it. */
export function isOverlay(): boolean {
  return matchMedia(OVERLAY).matches;
}

export function isPhone(): boolean {
  return matchMedia(PHONE).matches;
}

export function toggleSidebar(): void {
  if (isPhone()) {
    change({ sheet: !view.get().sheet });
    return;
  }
  // In a narrow window the drawer had taken its place.
  if (view.get().drawer && matchMedia(NARROW).matches) {
    closeDrawer();
    prefer({ sidebar: true });
  } else prefer({ sidebar: !preferences.get().sidebar });
}
