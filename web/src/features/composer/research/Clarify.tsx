import { CircleQuestionMark, CornerDownLeft, Undo2 } from "lucide-react";
import { type FormEvent, type RefObject, useEffect, useId, useRef, useState } from "react";
import { useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import { isPhone } from "../../../state/view";
import { Spinner } from "../../../ui/Badge";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/Icon";
import { answerClarification, clarifying, withdrawQuestion } from "../clarifying";
import { words } from "./words";

/** A server that answers sooner is not said to be awaited. */
const SAID_AFTER_MS = 600;

export interface ClarifyProps {
  /** Where the question was written. */
  field: RefObject<HTMLTextAreaElement | null>;
}

/** What the server wants to know before research begins: it can be answered with a click, in words, or not at all. */
export function Clarify({ field }: ClarifyProps) {
  const t = useWords(words);
  const id = useId();
  const asked = useStore(clarifying);
  const isAwaited = useAwaited();
  if (!asked || (asked.question === null && !isAwaited)) return null;
  const back = () => {
    withdrawQuestion();
    field.current?.focus();
  };
  const skip = () => {
    answerClarification(null);
    field.current?.focus();
  };
  return (
    <section className="composer-clarify" aria-labelledby={id}>
      <h2 id={id} className="ui-hidden">
        {t.clarify}
      </h2>
      <p className="composer-clarify-asked" dir="auto">
        {asked.held.text}
      </p>
      {asked.question === null ? (
        <p className="composer-clarify-waiting" role="status">
          <Spinner />
          {t.clarifying}
        </p>
      ) : (
        <Question question={asked.question} answers={asked.answers} field={field} onBack={back} />
      )}
      <div className="composer-clarify-foot">
        <Button look="quiet" small icon={Undo2} onClick={back}>
          {t.editQuestion}
        </Button>
        <Button look="quiet" small onClick={skip}>
          {t.skip}
        </Button>
      </div>
    </section>
  );
}

function useAwaited(): boolean {
  const [isAwaited, setAwaited] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setAwaited(true), SAID_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return isAwaited;
}

interface QuestionProps {
  question: string;
  answers: readonly string[];
  field: RefObject<HTMLTextAreaElement | null>;
  onBack: () => void;
}

function Question({ question, answers, field, onBack }: QuestionProps) {
  const t = useWords(words);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [own, setOwn] = useState("");
  useEffect(() => {
    // On a phone the keyboard would cover what was asked.
    if (!isPhone()) input.current?.focus();
  }, []);
  const answer = (text: string) => {
    if (text.trim() === "") return;
    answerClarification(text);
    field.current?.focus();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    answer(own);
  };
  return (
    <>
      <p id={id} className="composer-clarify-question" dir="auto" role="status">
        <Icon of={CircleQuestionMark} />
        <span>{question}</span>
      </p>
      {answers.length > 0 && (
        <ul className="composer-clarify-answers" aria-label={t.suggested}>
          {answers.map((text) => (
            <li key={text}>
              <Button small onClick={() => answer(text)}>
                <span dir="auto">{text}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      <form className="composer-clarify-own" onSubmit={submit}>
        <input
          ref={input}
          className="ui-field"
          dir="auto"
          aria-label={t.answerOwn}
          aria-describedby={id}
          placeholder={t.answerOwn}
          value={own}
          onChange={(event) => setOwn(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
            event.preventDefault();
            onBack();
          }}
        />
        <Button type="submit" look="main" small icon={CornerDownLeft} label={t.answer} disabled={own.trim() === ""} />
      </form>
    </>
  );
}
