import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useRef } from "react";
import { useWords } from "../../lib/i18n";
import { Store } from "../../lib/store";
import { showBranch } from "../../state/commands";
import { Button } from "../../ui/Button";
import { attempt, useBusy } from "./busy";
import { words } from "./words";

/** The branch that was requested by its buttons. They are rendered again with the branch, and must get the focus back. */
const requested = new Store<{ messageId: string; step: number } | null>(null);

export interface BranchesProps {
  kind: "question" | "answer";
  all: readonly string[];
  shown: string | null;
}

/** ‹ 2/3 › between the questions, or the answers, that stand in one place. */
export function Branches({ kind, all, shown }: BranchesProps) {
  const t = useWords(words);
  const busy = useBusy();
  const buttons = useRef<HTMLSpanElement>(null);
  const at = shown === null ? -1 : all.indexOf(shown);
  useEffect(() => {
    const request = requested.get();
    if (request?.messageId !== shown) return;
    const [back, on] = buttons.current?.querySelectorAll<HTMLButtonElement>("button") ?? [];
    const [wanted, other] = request.step < 0 ? [back, on] : [on, back];
    requested.set(null);
    (wanted?.disabled ? other : wanted)?.focus();
  }, [shown]);
  if (all.length < 2 || at < 0) return null;
  const go = (step: number) => {
    const messageId = all[at + step];
    if (messageId === undefined) return;
    requested.set({ messageId, step });
    void attempt(() => showBranch(messageId)).then((isShown) => {
      if (!isShown) requested.set(null);
    });
  };
  const [back, on, place] =
    kind === "question"
      ? [t.previousQuestion, t.nextQuestion, t.questionBranch(at + 1, all.length)]
      : [t.previousAnswer, t.nextAnswer, t.answerBranch(at + 1, all.length)];
  return (
    <span ref={buttons} className="chat-branches">
      <Button look="quiet" small icon={ChevronLeft} label={back} disabled={busy || at === 0} onClick={() => go(-1)} />
      <span className="ui-hidden">{place}</span>
      <span aria-hidden="true">{`${at + 1}/${all.length}`}</span>
      <Button
        look="quiet"
        small
        icon={ChevronRight}
        label={on}
        disabled={busy || at === all.length - 1}
        onClick={() => go(1)}
      />
    </span>
  );
}
