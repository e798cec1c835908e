import { ScanSearch } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { number } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import { Store, useStore } from "../../lib/store";
import { check } from "../../state/commands";
import { closeDialog } from "../../state/view";
import { Spinner } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import "./check.css";
import { words } from "./words";

/** What was pasted stays when the dialog is closed by mistake. */
const draft = new Store("");

const ADDRESS = /^https?:\/\/\S{1,2000}$/i;

/** A text of anybody, or a page, is checked against what it cites. The result is a session of its own. */
export function CheckDialog() {
  const t = useWords(words);
  const locale = useLocale();
  const id = useId();
  const text = useStore(draft);
  const field = useRef<HTMLTextAreaElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const written = text.trim();
  const isAddress = ADDRESS.test(written);
  useEffect(() => field.current?.focus(), []);
  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (written === "" || isBusy) return;
    setBusy(true);
    setProblem("");
    try {
      await check(isAddress ? { url: written } : { text });
      draft.set("");
      closeDialog();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
      field.current?.focus();
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing) void submit();
  };
  return (
    <Dialog title={t.title} onClose={closeDialog}>
      <form className="check" onSubmit={(event) => void submit(event)}>
        <label className="check-label" htmlFor={id}>
          {t.field}
        </label>
        <textarea
          ref={field}
          id={id}
          className="ui-field check-field"
          dir="auto"
          value={text}
          placeholder={t.placeholder}
          aria-describedby={`${id}-means`}
          onChange={(event) => draft.set(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <p id={`${id}-means`} className="check-note">
          {t.means}
        </p>
        {problem && (
          <p className="check-problem" role="alert" dir="auto">
            {problem}
          </p>
        )}
        <div className="check-foot">
          <span className="check-note">
            {isAddress ? t.address : written !== "" && t.letters(number([...text].length, locale))}
          </span>
          <Button onClick={closeDialog}>{t.cancel}</Button>
          <Button look="main" type="submit" icon={isBusy ? undefined : ScanSearch} disabled={written === "" || isBusy}>
            {isBusy && <Spinner />}
            {isBusy ? t.starting : t.check}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
