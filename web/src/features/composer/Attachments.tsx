import { RotateCw, X } from "lucide-react";
import { useEffect, useRef } from "react";
import { size } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { conversation } from "../../state/conversation";
import { removeUpload, retryUpload, type Upload, uploads } from "../../state/uploads";
import { openFile } from "../../state/view";
import { Button } from "../../ui/Button";
import { FileIcon } from "../../ui/FileIcon";
import { isAttached } from "./attaching";
import { draft } from "./draft";
import { words } from "./words";

/** What goes with the question, each with how far it has come. */
export function Attachments() {
  const t = useWords(words);
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const all = useStore(uploads);
  const mine = failedFirst(all.filter((one) => isAttached(one, sessionId)));
  if (mine.length === 0) return null;
  return (
    <ul className="composer-files" aria-label={t.attached}>
      {mine.map((one) => (
        <Chip key={one.id} one={one} />
      ))}
    </ul>
  );
}

/** Among many, what is in the way of the question must not be out of sight. */
function failedFirst(all: readonly Upload[]): readonly Upload[] {
  return [...all].sort((one, other) => Number(other.state === "failed") - Number(one.state === "failed"));
}

function Chip({ one }: { one: Upload }) {
  const t = useWords(words);
  const { record, file, state } = one;
  const name = record?.filename ?? file.name;
  const isUnderWay = state === "waiting" || state === "sending";
  const item = useRef<HTMLLIElement>(null);
  const blocker = useStore(draft, (known) => known.blocker);
  useEffect(() => {
    if (blocker?.uploadId === one.id) item.current?.scrollIntoView({ block: "nearest" });
  }, [blocker, one.id]);
  return (
    <li ref={item} className="composer-file" data-state={state}>
      <FileIcon type={record?.icon_type ?? "file"} />
      <span className="composer-file-text">
        {record ? (
          <button type="button" className="composer-file-name" dir="auto" onClick={() => openFile(record.path)}>
            {name}
          </button>
        ) : (
          <span className="composer-file-name" dir="auto" title={name}>
            {name}
          </span>
        )}
        <Progress one={one} name={name} />
      </span>
      {state === "failed" && one.retryable && (
        <Button look="quiet" small icon={RotateCw} label={t.retry(name)} onClick={() => retryUpload(one.id)} />
      )}
      <Button
        look="quiet"
        small
        icon={X}
        label={isUnderWay ? t.cancel(name) : t.remove(name)}
        onClick={() => removeUpload(one.id)}
      />
    </li>
  );
}

function Progress({ one, name }: { one: Upload; name: string }) {
  const t = useWords(words);
  const locale = useLocale();
  const { file, sent, state, error } = one;
  if (state === "failed")
    return (
      <span className="composer-file-note" role="alert" dir="auto">
        {error === "offline" ? t.uploadOffline : error}
      </span>
    );
  if (state === "waiting") return <span className="composer-file-note">{t.waiting}</span>;
  if (state === "done")
    return one.size === null ? null : <span className="composer-file-note">{size(one.size, locale)}</span>;
  return (
    <>
      <span className="composer-file-note">
        {sent < file.size ? t.sent(size(sent, locale), size(file.size, locale)) : t.processing}
      </span>
      <progress className="ui-progress" aria-label={t.uploadOf(name)} max={Math.max(1, file.size)} value={sent} />
    </>
  );
}
