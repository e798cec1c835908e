import type { FootnoteDefinition, FootnoteReference } from "mdast";
import { Fragment, type MouseEvent, type ReactNode, useContext } from "react";
import { useWords } from "../../lib/i18n";
import { Link } from "../Link";
import { type Marks, MarksContext, SettingContext } from "./context";
import type { Mark } from "./tree";
import { words } from "./words";

/** Whether a marker leads to sources of the session. */
export function isSource(mark: Mark, { footnotes, cited }: Pick<Marks, "footnotes" | "cited">): boolean {
  const citations = cited.get(mark);
  return footnotes !== undefined && (mark.numbers ?? []).some((n, at) => citations?.[at] || footnotes.isKnown(n));
}

/** One footnote for each number of a marker. One that leads nowhere stays the text that it is. */
export function MarkView({ node }: { node: Mark }): ReactNode {
  const marks = useContext(MarksContext);
  const { footnotes } = marks;
  if (footnotes && isSource(node, marks)) {
    const citations = marks.cited.get(node);
    return (node.numbers ?? []).map((number, at) => {
      const citation = citations?.[at] ?? null;
      const known = citation !== null || footnotes.isKnown(number);
      const shown = known ? footnotes.render({ number, marker: node.value, citation }) : `[${number}]`;
      return <Fragment key={number}>{shown}</Fragment>;
    });
  }
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
      {notes.listed.map((note, at) => (
        <li key={note.identifier} id={`${id}note-${at + 1}`} tabIndex={-1} dir="auto">
          {content(note)}
          <Jump to={`${id}from-${at + 1}`} label={t.back(at + 1)}>
            ↩
          </Jump>
        </li>
      ))}
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
