/** The footnotes of a report: as those of an answer look, with what the server found out about them. */

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef } from "react";
import { api } from "../../../protocol/client";
import type { Citation, FileRecord } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { sourcesByNumber } from "../../../state/select";
import type { Footnotes } from "../../../ui/markdown";
import { useLoaded } from "./loading";
import type { Shown } from "./versions";

interface ReportFootnote {
  number: number;
  citation: Citation | null;
  /** The text of the file. */
  text: string;
  /** The server is still asked. */
  open: boolean;
}

/** How footnotes are drawn and explained. Answers have it from another feature: whoever shows the viewer hands it in. */
export interface FootnoteDrawing {
  chip: (footnote: ReportFootnote) => ReactNode;
  explain: (footnote: ReportFootnote) => ReactNode;
}

export const FootnoteContext = createContext<FootnoteDrawing>({ chip: () => null, explain: () => null });

const NONE: readonly Citation[] = [];

export interface JudgedFile {
  /** None in an upload: there, numbers in brackets are its own. */
  footnotes: Footnotes | undefined;
  citations: readonly Citation[];
  isChecking: boolean;
}

/** What the server found out about a version of a file. */
export function useJudged({ sessionId, file, version }: Shown, text: string): JudgedFile {
  const draw = useContext(FootnoteContext);
  const isOurs = file.source === "generated";
  const load = useCallback(
    async () => (isOurs ? (await api.fileCitations(sessionId, file.path, version.number)).citations : NONE),
    [sessionId, file.path, version.number, isOurs],
  );
  const { value, error, again } = useLoaded(load);
  useRewritten(file, again);
  const isChecking = value === undefined && error === undefined;
  const citations = value ?? NONE;
  const footnotes = useMemo(
    (): Footnotes => ({
      citations,
      isKnown: (number) => sourcesByNumber(conversation.get().turns).has(number),
      render: ({ number, citation }) => draw.chip({ number, citation, open: isChecking, text }),
      explain: ({ citations: [citation = null] }) =>
        draw.explain({ number: citation?.number ?? 0, citation, open: isChecking, text }),
    }),
    [draw, citations, isChecking, text],
  );
  return { footnotes: isOurs ? footnotes : undefined, citations, isChecking: isOurs && isChecking };
}

/** A run that ended may have taken a second look at its files: what was found out about them is asked for again. */
function useRewritten(file: FileRecord, again: () => Promise<unknown>): void {
  const known = useRef(file);
  useEffect(() => {
    if (known.current !== file) void again();
    known.current = file;
  }, [file, again]);
}
