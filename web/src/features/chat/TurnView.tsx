import { memo } from "react";
import type { Turn } from "../../state/turns";
import { Boundary } from "../../ui/Boundary";
import { AnswerView } from "./AnswerView";
import { Question } from "./Question";

/** A question and its answer. Turns that did not change are not drawn again. */
export const TurnView = memo(function TurnView({ turn }: { turn: Turn }) {
  return (
    <div className="chat-turn">
      <Question
        turnKey={turn.key}
        questionId={turn.questionId}
        text={turn.text}
        askedAt={turn.askedAt}
        attachments={turn.attachments}
        questions={turn.questions}
      />
      <Boundary>
        <AnswerView turn={turn} />
      </Boundary>
    </div>
  );
});
