import { memo } from "react";
import { useWords } from "../../../lib/i18n";
import { Offsets } from "../../../lib/offsets";
import type { Citation } from "../../../protocol/events.gen";
import { openSource } from "../../../state/view";
import { HoverCard } from "../../../ui/HoverCard";
import { keyOf } from "../../../ui/markdown";
import { Evidence } from "./Evidence";
import "./footnotes.css";
import { words } from "./words";

export interface FootnoteChipProps {
  /** 0: the statement has no footnote, or cites a page by a link. */
  number: number;
  /** Null while the text still streams, and where no statement stands before the number. */
  citation: Citation | null;
  /** The text that it stands in, as it is written; empty while it streams. */
  text: string;
  open: boolean;
  /** The text is a file. */
  inFile?: boolean;
}

const SIGNS = { contradicted: "≠", unsupported: "?", unread: "–" } as const;

/** The number after a statement. Its shape and its name say whether the page says so, not its colour alone. */
export const FootnoteChip = memo(function FootnoteChip(props: FootnoteChipProps) {
  const t = useWords(words);
  const { number, citation, text, inFile } = props;
  const verdict = citation?.verdict ?? "none";
  if (citation && number === 0) return <Unmarked {...props} citation={citation} />;
  const names = {
    none: t.named,
    supported: t.supportedName,
    partial: t.partialName,
    contradicted: t.contradictedName,
    unsupported: t.unsupportedName,
    uncited: t.named,
    unread: t.unreadName,
  };
  const sign = verdict in SIGNS ? SIGNS[verdict as keyof typeof SIGNS] : "";
  return (
    <HoverCard card={() => <Evidence {...props} />}>
      {(described) => (
        <button
          {...described}
          type="button"
          className="chat-footnote"
          data-verdict={verdict}
          data-footnote={citation ? keyOf(citation) : undefined}
          aria-label={names[verdict](number)}
          onClick={() => openSource(number, citation, inFile && citation ? writtenAt(text, citation) : undefined)}
        >
          <span className="chat-footnote-mark">
            {number}
            {sign}
          </span>
        </button>
      )}
    </HoverCard>
  );
});

/** Stands behind a statement without a number: that it has no source, and which source of the session says it. */
function Unmarked(props: FootnoteChipProps & { citation: Citation }) {
  const t = useWords(words);
  const { citation, text, inFile } = props;
  const { suggestion, verdict } = citation;
  const said = verdict === "unread" ? t.unreadChip : t.uncitedChip;
  const open = () => {
    if (suggestion !== null) openSource(suggestion, citation, inFile ? writtenAt(text, citation) : undefined);
  };
  return (
    <HoverCard card={() => <Evidence {...props} />} opensOnClick={suggestion === null}>
      {(described) => (
        <button
          {...described}
          type="button"
          className="chat-footnote"
          data-verdict={verdict}
          data-footnote={keyOf(citation)}
          data-suggested={suggestion === null ? undefined : suggestion}
          aria-label={suggestion === null ? said : t.suggestedName(suggestion)}
          onClick={open}
        >
          <span className="chat-footnote-mark">{suggestion === null ? said : t.suggestedChip(suggestion)}</span>
        </button>
      )}
    </HoverCard>
  );
}

function writtenAt(text: string, { start, end }: Citation): string {
  const offsets = new Offsets(text);
  return text.slice(offsets.unit(start), offsets.unit(end));
}
