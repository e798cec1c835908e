import { CircleStop } from "lucide-react";
import { useState } from "react";
import { useWords } from "../../lib/i18n";
import { finish } from "../../state/research";
import { Button } from "../../ui/Button";
import { attempt } from "./busy";
import { words } from "./words";

interface FinishButtonProps {
  runId: string;
  text: string;
  title: string;
}

/** Ends the looking up: what was found by now has to do. Who has asked waits until what goes on has put down what it has. */
export function FinishButton({ runId, text, title }: FinishButtonProps) {
  const t = useWords(words);
  const [isAsked, setAsked] = useState(false);
  const ask = async () => {
    if (isAsked) return;
    setAsked(true);
    if (!(await attempt(() => finish(runId)))) setAsked(false);
  };
  return (
    <Button small icon={CircleStop} title={title} aria-disabled={isAsked || undefined} onClick={() => void ask()}>
      {isAsked ? t.finishing : text}
    </Button>
  );
}
