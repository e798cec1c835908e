/** What is open beside the conversation. Features open each other's rooms through here. */

import { keep, recall } from "../lib/kept";
import { Store } from "../lib/store";
import type { Citation } from "../protocol/events.gen";
import { prefer, preferences } from "./preferences";

export const PHONE = "(max-width: 760px)";
export const NARROW = "(max-width: 1080px)";

export type Drawer =
  | { kind: "sources" }
  | { kind: "files" }
  /** A footnote opened. `citation` is the one that was clicked: its passage is shown first. */
  | { kind: "source"; number: number; citation: Citation | null };

export interface View {
  drawer: Drawer | null;
  /** The file that is open in the viewer. */
  file: string | null;
  /** The message that somebody looks for: it is brought into sight when its session is open. */
  message: string | null;
  /** The list of sessions on a phone, where it lies over the page. */
  sheet: boolean;
  dialog: "settings" | "shortcuts" | null;
  /** The part of the settings that is shown first. */
  section: "models" | null;
}

export const view = new Store<View>({
  drawer: lastDrawer(),
  file: null,
  message: null,
  sheet: false,
  dialog: null,
  section: null,
});

/** Which list was open is remembered, where there is room for it beside the conversation. */
function lastDrawer(): Drawer | null {
  const kind = isPhone() ? null : recall<string | null>("drawer", null);
  return kind === "sources" || kind === "files" ? { kind } : null;
}

function change(changes: Partial<View>): void {
  view.set((known) => ({ ...known, ...changes }));
  const kind = view.get().drawer?.kind ?? null;
  if ("drawer" in changes) keep("drawer", kind === "source" ? "sources" : kind);
}

export const openDrawer = (drawer: Drawer) => change({ drawer });
export const closeDrawer = () => change({ drawer: null });
export const openSource = (number: number, citation: Citation | null = null) =>
  change({ drawer: { kind: "source", number, citation } });
export const openFile = (path: string) => change({ file: path });
export const lookFor = (message: string | null) => change({ message });
export const closeFile = () => change({ file: null });
export const openDialog = (dialog: "settings" | "shortcuts", section: View["section"] = null) =>
  change({ dialog, section, sheet: false });
export const closeDialog = () => change({ dialog: null });
export const closeSheet = () => change({ sheet: false });

export function toggleDrawer(kind: "sources" | "files"): void {
  const open = view.get().drawer;
  const shown = open?.kind === "source" ? "sources" : open?.kind;
  change({ drawer: shown === kind ? null : { kind } });
}

/** Another session: what was open belonged to the last one. A list stays open, a passage or a file does not. */
export function leaveSession(): void {
  const { drawer } = view.get();
  change({ drawer: drawer?.kind === "source" ? { kind: "sources" } : drawer, file: null, message: null, sheet: false });
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
