import { ChevronDown, ChevronUp, Copy } from "lucide-react";
import { useWords } from "../../../lib/i18n";
import type { SourceView } from "../../../protocol/events.gen";
import { Button } from "../../../ui/Button";
import { copyPassage } from "./copying";
import type { Reading } from "./passages";
import { words } from "./words";

interface BarProps {
  source: SourceView;
  reading: Reading;
  /** -1: none is looked at. */
  at: number;
  onMove: (at: number) => void;
}

/** From passage to passage, around the end. */
export function PassageBar({ source, reading, at, onMove }: BarProps) {
  const t = useWords(words);
  const { passages } = reading;
  const passage = passages[at];
  const count = passages.length;
  if (count === 0) return null;
  const page = passage?.page ? ` · ${t.page(passage.page)}` : "";
  return (
    <div className="sources-bar">
      <span role="status">{passage ? `${t.passage(at + 1, count)}${page}` : t.passages(count)}</span>
      {passage && (
        <Button
          look="quiet"
          small
          icon={Copy}
          label={t.copy}
          onClick={() => void copyPassage(source, reading, passage)}
        />
      )}
      {count > 1 && (
        <Button
          look="quiet"
          small
          icon={ChevronUp}
          label={t.previous}
          onClick={() => onMove((Math.max(at, 0) + count - 1) % count)}
        />
      )}
      {(count > 1 || !passage) && (
        <Button look="quiet" small icon={ChevronDown} label={t.next} onClick={() => onMove((at + 1) % count)} />
      )}
    </div>
  );
}
