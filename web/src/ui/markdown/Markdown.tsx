import type { RootContent } from "mdast";
import { memo, type ReactNode, useId, useMemo, useState } from "react";
import { Block, blocks } from "./Block";
import { citedBy, unmarked } from "./citations";
import { type Footnotes, type MarkdownImages, MarksContext, SettingContext } from "./context";
import { IncrementalDocument } from "./incremental";
import { isSource, NoteList, sourceNumber } from "./Marks";
import "./markdown.css";
import { notesOf } from "./notes";
import { plainDocument } from "./plainDocument";
import { StatementCard } from "./StatementCard";
import { statementsOf, withStatements } from "./statements";
import { type Document, parse } from "./tree";

export interface MarkdownProps {
  text: string;
  /** The text still grows. When it has ended it is read once more, as a whole. */
  open?: boolean;
  footnotes?: Footnotes;
  images?: MarkdownImages;
  /** The level of the text's first headings. */
  headingBase?: number;
  /** It has no markup: only its footnotes are read. */
  plain?: boolean;
}

const NO_CITATIONS: Footnotes["citations"] = [];
const GROUP = 32;

export function Markdown(props: MarkdownProps): ReactNode {
  const { text, open = false, footnotes, images, headingBase = 3, plain = false } = props;
  const id = useId();
  const document = useDocument(text, open, plain);
  const setting = useMemo(() => ({ headingBase, images, id }), [headingBase, images, id]);
  const marks = useMarks(document, open ? "" : text, footnotes);
  const shown = useStatements(document, open ? "" : text, footnotes?.citations ?? NO_CITATIONS);
  const groups: ReactNode[] = [];
  for (let at = 0; at < shown.length; at += GROUP) {
    groups.push(<Group key={at} nodes={shown.slice(at, at + GROUP)} />);
  }
  return (
    <StatementCard footnotes={footnotes} plain={plain}>
      <SettingContext.Provider value={setting}>
        <MarksContext.Provider value={marks}>
          {groups}
          <NoteList content={(note) => blocks(note.children)} />
        </MarksContext.Provider>
      </SettingContext.Provider>
    </StatementCard>
  );
}

function useDocument(text: string, open: boolean, plain: boolean): Document {
  const [growing] = useState(() => new IncrementalDocument());
  return useMemo(() => {
    if (plain) return plainDocument(text);
    return open ? growing.grow(text) : parse(text);
  }, [growing, text, open, plain]);
}

/** The server judges a text when it is whole. */
function useStatements(document: Document, text: string, citations: Footnotes["citations"]): Document["blocks"] {
  return useMemo(
    () => (text === "" ? document.blocks : withStatements(document.blocks, statementsOf(citations), text)),
    [document, text, citations],
  );
}

function useMarks(document: Document, text: string, footnotes: Footnotes | undefined) {
  const citations = footnotes?.citations ?? NO_CITATIONS;
  const { marks, notes } = document;
  const cited = useMemo(() => citedBy(marks, citations, text), [marks, citations, text]);
  // A text without footnotes of its own has the same empty ones all the time, however often it grows.
  const own = notes.size > 0 ? document : EMPTY;
  return useMemo(() => {
    const isKnown = (name: string) => footnotes?.isKnown(sourceNumber(name) ?? -1) ?? false;
    const listed = notesOf(own, (name, mark) => (mark ? isSource(mark, { footnotes, cited }) : isKnown(name)));
    return { footnotes, cited, unmarked: unmarked(marks, citations), notes: listed };
  }, [own, footnotes, cited, marks, citations]);
}

const EMPTY: Document = { blocks: [], marks: [], notes: new Map() };

/** Some blocks in a row. Of a long text that grows, only the last of these has to be looked at. */
const Group = memo(
  function Group({ nodes }: { nodes: readonly RootContent[] }) {
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks never change their order
    return nodes.map((node, at) => <Block key={at} node={node} />);
  },
  (before, now) => before.nodes.length === now.nodes.length && before.nodes.every((node, at) => node === now.nodes[at]),
);
