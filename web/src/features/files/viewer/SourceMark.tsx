import { useWords } from "../../../lib/i18n";
import { conversation } from "../../../state/conversation";
import { sourcesByNumber } from "../../../state/select";
import { closeFile, openSource } from "../../../state/view";
import { HoverCard } from "../../../ui/HoverCard";
import type { Footnotes } from "../../../ui/markdown";
import { words } from "./words";

const sourceOf = (number: number) => sourcesByNumber(conversation.get().turns).get(number) ?? null;

/** The numbers of sources in a report that was written in this session. Nobody checked them sentence by sentence. */
export const FOOTNOTES: Footnotes = {
  citations: [],
  isKnown: (number) => sourceOf(number) !== null,
  render: ({ number }) => <SourceMark number={number} />,
};

function SourceMark({ number }: { number: number }) {
  const t = useWords(words);
  const open = () => {
    closeFile();
    openSource(number);
  };
  return (
    <HoverCard card={() => <SourceCard number={number} />}>
      {(described) => (
        <button {...described} type="button" className="files-mark" aria-label={t.sourceMark(number)} onClick={open}>
          {number}
        </button>
      )}
    </HoverCard>
  );
}

function SourceCard({ number }: { number: number }) {
  const source = sourceOf(number);
  return (
    <span className="files-mark-card">
      <span dir="auto">{source?.title || source?.url}</span>
      {source && /^https?:/.test(source.url) && <span className="files-faint">{source.domain}</span>}
    </span>
  );
}
