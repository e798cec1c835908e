import { Brain } from "lucide-react";
import { useState } from "react";
import { useWords } from "../../lib/i18n";
import type { ThinkingPart } from "../../state/answer";
import { Icon } from "../../ui/Icon";
import { words } from "./words";

const LINE = 160;

/** What the model thought, out of the way. While it thinks, its last line tells where it is. */
export function Thinking({ block }: { block: ThinkingPart }) {
  const t = useWords(words);
  const [open, setOpen] = useState(false);
  if (block.text.trim() === "" && !block.open) return null;
  return (
    <details className="chat-thinking" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon of={Brain} />
        <span>{block.open ? t.thinking : t.thought}</span>
        {block.open && !open && (
          <span className="chat-thinking-line" dir="auto">
            {lastLine(block.text)}
          </span>
        )}
      </summary>
      <div className="chat-thinking-text" dir="auto">
        {open && block.text}
      </div>
    </details>
  );
}

function lastLine(text: string): string {
  const end = text.slice(-4 * LINE).trimEnd();
  const line = end.slice(end.lastIndexOf("\n") + 1);
  return line.length > LINE ? `…${line.slice(-LINE)}` : line;
}
