import { number, size } from "../../../lib/format";
import { type Locale, useLocale, useWords } from "../../../lib/i18n";
import type { PageReport, ProviderTry, Receipt } from "../../../protocol/events.gen";
import { failureOf, providerOutcome } from "./outcomes";
import { words } from "./words";

/** What a search did, step by step: whom it asked, what it read, what it kept, and how long that took. */
export function ReceiptTable({ receipt }: { receipt: Receipt }) {
  const t = useWords(words);
  const locale = useLocale();
  const figures = [
    receipt.passages_found > 0 ? t.passages(receipt.passages_kept, receipt.passages_found) : "",
    summary(receipt.summary_by, locale),
    t.total(seconds(receipt.took_ms, locale)),
  ];
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      {/* biome-ignore lint/a11y/useSemanticElements: it is a box to scroll, not a part of a form. */}
      <div className="chat-receipt" role="group" aria-label={t.receipt} tabIndex={0}>
        {receipt.providers.length > 0 && <Providers tries={receipt.providers} />}
        {receipt.pages.length > 0 && <Pages pages={receipt.pages} />}
      </div>
      <p className="chat-soft">{figures.filter(Boolean).join(" · ")}</p>
      {receipt.notes.length > 0 && (
        <ul className="chat-notes">
          {receipt.notes.map((note) => (
            <li key={note} dir="auto">
              {note}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Providers({ tries }: { tries: readonly ProviderTry[] }) {
  const t = useWords(words);
  const locale = useLocale();
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{t.provider}</th>
          <th scope="col">{t.outcome}</th>
          <th scope="col">{t.time}</th>
        </tr>
      </thead>
      <tbody>
        {tries.map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are never put into another order.
          <tr key={at}>
            <th scope="row">{one.provider}</th>
            <td dir="auto">{[providerOutcome(one, locale), ...one.notes].filter(Boolean).join(" · ")}</td>
            <td>{one.cached ? t.fromCache : seconds(one.took_ms, locale)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Pages({ pages }: { pages: readonly PageReport[] }) {
  const t = useWords(words);
  const locale = useLocale();
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{t.page}</th>
          <th scope="col">{t.outcome}</th>
          <th scope="col">{t.time}</th>
          <th scope="col">{t.size}</th>
        </tr>
      </thead>
      <tbody>
        {pages.map((page, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are never put into another order.
          <tr key={at}>
            <th scope="row" className="chat-address" title={page.url}>
              <bdi dir="ltr">{page.url.replace(/^https?:\/\/(www\.)?/, "")}</bdi>
            </th>
            <td title={page.chosen || undefined}>{whatHappened(page, locale)}</td>
            <td>{page.status === "snippet" ? "–" : seconds(page.took_ms, locale)}</td>
            <td>{page.bytes > 0 ? size(page.bytes, locale) : "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function whatHappened(page: PageReport, locale: Locale): string {
  const t = words[locale];
  if (page.status === "snippet") return t.snippet;
  if (page.status === "failed") return failureOf(page, locale);
  const from = { fresh: t.fromCache, revalidated: t.unchanged, library: t.fromLibrary };
  return [t.read, page.cache && from[page.cache], page.cut && t.cut].filter(Boolean).join(" · ");
}

function summary(by: string | null, locale: Locale): string {
  const t = words[locale];
  if (by === null) return t.noSummary;
  return by === "passages" ? t.summaryOfQuotes : t.summaryBy(by);
}

function seconds(milliseconds: number, locale: Locale): string {
  return words[locale].seconds(number(Math.round(milliseconds / 100) / 10, locale));
}
