import { TriangleAlert } from "lucide-react";
import { type ReactNode, useCallback, useMemo } from "react";
import { useWords } from "../../../lib/i18n";
import { api } from "../../../protocol/client";
import { Icon } from "../../../ui/Icon";
import { isWholeJson, kindOf, languageOf } from "../kinds";
import { JudgedText } from "./JudgedText";
import { indented } from "./json";
import { Lines } from "./Lines";
import { LongText } from "./LongText";
import { useLoaded } from "./loading";
import { Failed, Loading } from "./States";
import type { Shown } from "./versions";
import { words } from "./words";

/** A file that holds text, as it looks or, with `source`, as it is written. */
export function TextView({ shown, source }: { shown: Shown; source?: boolean }) {
  const t = useWords(words);
  const { sessionId, file, version } = shown;
  const load = useCallback(
    () => api.content(sessionId, file.path, version.number),
    [sessionId, file.path, version.number],
  );
  const { value, error, again } = useLoaded(load);
  if (error !== undefined) return <Failed error={error} onRetry={again} shown={shown} />;
  if (!value) return <Loading />;
  if (value.content === null) return <LongText shown={shown} />;
  if (value.content === "") return <p className="files-state">{t.emptyFile}</p>;
  const kind = kindOf(shown.file);
  if (!source && (kind === "markdown" || kind === "text"))
    return (
      <JudgedText shown={shown} text={value.content} kind={kind}>
        <Lines text={value.content} language={null} />
      </JudgedText>
    );
  return <Scrolled>{drawn(shown, value.content, source ?? false)}</Scrolled>;
}

function drawn(shown: Shown, text: string, source: boolean): ReactNode {
  const kind = kindOf(shown.file);
  if (source) return <Lines text={text} language={languageOf(shown.file.filename)} />;
  if (kind === "json") return <Json text={text} filename={shown.file.filename} />;
  return <Lines text={text} language={kind === "code" ? languageOf(shown.file.filename) : null} />;
}

function Json({ text, filename }: { text: string; filename: string }) {
  const t = useWords(words);
  const pretty = useMemo(() => indented(text), [text]);
  if (pretty !== null) return <Lines text={pretty} language="json" />;
  if (!isWholeJson(filename)) return <Lines text={text} language="json" />;
  return (
    <>
      <p className="ui-notice files-note" data-tone="warn">
        <Icon of={TriangleAlert} />
        <span>{t.brokenJson}</span>
      </p>
      <Lines text={text} language={null} />
    </>
  );
}

function Scrolled({ children }: { children: ReactNode }) {
  return <div className="files-scroll">{children}</div>;
}

/** The drawing as it is written: the server hands out images by address only. */
export function SvgSource({ shown }: { shown: Shown }) {
  const { sessionId, file, version } = shown;
  const load = useCallback(
    () => api.rawText(sessionId, file.path, version.number),
    [sessionId, file.path, version.number],
  );
  const { value, error, again } = useLoaded(load);
  if (error !== undefined) return <Failed error={error} onRetry={again} shown={shown} />;
  if (value === undefined) return <Loading />;
  return (
    <Scrolled>
      <Lines text={value} language="xml" />
    </Scrolled>
  );
}
