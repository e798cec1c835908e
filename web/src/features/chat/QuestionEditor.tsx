import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useWords } from "../../lib/i18n";
import { Button } from "../../ui/Button";
import { useBusy } from "./busy";
import { words } from "./words";

/** Key code of keys that belong to an input method, in browsers that do not say so otherwise. */
const COMPOSING = 229;

export interface QuestionEditorProps {
  text: string;
  onSend: (text: string) => void;
  onCancel: () => void;
}

export function QuestionEditor({ text, onSend, onCancel }: QuestionEditorProps) {
  const t = useWords(words);
  const busy = useBusy();
  const [written, setWritten] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  const isEmpty = written.trim() === "";

  useEffect(() => {
    const { current } = field;
    current?.focus();
    current?.setSelectionRange(current.value.length, current.value.length);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it grows with what is written.
  useEffect(() => {
    if (!field.current || CSS.supports("field-sizing", "content")) return;
    field.current.style.blockSize = "auto";
    field.current.style.blockSize = `${field.current.scrollHeight}px`;
  }, [written]);

  const send = () => {
    if (!isEmpty && !busy) onSend(written.trim());
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.keyCode === COMPOSING) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      onCancel();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    }
  };
  return (
    <div className="chat-editor">
      <textarea
        ref={field}
        className="chat-editor-field"
        aria-label={t.editName}
        dir="auto"
        rows={2}
        value={written}
        onChange={(event) => setWritten(event.target.value)}
        onKeyDown={press}
      />
      <div className="chat-editor-foot">
        <Button small onClick={onCancel}>
          {t.cancel}
        </Button>
        <Button small look="main" disabled={isEmpty || busy} onClick={send}>
          {t.saveAndAsk}
        </Button>
      </div>
    </div>
  );
}
