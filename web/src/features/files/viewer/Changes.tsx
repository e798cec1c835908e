import { useCallback, useMemo, useState } from "react";
import { ago, number } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import { api } from "../../../protocol/client";
import type { FileDiff, FileVersion } from "../../../protocol/events.gen";
import { Button } from "../../../ui/Button";
import { comparedAtFirst, type DiffLine, linesOf } from "./diff";
import { useLoaded } from "./loading";
import { Failed, Loading } from "./States";
import type { Shown } from "./versions";
import "./tables.css";
import { words } from "./words";

const AT_ONCE = 2000;
const SIGNS: Record<DiffLine["kind"], string> = { same: "", added: "+", removed: "−", hunk: "", note: "" };

/** What two versions differ in. At first: what the one that is looked at changed, or what became of the first. */
export function Changes({ shown, versions }: { shown: Shown; versions: readonly FileVersion[] }) {
  const t = useWords(words);
  const { sessionId, file, version } = shown;
  const [first] = useState(() =>
    comparedAtFirst(
      version.number,
      versions.map((one) => one.number),
    ),
  );
  const [to, setTo] = useState(first.to);
  const [from, setFrom] = useState(first.from);
  const load = useCallback(() => api.diff(sessionId, file.path, from, to), [sessionId, file.path, from, to]);
  const { value, error, again } = useLoaded(load);
  return (
    <div className="files-changes">
      <div className="files-table-bar">
        <VersionChoice label={t.from} versions={versions} chosen={from} onChoose={setFrom} />
        <VersionChoice label={t.to} versions={versions} chosen={to} onChoose={setTo} />
        {value && <Counts diff={value} />}
      </div>
      {error !== undefined && <Failed error={error} onRetry={again} />}
      {error === undefined && !value && <Loading />}
      {value && <Diff key={`${from} ${to}`} diff={value.diff} />}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  versions: readonly FileVersion[];
  chosen: number;
  onChoose: (number: number) => void;
}

function VersionChoice({ label, versions, chosen, onChoose }: ChoiceProps) {
  const t = useWords(words);
  const locale = useLocale();
  return (
    <label className="files-choice">
      <span>{label}</span>
      <select className="ui-field" value={chosen} onChange={(event) => onChoose(Number(event.target.value))}>
        {versions.map((one) => (
          <option key={one.number} value={one.number}>
            {t.versionShort(number(one.number, locale))} · {t[one.author]} · {ago(one.created_at, locale)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Counts({ diff }: { diff: FileDiff }) {
  const t = useWords(words);
  const locale = useLocale();
  const [added, removed] = [number(diff.added, locale), number(diff.removed, locale)];
  return (
    <span className="files-counts" role="img" aria-label={t.counts(added, removed)}>
      <span data-kind="added">+{added}</span> <span data-kind="removed">−{removed}</span>
    </span>
  );
}

function Diff({ diff }: { diff: string | null }) {
  const t = useWords(words);
  const lines = useMemo(() => linesOf(diff ?? ""), [diff]);
  const [most, setMost] = useState(AT_ONCE);
  if (diff === null) return <p className="files-state">{t.noDiff}</p>;
  if (lines.length === 0) return <p className="files-state">{t.same}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <section className="files-diff-box" tabIndex={0} aria-label={t.diffTable}>
      <table className="files-diff">
        <thead className="ui-hidden">
          <tr>
            <th scope="col">{t.lineBefore}</th>
            <th scope="col">{t.lineAfter}</th>
            <th scope="col">{t.sign}</th>
            <th scope="col">{t.line}</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, most).map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no other name, and the list never changes.
            <tr key={index} data-kind={line.kind}>
              <td className="files-diff-number">{line.before}</td>
              <td className="files-diff-number">{line.after}</td>
              <td className="files-diff-sign">{SIGNS[line.kind]}</td>
              <td className="files-diff-text" dir="auto">
                {line.text}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > most && <Button onClick={() => setMost((known) => known + AT_ONCE)}>{t.moreLines}</Button>}
    </section>
  );
}
