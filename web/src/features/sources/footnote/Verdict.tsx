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
  place: Place;
  /** Where the passage that the footnote points to is, seen from the quotation. Null: it points to none that is here. */
  outlined: "around" | "apart" | null;
  /** The text that it was checked against is there, shown or not. */
  kept: boolean;
  /** Another passage is looked at: back to the one that counts. */
  onReturn: (() => void) | null;
  /** To the quotation, where it stands elsewhere than the passage that the footnote points to. */
  onQuote: (() => void) | null;
}

/** What is looked at: the quotation, the passage that the footnote points to, or another one. `missing`: the text that is
 * shown has neither of the two. */
export type Place = "quote" | "pointed" | "elsewhere" | "missing";

/** What the answer says, beside whether the source says it too. */
export function VerdictNote(props: NoteProps) {
  const t = useWords(words);
  const { citation, sentence, inFile, differing, place, onReturn, onQuote } = props;
  return (
    <section className="sources-verdict" data-verdict={citation.verdict}>
      {sentence && (
        <blockquote dir="auto">
          <span className="ui-hidden">{inFile ? t.fileSays : t.answerSays}: </span>
          <Claim sentence={sentence} differing={differing} isStruck={citation.differences.length > 0} />
        </blockquote>
      )}
      <p>
        <VerdictBadge verdict={citation.verdict} /> <Explained {...props} />{" "}
        {place === "quote" && <Found citation={citation} />}
        {onReturn && place !== "missing" && (
          <Button small onClick={onReturn}>
            {t.showCited}
          </Button>
        )}
        {onQuote && place === "pointed" && (
          <Button small onClick={onQuote}>
            {t.showQuote}
          </Button>
        )}
      </p>
    </section>
  );
}

interface ClaimProps {
  sentence: string;
  differing: readonly Range[];
  /** The page says otherwise: its word stands in the place of this one. */
  isStruck: boolean;
}

function Claim({ sentence, differing, isStruck }: ClaimProps) {
  return cut({ start: 0, end: sentence.length }, differing).map(({ start, end, by }) => {
    const said = sentence.slice(start, end);
    if (!by) return said;
    if (isStruck)
      return (
        <del key={start} className="sources-struck">
          {said}
        </del>
      );
    return (
      <strong key={start} className="sources-differs">
        {said}
      </strong>
    );
  });
}

/** What the passage lacks of the statement, and who found it. */
function Found({ citation: { missing, by, quote, verdict } }: { citation: Citation }) {
  const t = useWords(words);
  return (
    <>
      {missing && verdict === "partial" && (
        <>
          <span>{t.missing}</span>{" "}
          <strong className="sources-missing" dir="auto">
            {missing}
          </strong>{" "}
        </>
      )}
      {by === "model" && quote && `${t.byModel} `}
    </>
  );
}

function Explained({ citation: { quote, verdict }, place, outlined, inFile, kept }: NoteProps) {
  const t = useWords(words);
  const points = inFile ? t.filePoints : t.answerPoints;
  if (place === "pointed") return quote ? `${points} ${t.quoteElsewhere}` : `${t.nothingSupports} ${points}`;
  if (place === "elsewhere") return t.elsewhere;
  if (!quote) return t.saysNothing;
  if (place === "missing") return kept ? t.otherReading : t.movedAway;
  const says = {
    supported: t.saysSo,
    partial: t.saysPart,
    contradicted: t.saysOtherwise,
    unsupported: t.saysOtherwise,
    uncited: t.saysUncited,
    unread: t.saysNothing,
  }[verdict];
  if (outlined === "apart") return `${says} ${inFile ? t.filePointsApart : t.answerPointsApart}`;
  return outlined ? `${says} ${inFile ? t.fileOutlined : t.answerOutlined}` : says;
}
