import { useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import type { Citation } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { Button } from "../../../ui/Button";
import { plainText } from "../../../ui/markdown";
import { sentenceOf } from "../found";
import { VerdictBadge } from "../Verdicts";
import { words } from "./words";

interface NoteProps {
  citation: Citation;
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
  const { citation, found, onReturn } = props;
  const sentence = useStore(conversation, (known) => sentenceOf(known.turns, citation));
  return (
    <section className="sources-verdict" data-verdict={citation.verdict}>
      {sentence && (
        <blockquote dir="auto">
          <span className="ui-hidden">{t.answerSays}: </span>
          {plainText(sentence)}
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

function Explained({ citation: { quote, verdict }, found, kept, onReturn }: NoteProps) {
  const t = useWords(words);
  if (!quote || verdict === "unsupported") return t.saysNothing;
  if (!found) return kept ? t.otherReading : t.movedAway;
  if (onReturn) return t.elsewhere;
  return verdict === "supported" ? t.saysSo : t.saysPart;
}
