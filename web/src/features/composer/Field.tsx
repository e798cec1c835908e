import { type ClipboardEvent, type KeyboardEvent, type RefObject, useId, useLayoutEffect, useState } from "react";
import { useWords, wordsNow } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import type { FileRecord } from "../../protocol/events.gen";
import { conversation } from "../../state/conversation";
import { attach, attachKnown, attachText, filesOf, LONG_PASTE, useCanTell } from "./attaching";
import { change, draft } from "./draft";
import { Mentions } from "./Mentions";
import { type Mention, mentionAt, mentioned } from "./mention";
import { words } from "./words";

interface FieldProps {
  field: RefObject<HTMLTextAreaElement | null>;
  onSubmit: () => void;
  /** Null: nothing is running that could be stopped. */
  onStop: (() => void) | null;
}

/** Where the question is written. */
export function Field({ field, onSubmit, onStop }: FieldProps) {
  const t = useWords(words);
  const id = useId();
  const text = useStore(draft, (known) => known.text);
  const isFirst = useStore(conversation, (known) => known.turns.length === 0);
  const canTell = useCanTell();
  const nothing = isFirst ? t.ask : t.askMore;
  const placeholder = canTell ? t.tellThem : nothing;
  const mention = useMention(field);
  useHeight(field, text);
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Enter that ends the writing of a Vietnamese or Chinese word is the keyboard's, and not ours.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (mention.press(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      onSubmit();
    } else if (event.key === "Escape" && onStop) {
      event.preventDefault();
      onStop();
    }
  };
  return (
    <>
      {mention.files.length > 0 && (
        <Mentions id={id} files={mention.files} active={mention.active} onChoose={mention.choose} />
      )}
      <textarea
        ref={field}
        className="composer-field"
        data-reach="composer"
        aria-label={t.question}
        aria-controls={mention.files.length > 0 ? id : undefined}
        aria-activedescendant={mention.files.length > 0 ? `${id}-${mention.active}` : undefined}
        aria-autocomplete="list"
        placeholder={placeholder}
        dir="auto"
        rows={1}
        enterKeyHint="send"
        value={text}
        onChange={(event) => {
          change({ text: event.target.value, notice: null });
          // Not every input comes with a key, after which `onSelect` is told of: pasting, dictating and composing do not.
          mention.look();
        }}
        onSelect={mention.look}
        onBlur={mention.leave}
        onKeyDown={press}
        onPaste={paste}
      />
    </>
  );
}

/** Browsers that cannot let a field grow by themselves are helped. */
function useHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text.
  useLayoutEffect(() => {
    const element = field.current;
    if (!element || CSS.supports("field-sizing", "content")) return;
    element.style.blockSize = "auto";
    element.style.blockSize = `${element.scrollHeight}px`;
  }, [field, text]);
}

function paste(event: ClipboardEvent<HTMLTextAreaElement>): void {
  const files = filesOf(event.clipboardData);
  const text = event.clipboardData.getData("text/plain");
  if (files.length > 0) {
    event.preventDefault();
    attach(files);
  } else if (text.length > LONG_PASTE) {
    event.preventDefault();
    const element = event.currentTarget;
    attachText(text, (again) => insert(element, again));
  }
}

/** As if it had been typed. */
function insert(element: HTMLTextAreaElement, text: string): void {
  const { value, selectionStart, selectionEnd } = element;
  change({ text: value.slice(0, selectionStart) + text + value.slice(selectionEnd), notice: null });
  requestAnimationFrame(() => {
    element.focus();
    element.setSelectionRange(selectionStart + text.length, selectionStart + text.length);
  });
}

/** Offers the session's files while an `@` is being written. */
function useMention(field: RefObject<HTMLTextAreaElement | null>) {
  const [mention, setMention] = useState<Mention | null>(null);
  /** The `@` for which nothing is offered any more. */
  const [refused, setRefused] = useState<number | null>(null);
  const [active, setActive] = useState(0);
  const known = useStore(conversation, (now) => now.files);
  const files = mention && mention.at !== refused ? mentioned(known, mention) : [];
  const at = Math.min(active, Math.max(0, files.length - 1));

  const look = () => {
    const element = field.current;
    const isCaret = element && element.selectionStart === element.selectionEnd;
    const found = isCaret ? mentionAt(element.value, element.selectionStart) : null;
    if (found?.at !== mention?.at) setActive(0);
    if (found === null) setRefused(null);
    setMention(found);
  };
  const choose = (file: FileRecord) => {
    const element = field.current;
    if (!element || !mention) return;
    element.setSelectionRange(mention.at, mention.at + mention.name.length + 1);
    insert(element, `${file.filename} `);
    attachKnown(file);
    change({ notice: wordsNow(words).mentioned(file.filename) });
    setMention(null);
  };
  const press = (event: KeyboardEvent): boolean => {
    const file = files[at];
    if (!file || !mention) return false;
    if (event.key === "ArrowDown") setActive((at + 1) % files.length);
    else if (event.key === "ArrowUp") setActive((at + files.length - 1) % files.length);
    else if (event.key === "Escape") setRefused(mention.at);
    else if ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab") choose(file);
    else return false;
    event.preventDefault();
    return true;
  };
  return { files, active: at, look, choose, press, leave: () => setMention(null) };
}
