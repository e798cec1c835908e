import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useWords } from "../../../lib/i18n";
import { Button } from "../../../ui/Button";
import { words } from "./words";

/** The server takes no longer questions. */
const MAX_LENGTH = 500;

interface ItemEditorProps {
  label: string;
  action: string;
  text: string;
  onSave: (text: string) => void;
  onCancel: () => void;
}

/** Where a question of the plan is written. */
export function ItemEditor({ label, action, text, onSave, onCancel }: ItemEditorProps) {
  const t = useWords(words);
  const field = useRef<HTMLInputElement>(null);
  const [written, setWritten] = useState(text);
  const isEmpty = written.trim() === "";
  useEffect(() => field.current?.select(), []);
  const save = () => {
    if (!isEmpty) onSave(written.trim());
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      onCancel();
    } else if (event.key === "Enter") {
      event.preventDefault();
      save();
    }
  };
  return (
    <span className="chat-plan-editor">
      <input
        ref={field}
        className="ui-field"
        dir="auto"
        aria-label={label}
        placeholder={label}
        maxLength={MAX_LENGTH}
        value={written}
        onChange={(event) => setWritten(event.target.value)}
        onKeyDown={press}
      />
      <Button small look="main" disabled={isEmpty} onClick={save}>
        {action}
      </Button>
      <Button small look="quiet" onClick={onCancel}>
        {t.cancel}
      </Button>
    </span>
  );
}
