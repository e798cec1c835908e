import type { ReactNode } from "react";
import { useWords } from "../../../lib/i18n";
import { Offsets } from "../../../lib/offsets";
import { placesIn } from "../../../lib/places";
import type { Citation, EvidencePassage, Source } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { pointedBy, sourcesByNumber } from "../../../state/select";
import { readableText } from "../../../ui/markdown";
import { SiteIcon, SiteName } from "../Site";
import type { FootnoteChipProps } from "./FootnoteChip";
import "./footnotes.css";
import { words } from "./words";

/** More letters than the card shows. */
const FIRST_LINES = 600;

/** Whether the page says what the statement says, and in which words. */
export function Evidence({ number, citation, text, open }: Omit<FootnoteChipProps, "inFile">) {
  const t = useWords(words);
  const { turns } = conversation.get();
  const about = citation?.suggestion ?? number;
  const source = sourcesByNumber(turns).get(about) ?? null;
  const verdict = citation?.verdict ?? null;
  const none = open ? t.unchecked : t.notChecked;
  return (
    <span className="chat-evidence">
      <span className="chat-evidence-verdict" data-verdict={verdict ?? "none"}>
        {verdict ? t[verdict] : none}
      </span>
      {citation && <Reasons citation={citation} text={text} />}
      {citation?.quote && <Quotation citation={citation} />}
      {citation && !citation.quote && source && <Pointed passage={pointedBy(turns, citation)} />}
      {citation?.by === "model" && citation.quote && <span className="chat-soft">{t.byModel}</span>}
      {source && <Origin source={source} />}
      {!source && about > 0 && <span className="chat-soft">{t.noSource}</span>}
      {source?.snapshot_id && <span className="chat-evidence-hint">{t.open}</span>}
    </span>
  );
}

/** Why the statement is not supported, where there is more to say than the verdict. */
function Reasons({ citation, text }: { citation: Citation; text: string }): ReactNode {
  const t = useWords(words);
  const { verdict, missing, suggestion, differences, quote } = citation;
  if (verdict === "uncited")
    return <span className="chat-soft">{suggestion ? t.suggested(suggestion) : t.nowhere}</span>;
  if (verdict === "unread") return <span className="chat-soft">{t.notRead}</span>;
  if (verdict === "contradicted" && differences.length > 0 && quote !== null)
    return <Pairs citation={citation} quote={quote} text={text} />;
  if (!missing) return null;
  return (
    <span>
      <span className="chat-soft">{t.missing}</span> <span dir="auto">{missing}</span>
    </span>
  );
}

/** Word against word: what the statement says, and what the page says there. */
function Pairs({ citation, quote, text }: { citation: Citation; quote: string; text: string }) {
  const t = useWords(words);
  const [said, read] = [new Offsets(text), new Offsets(quote)];
  const from = citation.quote_start ?? 0;
  return citation.differences.map(({ start, end, quote_start, quote_end }) => {
    const claimed = text.slice(said.unit(start), said.unit(end));
    const instead = quote.slice(read.unit(quote_start - from), read.unit(quote_end - from));
    if (!claimed || !instead) return null;
    return (
      <span key={start} className="chat-evidence-pair">
        <del dir="auto">{readableText(claimed)}</del>
        <span className="ui-hidden">{t.pageSays}</span>
        <span aria-hidden="true">→</span>
        <strong dir="auto">{readableText(instead)}</strong>
      </span>
    );
  });
}

/** The words of the page, and among them those that say otherwise. */
function Quotation({ citation }: { citation: Citation }) {
  const { quote, quote_start, differences } = citation;
  const written = quote ?? "";
  const shown = readableText(written);
  const offsets = new Offsets(written);
  const from = quote_start ?? 0;
  const places = placesIn(
    shown,
    written,
    differences.map((one) => ({
      start: offsets.unit(one.quote_start - from),
      end: offsets.unit(one.quote_end - from),
    })),
  );
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { start, end } of places) {
    parts.push(shown.slice(at, start), <strong key={start}>{shown.slice(start, end)}</strong>);
    at = end;
  }
  return (
    <q className="chat-evidence-quote" dir="auto">
      {parts}
      {shown.slice(at)}
    </q>
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
