import { ArrowUpRight, FileText } from "lucide-react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { api } from "../../protocol/client";
import { conversation } from "../../state/conversation";
import { openFile } from "../../state/view";
import { Button } from "../../ui/Button";
import { Favicon } from "../../ui/Favicon";
import { Icon } from "../../ui/Icon";
import { hostOf, Link, safeHref } from "../../ui/Link";
import { originOf } from "./origin";
import { words } from "./words";

/** The way to what was read: the page on the web in a new tab, or the file in the viewer. */
export function OriginLink({ url, title }: { url: string; title: string }) {
  const t = useWords(words);
  const files = useStore(conversation, (known) => known.files);
  const origin = originOf(url, files);
  if (origin.kind === "file" && origin.path !== null) {
    const { path } = origin;
    return <Button look="quiet" small icon={FileText} label={t.openFile} onClick={() => openFile(path)} />;
  }
  const href = origin.kind === "web" ? safeHref(origin.href) : null;
  if (href === null) return null;
  return (
    <a
      className="ui-button"
      data-look="quiet"
      data-small
      data-square
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      aria-label={`${t.original}: ${title}`}
      title={`${t.original} (${hostOf(href)})`}
    >
      <Icon of={ArrowUpRight} />
    </a>
  );
}

/** The title of a source, which leads to what was read: the page in a new tab, or the file in the viewer. */
export function OriginTitle({ url, title }: { url: string; title: string }) {
  const files = useStore(conversation, (known) => known.files);
  const origin = originOf(url, files);
  if (origin.kind === "web")
    return (
      <Link href={origin.href} className="sources-origin">
        {title}
      </Link>
    );
  const path = origin.kind === "file" ? origin.path : null;
  if (path === null) return title;
  return (
    <button type="button" className="sources-origin" onClick={() => openFile(path)}>
      {title}
    </button>
  );
}

/** What is not on the web has no icon of its own, only a letter. */
export function SiteIcon({ url, domain }: { url: string; domain: string }) {
  const isOnWeb = domain !== "" && originOf(url, []).kind === "web";
  return <Favicon domain={domain} src={isOnWeb ? api.faviconUrl(domain) : null} />;
}

/** The site; of what is not on the web, what it is. */
export function useSite(url: string, domain: string): string {
  const t = useWords(words);
  const origin = originOf(url, []);
  if (origin.kind === "web") return domain;
  return origin.kind === "file" ? t.yourFile(origin.name) : t.documentation;
}
