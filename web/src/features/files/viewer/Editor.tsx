import { type KeyboardEvent, useCallback, useEffect, useState } from "react";
import { useWords, wordsNow } from "../../../lib/i18n";
import { api, RequestFailed } from "../../../protocol/client";
import { conversation } from "../../../state/conversation";
import { toast } from "../../../state/toasts";
import { openFile } from "../../../state/view";
import { Button } from "../../../ui/Button";
import { complain, took } from "../actions";
import { Confirm } from "../Confirm";
import { copyName } from "./copyName";
import { useLoaded } from "./loading";
import { Failed, Loading, NoView } from "./States";
import type { Shown } from "./versions";
import { words } from "./words";

export interface EditorProps {
  shown: Shown;
  onDirty: (dirty: boolean) => void;
  /** `saved`: there is a newer version now. */
  onDone: (saved: boolean) => void;
}

/** A text, to be changed by hand. */
export function Editor(props: EditorProps) {
  const t = useWords(words);
  const { sessionId, file, version } = props.shown;
  const load = useCallback(
    () => api.readFile(sessionId, file.path, version.number),
    [sessionId, file.path, version.number],
  );
  const { value, error, again } = useLoaded(load);
  if (error !== undefined) return <Failed error={error} onRetry={again} />;
  if (!value) return <Loading />;
  if (value.content === null) return <NoView shown={props.shown} why={t.noText} />;
  return <Field {...props} content={value.content} hash={value.hash ?? version.hash} />;
}

function Field({ shown, onDirty, onDone, content, hash }: EditorProps & { content: string; hash: string }) {
  const t = useWords(words);
  const [text, setText] = useState(() => content.replaceAll("\r\n", "\n"));
  const { save, busy, conflict, endConflict } = useSaving(shown, content, hash, onDone);
  const dirty = text !== content.replaceAll("\r\n", "\n");
  useEffect(() => {
    onDirty(dirty);
    return () => onDirty(false);
  }, [dirty, onDirty]);
  useWarning(dirty);
  const press = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    event.preventDefault();
    if (dirty) void save(text);
  };
  return (
    <div className="files-editor">
      <textarea
        className="files-editor-text"
        aria-label={t.editing(shown.file.filename)}
        value={text}
        spellCheck={shown.file.icon_type === "md" || shown.file.icon_type === "txt"}
        dir="auto"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={press}
      />
      <div className="files-editor-bar">
        <span className="files-faint">{t.saveHint}</span>
        <span className="files-space" />
        <Button onClick={() => onDone(false)}>{t.stopEditing}</Button>
        <Button look="main" disabled={!dirty || busy} onClick={() => void save(text)}>
          {t.save}
        </Button>
      </div>
      {conflict && (
        <Confirm
          title={t.conflict}
          verb={t.overwrite}
          onClose={endConflict}
          onConfirm={() => void save(text, "over")}
          others={<Button onClick={() => void save(text, "copy")}>{t.keepCopy}</Button>}
        >
          {t.conflictMeans}
        </Confirm>
      )}
    </div>
  );
}

type How = "plainly" | "over" | "copy";

function useSaving(shown: Shown, content: string, hash: string, onDone: (saved: boolean) => void) {
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState(false);
  const { sessionId, file } = shown;
  const save = async (text: string, how: How = "plainly") => {
    // Lines end as they did: a field of the browser knows only one way.
    const whole = content.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
    setBusy(true);
    setConflict(false);
    try {
      if (how === "copy") await saveCopy(shown, whole);
      else {
        const base = how === "over" ? (await api.versions(sessionId, file.path)).versions[0]?.hash : hash;
        took(sessionId, await api.writeFile(sessionId, file.path, whole, base ?? null));
        toast(wordsNow(words).saved);
        onDone(true);
      }
    } catch (error) {
      if (error instanceof RequestFailed && error.type === "file_changed") setConflict(true);
      else complain(error);
    }
    setBusy(false);
  };
  return { save, busy, conflict, endConflict: () => setConflict(false) };
}

async function saveCopy({ sessionId, file }: Shown, text: string): Promise<void> {
  const paths = conversation.get().files.map(({ path }) => path);
  const record = await api.writeFile(sessionId, copyName(file.path, paths), text, null);
  took(sessionId, record);
  toast(wordsNow(words).copyMade(record.filename));
  openFile(record.path);
}

/** The browser asks before it goes away with something that is not saved. */
function useWarning(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [dirty]);
}
