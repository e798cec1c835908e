import { Clock, Undo2 } from "lucide-react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { draft, putBack } from "./draft";
import { words } from "./words";

/** The message that waits for the end of the answer. */
export function Queued({ onBack }: { onBack: () => void }) {
  const t = useWords(words);
  const held = useStore(draft, (known) => known.held);
  if (held?.state !== "queued") return null;
  const back = () => {
    putBack(held);
    onBack();
  };
  return (
    <div className="composer-queued">
      <Icon of={Clock} />
      <span className="composer-queued-text">
        <span className="composer-queued-note">{t.queued}</span>
        <span className="composer-queued-words" dir="auto">
          {held.text}
        </span>
      </span>
      <Button look="quiet" small icon={Undo2} label={t.unqueue} onClick={back} />
    </div>
  );
}
