import { useCallback, useEffect, useRef, useState } from "react";
import { number } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import { api } from "../../../protocol/client";
import type { FileTable } from "../../../protocol/events.gen";
import { Spinner } from "../../../ui/Badge";
import { Button } from "../../../ui/Button";
import { messageOf } from "../actions";
import { columnName, isNumeric, looksLikeHeading, type Row, textOf } from "./cells";
import { useFor, useLoaded } from "./loading";
import { Failed, Loading } from "./States";
import { Tabs } from "./Tabs";
import type { Shown } from "./versions";
import "./tables.css";
import { words } from "./words";

const AT_ONCE = 200;

export function TableView({ shown }: { shown: Shown }) {
  const t = useWords(words);
  const { sessionId, file, version } = shown;
  const [sheet, setSheet] = useState<string>();
  const load = useCallback(
    () => api.table(sessionId, file.path, { version: version.number, limit: AT_ONCE, ...(sheet ? { sheet } : {}) }),
    [sessionId, file.path, version.number, sheet],
  );
  const { value: first, error, again } = useLoaded(load);
  const sheets = useRef<readonly string[]>([]);
  if (first) sheets.current = first.sheets;
  const chosen = sheet ?? first?.sheet ?? sheets.current[0] ?? "";
  return (
    <>
      {sheets.current.length > 1 && (
        <Tabs
          label={t.sheets}
          tabs={sheets.current.map((name) => ({ key: name, text: name }))}
          chosen={chosen}
          onChoose={setSheet}
        />
      )}
      {error !== undefined && <Failed error={error} onRetry={again} shown={shown} />}
      {error === undefined && !first && <Loading />}
      {first && <Rows key={`${version.number} ${first.sheet}`} shown={shown} first={first} />}
    </>
  );
}

function Rows({ shown, first }: { shown: Shown; first: FileTable }) {
  const t = useWords(words);
  const locale = useLocale();
  const { rows, state, more } = useMore(shown, first);
  const [heading, setHeading] = useFor(`${shown.file.path} ${first.sheet}`, looksLikeHeading(first.rows));
  if (first.total === 0) return <p className="files-state">{t.emptyTable}</p>;
  return (
    <>
      <div className="files-table-bar">
        <label className="files-check">
          <input type="checkbox" checked={heading} onChange={(event) => setHeading(event.target.checked)} />
          {t.headerRow}
        </label>
        <span className="files-faint">
          {t.rows(number(rows.length, locale), number(first.total, locale))}
          {first.left_out > 0 && ` · ${t.leftOut(number(first.left_out, locale))}`}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section className="files-table-box" tabIndex={0} aria-label={`${t.table} ${first.sheet}`}>
        <Grid rows={rows} columns={first.columns} heading={heading} />
        {rows.length < first.total && <More state={state} onMore={more} />}
      </section>
    </>
  );
}

function Grid({ rows, columns, heading }: { rows: readonly Row[]; columns: number; heading: boolean }) {
  const t = useWords(words);
  const across = Array.from({ length: columns }, (_, index) => index);
  const head = heading ? rows[0] : undefined;
  const body = heading ? rows.slice(1) : rows;
  return (
    <table className="files-table">
      <thead>
        <tr>
          <th scope="col" className="files-row-number">
            <span className="ui-hidden">{t.rowNumber}</span>
          </th>
          {across.map((column) => (
            <th key={column} scope="col" dir="auto">
              {head ? textOf(head[column]) : columnName(column)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {body.map((row, index) => {
          const line = index + (heading ? 2 : 1);
          return (
            <tr key={line}>
              <th scope="row" className="files-row-number">
                {line}
              </th>
              {across.map((column) => (
                <td key={column} dir="auto" data-number={isNumeric(row[column]) || undefined}>
                  {textOf(row[column])}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

type MoreState = { busy: boolean; error: unknown };

/** Further rows come when the end of those that are there is seen, or when they are asked for. */
function More({ state, onMore }: { state: MoreState; onMore: () => void }) {
  const t = useWords(words);
  const end = useRef<HTMLDivElement>(null);
  const failed = state.error !== undefined;
  useEffect(() => {
    const element = end.current;
    if (!element || failed || state.busy) return;
    const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && onMore(), {
      root: element.closest(".files-table-box"),
      rootMargin: "600px",
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [failed, state.busy, onMore]);
  return (
    <div ref={end} className="files-more">
      {state.busy && (
        <>
          <Spinner /> {t.loadingRows}
        </>
      )}
      {failed && <span role="alert">{messageOf(state.error)}</span>}
      {!state.busy && <Button onClick={onMore}>{failed ? t.retry : t.moreRows}</Button>}
    </div>
  );
}

function useMore({ sessionId, file, version }: Shown, first: FileTable) {
  const [rows, setRows] = useState<readonly Row[]>(first.rows);
  const [state, setState] = useState<MoreState>({ busy: false, error: undefined });
  const busy = useRef(false);
  const offset = first.offset + rows.length;
  const more = useCallback(async () => {
    if (busy.current) return;
    busy.current = true;
    setState({ busy: true, error: undefined });
    try {
      const where = { version: version.number, offset, limit: AT_ONCE, ...(first.sheet ? { sheet: first.sheet } : {}) };
      const page = await api.table(sessionId, file.path, where);
      setRows((known) => [...known, ...page.rows]);
      setState({ busy: false, error: undefined });
    } catch (error) {
      setState({ busy: false, error });
    }
    busy.current = false;
  }, [sessionId, file.path, version.number, first.sheet, offset]);
  return { rows, state, more };
}
