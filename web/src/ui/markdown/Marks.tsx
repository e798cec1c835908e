import type { FootnoteDefinition, FootnoteReference } from "mdast";
import { Fragment, type MouseEvent, type ReactNode, useContext } from "react";
import { useWords } from "../../lib/i18n";
import { Link } from "../Link";
import { type Marks, MarksContext, SettingContext } from "./context";
import type { MarkRun } from "./markRuns";
import type { Mark } from "./tree";
import { words } from "./words";

/** Whether a marker leads to sources of the session. */
export function isSource(mark: Mark, { footnotes, cited }: Pick<Marks, "footnotes" | "cited">): boolean {
  const citations = cited.get(mark);
  return footnotes !== undefined && (mark.numbers ?? []).some((n, at) => citations?.[at] || footnotes.isKnown(n));
}

/** More footnotes than this behind one word may be broken onto several lines: a small screen has no room for them. */
const MAX_TOGETHER = 3;

/**
 * The markers behind a word. Footnotes follow it without a space, and no line begins with a footnote or with the
 * punctuation behind it. Markers that lead nowhere stay the text that they are, as it was written.
 */
export function MarkRunView({ run: { space, marks, punctuation } }: { run: MarkRun }): ReactNode {
  const context = useContext(MarksContext);
  if (!marks.every(({ node }) => isSource(node, context))) {
    return (
      <>
        {space}
        {marks.map(({ node, gap }) => (
          <Fragment key={node.start}>
            {gap}
            <MarkView node={node} />
          </Fragment>
        ))}
        {punctuation}
      </>
    );
  }
  const chips = marks.flatMap(({ node }) => chipsOf(node, context));
  // Punctuation may still follow, where the footnote is the last part of a word in bold or in a quotation.
  const openEnd = { "data-open-end": punctuation === "" || undefined };
  if (chips.length <= MAX_TOGETHER) {
    return (
      <span className="md-cited" {...openEnd}>
        {chips}
        {punctuation}
      </span>
    );
  }
  return (
    <>
      <span className="md-cited">{chips[0]}</span>
      {chips.slice(1, -1)}
      <span className="md-together" {...openEnd}>
        {chips.at(-1)}
        {punctuation}
      </span>
    </>
  );
}

/** One footnote for each number of a marker. */
function chipsOf(node: Mark, { footnotes, cited }: Marks): ReactNode[] {
  const citations = cited.get(node);
  return (node.numbers ?? []).map((number, at) => {
    const citation = citations?.[at] ?? null;
    const isKnown = citation !== null || footnotes?.isKnown(number);
    const shown = isKnown ? footnotes?.render({ number, marker: node.value, citation }) : `[${number}]`;
    return <Fragment key={`${node.start} ${number}`}>{shown}</Fragment>;
  });
}

function MarkView({ node }: { node: Mark }): ReactNode {
  const marks = useContext(MarksContext);
  if (isSource(node, marks)) return chipsOf(node, marks);
  if (node.note !== undefined) return <NoteReference node={node} name={node.note} />;
  if (node.link !== undefined) return <Link href={node.link}>{node.value.slice(1, -1)}</Link>;
  return node.value;
}

/** A way inside of the page: its address stays as it is. */
function Jump({ to, id, label, children }: { to: string; id?: string; label: string; children: ReactNode }) {
  const jump = (event: MouseEvent) => {
    event.preventDefault();
    const target = document.getElementById(to);
    target?.scrollIntoView({ block: "nearest" });
    target?.focus({ preventScroll: true });
  };
  return (
    <a href={`#${to}`} id={id} aria-label={label} className="md-jump" onClick={jump}>
      {children}
    </a>
  );
}

export function NoteReference({ node, name }: { node: Mark | FootnoteReference; name: string }) {
  const t = useWords(words);
  const { notes } = useContext(MarksContext);
  const { id } = useContext(SettingContext);
  const number = notes.numberOf(name);
  if (number === null) return `[^${name}]`;
  const own = notes.isFirst(node) ? `${id}from-${number}` : undefined;
  return (
    <sup className="md-note-mark">
      <Jump to={`${id}note-${number}`} id={own} label={t.footnote(number)}>
        {number}
      </Jump>
    </sup>
  );
}

/** The footnotes that the text has of its own. */
export function NoteList({ content }: { content: (note: FootnoteDefinition) => ReactNode }) {
  const t = useWords(words);
  const { notes } = useContext(MarksContext);
  const { id } = useContext(SettingContext);
  if (notes.listed.length === 0) return null;
  return (
    <ol className="md-notes" aria-label={t.footnotes}>
      {notes.listed.map((note) => {
        const number = notes.numberOf(note.identifier) ?? 0;
        return (
          <li key={note.identifier} value={number} id={`${id}note-${number}`} tabIndex={-1} dir="auto">
            {content(note)}
            <Jump to={`${id}from-${number}`} label={t.back(number)}>
              ↩
            </Jump>
          </li>
        );
      })}
    </ol>
  );
}

/** `[^1]: …` of a source of the session: an entry in a list of sources, at its place. */
export function SourceNote({ node, children }: { node: FootnoteDefinition; children: ReactNode }) {
  const { footnotes } = useContext(MarksContext);
  const number = sourceNumber(node.identifier);
  if (!footnotes || number === null || !footnotes.isKnown(number)) return null;
  return (
    <div className="md-source-note">
      {footnotes.render({ number, marker: `[^${node.label}]`, citation: null })}
      <div>{children}</div>
    </div>
  );
}

export function sourceNumber(name: string): number | null {
  return /^\d{1,15}$/.test(name) ? Number(name) : null;
}
