import { useId } from "react";
import { day, moment } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import type { SourceSnapshot, SourceView } from "../../../protocol/events.gen";
import { Badge } from "../../../ui/Badge";
import { OriginTitle, SiteIcon, useSite } from "../OriginLink";
import { words as listWords } from "../words";
import { words } from "./words";

interface HeadProps {
  source: SourceView;
  snapshot: SourceSnapshot | null;
  onChoose: (snapshotId: string) => void;
}

/** What it is, where it stands, and when it was read. */
export function SourceHead({ source, snapshot, onChoose }: HeadProps) {
  const t = useWords(words);
  const listed = useWords(listWords);
  const locale = useLocale();
  const site = useSite(source.url, source.domain);
  const read = snapshot?.fetched_at ?? source.fetched_at;
  return (
    <header className="sources-head">
      <h2 dir="auto">
        <span className="sources-number">{source.number}</span>{" "}
        <OriginTitle url={source.url} title={snapshot?.title || source.title || source.url} />
      </h2>
      <div className="sources-facts">
        <SiteIcon url={source.url} domain={source.domain} />
        <span className="sources-site">{site}</span>
        {snapshot?.media_type === "application/pdf" && <Badge>PDF</Badge>}
        {source.published && <span>{listed.published(day(source.published, locale))}</span>}
        {read && source.snapshots.length < 2 && <span>{t.readOn(moment(read, locale))}</span>}
      </div>
      {snapshot && source.snapshots.length > 1 && (
        <Readings snapshots={source.snapshots} chosen={snapshot.id} onChoose={onChoose} />
      )}
    </header>
  );
}

interface ReadingsProps {
  snapshots: readonly SourceSnapshot[];
  chosen: string;
  onChoose: (snapshotId: string) => void;
}

/** A page that was read more than once, and was not the same: each reading is kept. */
function Readings({ snapshots, chosen, onChoose }: ReadingsProps) {
  const t = useWords(words);
  const locale = useLocale();
  const id = useId();
  return (
    <div className="sources-readings">
      <label htmlFor={id}>{t.reading}</label>
      <select id={id} className="ui-field" value={chosen} onChange={(event) => onChoose(event.target.value)}>
        {snapshots.map((snapshot, index) => (
          <option key={snapshot.id} value={snapshot.id}>
            {snapshots.length - index} · {moment(snapshot.fetched_at, locale)}
          </option>
        ))}
      </select>
    </div>
  );
}
