import { Upload } from "lucide-react";
import { type ChangeEvent, useEffect, useRef, useState } from "react";
import { number, size } from "../../lib/format";
import { type Locale, useLocale, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { api } from "../../protocol/client";
import type { ImportedSession } from "../../protocol/events.gen";
import { catalog } from "../../state/catalog";
import { navigate } from "../../state/router";
import { refreshSessions } from "../../state/sessions";
import { toast } from "../../state/toasts";
import { closeDialog } from "../../state/view";
import { Spinner } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Section } from "./Section";
import { words } from "./words";

/** What this server keeps and what it is. */
export function AboutSection() {
  const t = useWords(words);
  const about = useStore(catalog, (known) => known.about);
  useEffect(() => {
    // Files came and went since the page was opened.
    api.about().then(
      (fresh) => catalog.set((known) => ({ ...known, about: fresh })),
      () => undefined,
    );
  }, []);
  return (
    <Section title={t.data}>
      {about && <Storage used={about.storage.used} limit={about.storage.limit} />}
      <Import />
      {about && (
        <dl className="settings-facts">
          <dt>{t.version}</dt>
          <dd>{about.version}</dd>
          <dt>{t.searchesWith}</dt>
          <dd>{about.search_provider ?? t.nothing}</dd>
          <dt>{t.largestUpload}</dt>
          <dd>
            <Bytes of={about.upload_bytes} />
          </dd>
          <dt>{t.forPrograms}</dt>
          <dd>
            <a href="/openapi.json" target="_blank" rel="noopener noreferrer">
              OpenAPI
            </a>
          </dd>
        </dl>
      )}
    </Section>
  );
}

function Bytes({ of: bytes }: { of: number }) {
  return size(bytes, useLocale());
}

function Storage({ used, limit }: { used: number; limit: number }) {
  const t = useWords(words);
  const locale = useLocale();
  const text = t.usedOf(size(used, locale), size(limit, locale));
  return (
    <div className="settings-storage">
      <div className="settings-row">
        <span>{t.storage}</span>
        <span className="settings-note">{text}</span>
      </div>
      <meter
        className="settings-meter"
        aria-label={t.storage}
        aria-valuetext={text}
        max={limit}
        high={limit * 0.9}
        value={used}
      >
        {text}
      </meter>
    </div>
  );
}

/** What was imported, and what was checked before: nothing of a bundle is taken that does not hold. */
function verified({ title, checked }: ImportedSession, locale: Locale): string {
  const t = words[locale];
  const count = (of: number) => number(of, locale);
  const same = checked.verdicts - checked.otherwise;
  return [
    t.imported(title || t.untitled),
    t.verified(checked.entries, count(checked.entries), checked.quotations, count(checked.quotations)),
    checked.verdicts > 0 && t.verdictsHold(same, count(same)),
    checked.otherwise > 0 && t.verdictsDiffer(checked.otherwise, count(checked.otherwise)),
    ...checked.notes,
  ]
    .filter(Boolean)
    .join(" ");
}

/** A bundle that somebody exported becomes a session here. */
function Import() {
  const t = useWords(words);
  const locale = useLocale();
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  // Notices of the page lie below an open dialog.
  const [problem, setProblem] = useState<string | null>(null);
  const take = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.target.files?.[0];
    event.target.value = "";
    if (!file) return;
    setBusy(true);
    setProblem(null);
    try {
      const head = await api.importBundle(file);
      closeDialog();
      navigate(head.id);
      toast(verified(head, locale), { stays: true });
      void refreshSessions();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <div className="settings-row">
      <span className="settings-token">
        <span>{t.bundle}</span>
        <span className="settings-note">{t.bundleNote}</span>
      </span>
      <Button icon={busy ? undefined : Upload} disabled={busy} onClick={() => input.current?.click()}>
        {busy && <Spinner />}
        {busy ? t.importing : t.import}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".zip,application/zip"
        hidden
        aria-label={t.bundle}
        onChange={(event) => void take(event)}
      />
      {problem && (
        <p className="settings-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
