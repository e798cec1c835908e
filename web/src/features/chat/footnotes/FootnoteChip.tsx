import { memo } from "react";
import { useWords } from "../../../lib/i18n";
import type { Citation, EvidencePassage, Source } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { pointedBy, sourcesByNumber } from "../../../state/select";
import { openSource } from "../../../state/view";
import { HoverCard } from "../../../ui/HoverCard";
import { readableText } from "../../../ui/markdown";
import { SiteIcon, SiteName } from "../Site";
import "./footnotes.css";
import { words } from "./words";

/** More letters than the card shows. */
const FIRST_LINES = 600;

export interface FootnoteChipProps {
  number: number;
  /** Null while the text still streams, and where no statement stands before the number. */
  citation: Citation | null;
  open: boolean;
  /** The sentence in front of it, where it does not stand in an answer. */
  claim?: () => string | undefined;
}

/** The number after a statement. Its shape and its name say whether the page says so, not its colour alone. */
export const FootnoteChip = memo(function FootnoteChip({ number, citation, open, claim }: FootnoteChipProps) {
  const t = useWords(words);
  const verdict = citation?.verdict ?? "none";
  const names = {
    none: t.named,
    supported: t.supportedName,
    partial: t.partialName,
    contradicted: t.contradictedName,
    unsupported: t.unsupportedName,
    uncited: t.named,
    unread: t.unreadName,
  };
  return (
    <HoverCard card={() => <Evidence number={number} citation={citation} open={open} />}>
      {(described) => (
        <button
          {...described}
          type="button"
          className="chat-footnote"
          data-verdict={verdict}
          aria-label={names[verdict](number)}
          onClick={() => openSource(number, citation, claim?.())}
        >
          <span className="chat-footnote-mark">
            {number}
            {verdict === "unsupported" && "?"}
            {verdict === "contradicted" && "≠"}
          </span>
        </button>
      )}
    </HoverCard>
  );
});

function Evidence({ number, citation, open }: FootnoteChipProps) {
  const t = useWords(words);
  const { turns } = conversation.get();
  const source = sourcesByNumber(turns).get(number) ?? null;
  const passage = pointedBy(turns, citation);
  const verdict = citation?.verdict ?? null;
  const none = open ? t.unchecked : t.notChecked;
  return (
    <span className="chat-evidence">
      <span className="chat-evidence-verdict" data-verdict={verdict ?? "none"}>
        {verdict ? t[verdict] : none}
      </span>
      {citation?.quote && (
        <q className="chat-evidence-quote" dir="auto">
          {readableText(citation.quote)}
        </q>
      )}
      {citation && !citation.quote && source && <Pointed passage={passage} />}
      {source ? <Origin source={source} /> : <span className="chat-soft">{t.noSource}</span>}
      {source?.snapshot_id && <span className="chat-evidence-hint">{t.open}</span>}
    </span>
  );
}

/** The first lines of the passage that the footnote points to, where none of its words were found to say so. */
function Pointed({ passage }: { passage: EvidencePassage | null }) {
  const t = useWords(words);
  if (!passage) return <span className="chat-soft">{t.noQuote}</span>;
  return (
    <>
      <span className="chat-soft">{t.pointsTo}</span>
      <q className="chat-evidence-quote" data-pointed="" dir="auto">
        {readableText(passage.text.slice(0, FIRST_LINES))}
      </q>
    </>
  );
}

function Origin({ source }: { source: Source }) {
  return (
    <span className="chat-evidence-origin">
      <SiteIcon source={source} />
      <span className="chat-evidence-text">
        <span className="chat-evidence-title" dir="auto">
          {source.title || source.url}
        </span>
        <span className="chat-soft">
          <SiteName source={source} />
        </span>
      </span>
    </span>
  );
}
