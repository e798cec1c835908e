import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useWords } from "../../../lib/i18n";
import { Offsets } from "../../../lib/offsets";
import type { Citation } from "../../../protocol/events.gen";
import { Spinner } from "../../../ui/Badge";
import { Markdown, statementsOf } from "../../../ui/markdown";
import { beginningOf, elementsOf, type Judged, Proof } from "../../../ui/proof";
import { useJudged } from "./footnotes";
import { MarkdownText } from "./MarkdownText";
import type { Shown } from "./versions";
import { words } from "./words";

export interface JudgedTextProps {
  shown: Shown;
  text: string;
  kind: "markdown" | "text";
  /** What a text without markup and without footnotes looks like. */
  children?: ReactNode;
}

/** A text with the verdicts on its statements: in the text, counted, and as a map above it. */
export function JudgedText({ shown, text, kind, children }: JudgedTextProps) {
  const t = useWords(words);
  const room = useRef<HTMLDivElement>(null);
  const { footnotes, citations, isChecking } = useJudged(shown, text);
  const statements = useMemo(() => judgedIn(text, citations, () => room.current), [text, citations]);
  const isSlow = useLasting(isChecking);
  const isPlain = kind === "text" && citations.length === 0;
  return (
    <>
      {isSlow && (
        <p className="files-checking" role="status">
          <Spinner /> {t.checking}
        </p>
      )}
      {statements.length > 0 && (
        <div className="files-proof">
          <Proof statements={statements} />
        </div>
      )}
      <div ref={room} className="files-scroll">
        {kind === "markdown" && <MarkdownText shown={shown} text={text} footnotes={footnotes} />}
        {kind === "text" && !isPlain && footnotes && (
          <article className="files-document">
            <Markdown text={text} footnotes={footnotes} plain />
          </article>
        )}
        {isPlain && children}
      </div>
    </>
  );
}

/** Mostly the verdicts are there at once: what is said only in between would flicker. */
const SAID_AFTER_MS = 500;

function useLasting(isTrue: boolean): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    if (!isTrue) return setLasts(false);
    const timer = setTimeout(() => setLasts(true), SAID_AFTER_MS);
    return () => clearTimeout(timer);
  }, [isTrue]);
  return isTrue && lasts;
}

function judgedIn(text: string, citations: readonly Citation[], room: () => Element | null): Judged[] {
  const offsets = new Offsets(text);
  return statementsOf(citations).map((statement) => ({
    key: statement.key,
    verdict: statement.verdict,
    beginning: () => beginningOf(text.slice(offsets.unit(statement.start), offsets.unit(statement.end))),
    find: () => elementsOf(room(), statement),
  }));
}
