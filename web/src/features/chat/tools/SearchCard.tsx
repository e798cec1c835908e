import { BookOpenText, type LucideIcon } from "lucide-react";
import { useLocale, useWords } from "../../../lib/i18n";
import type { EvidencePassage, PageReport, Source } from "../../../protocol/events.gen";
import type { CallPart } from "../../../state/answer";
import { type SearchFound, searchOf } from "../../../state/select";
import { openEvidence, openSource } from "../../../state/view";
import { Icon } from "../../../ui/Icon";
import { Link } from "../../../ui/Link";
import { SiteIcon, SiteName } from "../Site";
import { Card } from "./Card";
import { Disagreements } from "./Disagreements";
import { Exchange, problemOf } from "./Exchange";
import { LongText } from "./LongText";
import { outcomeOf } from "./outcomes";
import { progressText, tellingArgument } from "./progress";
import { ReceiptTable } from "./ReceiptTable";
import { StatusBadge } from "./StatusBadge";
import { ToolImages } from "./ToolImages";
import { words } from "./words";

/** A search, or the reading of one page: what was found, and what became of each page. */
export function SearchCard({ call, icon }: { call: CallPart; icon: LucideIcon }) {
  const t = useWords(words);
  const locale = useLocale();
  const found = searchOf(call);
  const asked = tellingArgument(call.input) || found?.query || "";
  const isPage = call.name === "read_page";
  const count = found && !isPage ? counted(found.sources.length, t) : undefined;
  return (
    <Card
      icon={icon}
      title={call.title || call.name}
      argument={asked}
      badge={<StatusBadge call={call} {...(count ? { done: count } : {})} />}
      progress={call.progress && progressText(call.progress, locale, asked)}
      problem={problemOf(call)}
      below={<ToolImages call={call} />}
    >
      {found ? <Findings call={call} found={found} /> : <Exchange call={call} />}
    </Card>
  );
}

function counted(count: number, t: { noResults: string; results: (count: number) => string }): string {
  return count === 0 ? t.noResults : t.results(count);
}

function Findings({ call, found }: { call: CallPart; found: SearchFound }) {
  const t = useWords(words);
  const pages = new Map(found.receipt?.pages.map((page) => [page.url, page]));
  return (
    <>
      {found.sources.length > 0 && (
        <ol className="chat-results" aria-label={t.sources}>
          {found.sources.map((source, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they are never put into another order.
            <Result key={at} source={source} page={pages.get(source.url) ?? null} />
          ))}
        </ol>
      )}
      <Disagreements all={found.disagreements} sources={found.sources} />
      {found.receipt && (
        <details className="chat-more">
          <summary>{t.receipt}</summary>
          <ReceiptTable receipt={found.receipt} />
        </details>
      )}
      {call.result && (
        <details className="chat-more">
          <summary>{t.given}</summary>
          <GivenPassages found={found} />
          <LongText label={t.given} text={call.result.content} />
        </details>
      )}
    </>
  );
}

function Result({ source, page }: { source: Source; page: PageReport | null }) {
  const t = useWords(words);
  const locale = useLocale();
  const { number, title, url } = source;
  const outcome = outcomeOf(source, page, locale);
  return (
    <li className="chat-result">
      <span className="chat-result-number">{source.number ?? "–"}</span>
      <SiteIcon source={source} />
      <span className="chat-result-text">
        <Link href={url} className="chat-result-title">
          <span dir="auto">{title || url}</span>
        </Link>
        <span className="chat-soft">
          <SiteName source={source} />
          {outcome && <span data-status={source.status}> · {outcome}</span>}
        </span>
      </span>
      {typeof number === "number" && source.snapshot_id && (
        <button
          type="button"
          className="chat-result-out"
          aria-label={t.openPassage(title || url)}
          title={t.openPassage(title || url)}
          onClick={() => openSource(number)}
        >
          <Icon of={BookOpenText} />
        </button>
      )}
    </li>
  );
}

/** How many passages with ids the model was given, and of which sources. */
function GivenPassages({ found: { evidence, sources } }: { found: SearchFound }) {
  const t = useWords(words);
  if (evidence.length === 0) return null;
  const bySource = Map.groupBy(evidence, (passage) => passage.number);
  return (
    <div className="chat-given">
      <p>{t.passagesGiven(evidence.length, bySource.size)}</p>
      <ul>
        {[...bySource].map(([number, passages]) => {
          const source = sources.find((one) => one.number === number);
          return <GivenSource key={number} title={source?.title || source?.url || `${number}`} passages={passages} />;
        })}
      </ul>
    </div>
  );
}

function GivenSource({ title, passages }: { title: string; passages: readonly EvidencePassage[] }) {
  const t = useWords(words);
  return (
    <li>
      <span className="chat-given-title" dir="auto">
        {title}
      </span>
      {passages.map((passage) => (
        <button
          key={passage.id}
          type="button"
          className="chat-given-passage"
          aria-label={t.openGiven(passage.id, title)}
          title={t.openGiven(passage.id, title)}
          onClick={() => openEvidence(passage)}
        >
          {passage.id}
        </button>
      ))}
    </li>
  );
}
