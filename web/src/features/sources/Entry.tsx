import { BookOpenText } from "lucide-react";
import { memo } from "react";
import { day } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import type { Source } from "../../protocol/events.gen";
import { openSource } from "../../state/view";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { OriginTitle, SiteIcon, useSite } from "./OriginLink";
import type { Cited } from "./sourceGroups";
import { CitedBadges } from "./Verdicts";
import { words } from "./words";

/** A source in the list. Its title leads to the page itself; its button, and all around the title, to what was read of it. */
export const Entry = memo(function Entry({ source, cited }: { source: Source; cited: Cited | null }) {
  const t = useWords(words);
  const locale = useLocale();
  const site = useSite(source.url, source.domain);
  const title = source.title || source.url;
  const { number } = source;
  return (
    <li className="sources-entry">
      <span className="sources-number" aria-hidden="true">
        {number}
      </span>
      <div className="sources-about">
        <div className="sources-title" dir="auto">
          <OriginTitle url={source.url} title={title} />
        </div>
        <div className="sources-facts">
          <SiteIcon url={source.url} domain={source.domain} />
          <span className="sources-site">{site}</span>
          {source.published && <span>{t.published(day(source.published, locale))}</span>}
        </div>
        {source.snippet && (
          <p className="sources-snippet" dir="auto">
            {source.snippet}
          </p>
        )}
        <div className="sources-badges">
          <Status status={source.status} />
          {cited && <CitedBadges cited={cited} />}
        </div>
      </div>
      {typeof number === "number" && (
        <Button
          look="quiet"
          small
          className="sources-open"
          icon={BookOpenText}
          data-source={number}
          label={t.open(number, title)}
          onClick={() => openSource(number)}
        />
      )}
    </li>
  );
});

function Status({ status }: { status: Source["status"] }) {
  const t = useWords(words);
  if (status === "failed") return <Badge tone="bad">{t.failed}</Badge>;
  if (status === "snippet") return <Badge tone="outline">{t.snippet}</Badge>;
  return status === "read" ? <Badge>{t.read}</Badge> : null;
}
