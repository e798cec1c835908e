import { useWords } from "../../../lib/i18n";
import type { Citation } from "../../../protocol/events.gen";
import { Button } from "../../../ui/Button";
import { VerdictBadge } from "../Verdicts";
import { cut, type Range } from "./pieces";
import { words } from "./words";

interface NoteProps {
  citation: Citation;
  /** What the answer or the file says, in plain words. */
  sentence: string | null;
  inFile: boolean;
  /** Its words that the passage has otherwise, or not at all. */
  differing: readonly Range[];
  /** The passage stands in the text that is shown. */
  found: boolean;
  /** The text that it was checked against is there, shown or not. */
  kept: boolean;
  /** Another passage is looked at: back to the one that counts. */
  onReturn: (() => void) | null;
}

/** What the answer says, beside whether the source says it too. */
export function VerdictNote(props: NoteProps) {
  const t = useWords(words);
  const { citation, sentence, inFile, differing, found, onReturn } = props;
  return (
    <section className="sources-verdict" data-verdict={citation.verdict}>
      {sentence && (
        <blockquote dir="auto">
          <span className="ui-hidden">{inFile ? t.fileSays : t.answerSays}: </span>
          <Claim sentence={sentence} differing={differing} />
        </blockquote>
      )}
      <p>
        <VerdictBadge verdict={citation.verdict} /> <Explained {...props} />{" "}
        {onReturn && found && (
          <Button small onClick={onReturn}>
            {t.showCited}
          </Button>
        )}
      </p>
    </section>
  );
}

function Claim({ sentence, differing }: { sentence: string; differing: readonly Range[] }) {
  return cut({ start: 0, end: sentence.length }, differing).map(({ start, end, by }) => {
    const said = sentence.slice(start, end);
    if (!by) return said;
    return (
      <strong key={start} className="sources-differs">
        {said}
      </strong>
    );
  });
}

function Explained({ citation: { quote, verdict }, found, kept, onReturn }: NoteProps) {
  const t = useWords(words);
  if (!quote) return t.saysNothing;
  if (!found) return kept ? t.otherReading : t.movedAway;
  if (onReturn) return t.elsewhere;
  if (verdict === "unsupported") return t.saysOtherwise;
  return verdict === "supported" ? t.saysSo : t.saysPart;
}
