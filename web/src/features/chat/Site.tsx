import { useWords } from "../../lib/i18n";
import { api } from "../../protocol/client";
import type { Source } from "../../protocol/events.gen";
import { Favicon } from "../../ui/Favicon";
import { words } from "./words";

const OWN = "footnote://";

/** The sign of the site that a source is from. What is not on the web has none to ask for. */
export function SiteIcon({ source: { domain, url } }: { source: Source }) {
  return <Favicon domain={domain} src={url.startsWith(OWN) || !domain ? null : api.faviconUrl(domain)} />;
}

/** The site; of what is not on the web, what it is. */
export function SiteName({ source: { domain, url } }: { source: Source }) {
  const t = useWords(words);
  if (!url.startsWith(OWN)) return <bdi dir="ltr">{domain}</bdi>;
  return <span>{url.startsWith(`${OWN}files/`) ? t.ownFile : t.documentation}</span>;
}
