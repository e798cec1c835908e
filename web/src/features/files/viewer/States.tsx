import { Download, RotateCcw } from "lucide-react";
import type { ReactNode } from "react";
import { useWords } from "../../../lib/i18n";
import { downloadFile } from "../../../state/exporting";
import { Spinner } from "../../../ui/Badge";
import { Button } from "../../../ui/Button";
import { FileIcon } from "../../../ui/FileIcon";
import { messageOf } from "../actions";
import type { Shown } from "./versions";
import { words } from "./words";

export function Loading() {
  const t = useWords(words);
  return (
    <p className="files-state" role="status">
      <Spinner /> {t.loading}
    </p>
  );
}

/** In the server's words, with a way on. */
export function Failed({ error, onRetry, shown }: { error: unknown; onRetry: () => void; shown?: Shown }) {
  const t = useWords(words);
  return (
    <div className="files-state" role="alert">
      <p className="files-state-title">{t.failed}</p>
      <p dir="auto">{messageOf(error)}</p>
      <div className="files-state-ways">
        <Button icon={RotateCcw} onClick={onRetry}>
          {t.retry}
        </Button>
        {shown && <DownloadButton shown={shown} />}
      </div>
    </div>
  );
}

export function DownloadButton({ shown, original }: { shown: Shown; original?: boolean }) {
  const t = useWords(words);
  const { sessionId, file, version } = shown;
  return (
    <Button icon={Download} onClick={() => void downloadFile(sessionId, file.path, version.number)}>
      {original ? t.downloadOriginal : t.download}
    </Button>
  );
}

/** A file that is not drawn: what it is, and what can be done with it. */
export function NoView({ shown, why, children }: { shown: Shown; why: string; children?: ReactNode }) {
  return (
    <div className="files-state">
      <span className="files-state-icon">
        <FileIcon type={shown.file.icon_type} />
      </span>
      <p>{why}</p>
      <div className="files-state-ways">
        {children}
        <DownloadButton shown={shown} />
      </div>
    </div>
  );
}
