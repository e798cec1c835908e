import { createContext, type ReactNode } from "react";
import type { Citation } from "../../protocol/events.gen";
import type { Cited } from "./citations";
import type { Notes } from "./notes";
import type { Statement } from "./statements";

/** One number of a marker in the text. */
export interface FootnoteMark {
  number: number;
  marker: string;
  citation: Citation | null;
}

/** Keep it the same object as long as nothing in it changes: every marker is drawn again with a new one. */
export interface Footnotes {
  /** Empty while the text still streams. */
  citations: readonly Citation[];
  /** Whether the session has a source with that number. */
  isKnown(number: number): boolean;
  render(mark: FootnoteMark): ReactNode;
  /** What is shown while the pointer rests on the words of a statement. */
  explain?(statement: Statement): ReactNode;
}

export interface MarkdownImages {
  /** The address on our own server of a picture in the workspace. Null: there is none. */
  workspace(path: string): string | null;
  /** Asks our server for a picture of the web; only ever after a click. */
  remote(url: string): Promise<Blob>;
}

/** What stays the same for a whole text. */
export interface Setting {
  headingBase: number;
  images: MarkdownImages | undefined;
  /** Before the ids of this text's own footnotes. */
  id: string;
}

export const SettingContext = createContext<Setting>({ headingBase: 3, images: undefined, id: "" });

/** What markers become. Only they read it, so that a new source does not draw the text around them again. */
export interface Marks {
  footnotes: Footnotes | undefined;
  cited: Cited;
  /** The citations of which the text has no marker. */
  unmarked: ReadonlySet<Citation>;
  notes: Notes;
}

export const MarksContext = createContext<Marks>({
  footnotes: undefined,
  cited: new Map(),
  unmarked: new Set(),
  notes: { listed: [], numberOf: () => null, isFirst: () => false },
});
