/** The footnotes of a report: as those of an answer look, with what the server found out about them. */

import { createContext, type ReactNode, useCallback, useContext, useMemo } from "react";
import { api } from "../../../protocol/client";
import type { Citation } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { sourcesByNumber } from "../../../state/select";
import type { Footnotes } from "../../../ui/markdown";
import { useLoaded } from "./loading";
import type { Shown } from "./versions";

export interface ReportFootnote {
  number: number;
  citation: Citation | null;
  /** The text of the file. */
  text: string;
  /** The server is still asked. */
  open: boolean;
}

/** How a footnote is drawn. Answers have it from another feature, so that whoever shows the viewer hands it in. */
export const FootnoteContext = createContext<(footnote: ReportFootnote) => ReactNode>(() => null);

const NONE: readonly Citation[] = [];
const MARKER = /[[【［]\^?\d/;

/** None of an upload: there, numbers in brackets are its own. */
export function useFootnotes({ sessionId, file, version }: Shown, text: string): Footnotes | undefined {
  const render = useContext(FootnoteContext);
  const isOurs = file.source === "generated";
  const load = useCallback(
    async () =>
      isOurs && MARKER.test(text) ? (await api.fileCitations(sessionId, file.path, version.number)).citations : NONE,
    [sessionId, file.path, version.number, isOurs, text],
  );
  const { value, error } = useLoaded(load);
  return useMemo(() => {
    if (!isOurs) return undefined;
    const citations = value ?? NONE;
    const open = value === undefined && error === undefined;
    return {
      citations,
      isKnown: (number) => sourcesByNumber(conversation.get().turns).has(number),
      render: ({ number, citation }) => render({ number, citation, open, text }),
    };
  }, [render, isOurs, value, error, text]);
}
