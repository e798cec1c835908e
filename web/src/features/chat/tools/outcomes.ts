import type { Locale } from "../../../lib/i18n";
import type { PageReport, ProviderTry, Source } from "../../../protocol/events.gen";
import { providerFailures } from "./providerFailures";
import { words } from "./words";

type Failure = NonNullable<PageReport["failure"]>;

/** How the reading of a source ended, and where it failed: why. */
export function outcomeOf(source: Source, page: PageReport | null, locale: Locale): string {
  const t = words[locale];
  if (source.status === "read") return t.read;
  if (source.status === "snippet") return t.snippet;
  if (source.status !== "failed") return "";
  return page ? `${t.failed}: ${failureOf(page, locale)}` : t.failed;
}

export function failureOf({ failure, reason, http_status }: PageReport, locale: Locale): string {
  const t = words[locale];
  const known: Record<Failure, string> = {
    refused_address: t.notPublic,
    robots: t.robots,
    dns: t.dns,
    connection: t.connection,
    tls: t.tls,
    timeout: t.timeout,
    status: http_status ? `${t.status} (${http_status})` : t.status,
    redirects: t.redirects,
    too_large: t.tooLarge,
    media_type: t.mediaType,
    unreadable: t.unreadable,
    empty: t.empty,
    needs_javascript: t.needsJavascript,
    consent_wall: t.consentWall,
  };
  return (failure && known[failure]) || reason || t.failed;
}

/** How a search provider answered, and why it had no results. The server's own reason is shown for an unknown code. */
export function providerOutcome({ outcome, count, code, reason }: ProviderTry, locale: Locale): string {
  const t = words[locale];
  const known: Record<ProviderTry["outcome"], string> = {
    results: t.results(count),
    empty: t.outcomeEmpty,
    blocked: t.outcomeBlocked,
    error: t.outcomeError,
    skipped: t.outcomeSkipped,
  };
  const why = (code && providerFailures[locale][code]) || reason;
  return [known[outcome] ?? outcome, why].filter(Boolean).join(" · ");
}
