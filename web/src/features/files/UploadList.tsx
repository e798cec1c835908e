import { RotateCcw, X } from "lucide-react";
import { useEffect } from "react";
import { size } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { conversation } from "../../state/conversation";
import { removeUpload, retryUpload, type Upload, uploads } from "../../state/uploads";
import { Button } from "../../ui/Button";
import { words } from "./words";

/** What is on its way, or did not arrive. */
export function UploadList() {
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const all = useStore(uploads);
  const mine = all.filter((one) => one.sessionId === sessionId);
  const arrived = mine.filter((one) => one.state === "done" && !one.attached);
  useEffect(() => {
    // They stand among the files by now.
    for (const one of arrived) removeUpload(one.id);
  });
  const failed = mine.filter((one) => one.state === "failed");
  const shown = [...failed, ...mine.filter((one) => one.state === "waiting" || one.state === "sending")];
  if (shown.length === 0) return null;
  return (
    <ul className="files-uploads">
      {shown.map((one) => (
        <UploadRow key={one.id} upload={one} />
      ))}
    </ul>
  );
}

function UploadRow({ upload }: { upload: Upload }) {
  const t = useWords(words);
  const locale = useLocale();
  const { id, file, sent, state, error } = upload;
  const failed = state === "failed";
  const percent = file.size === 0 ? 0 : Math.floor((100 * sent) / file.size);
  const sending = percent < 100 ? t.sent(percent) : t.processing;
  return (
    <li className="files-upload">
      <span className="files-upload-name" dir="auto">
        {file.name}
      </span>
      <span className="files-faint">{size(file.size, locale)}</span>
      {failed && upload.retryable && (
        <Button small look="quiet" icon={RotateCcw} label={t.retryUpload(file.name)} onClick={() => retryUpload(id)} />
      )}
      <Button
        small
        look="quiet"
        icon={X}
        label={failed ? t.dismissUpload(file.name) : t.cancelUpload(file.name)}
        onClick={() => removeUpload(id)}
      />
      {failed ? (
        <span className="files-upload-error" role="alert">
          {error === "offline" ? t.offline : error}
        </span>
      ) : (
        <progress
          className="ui-progress"
          max={100}
          value={percent}
          aria-label={`${file.name}: ${state === "waiting" ? t.waiting : sending}`}
        />
      )}
    </li>
  );
}
