import { lazy, Suspense } from "react";
import { useWords } from "../../lib/i18n";
import { closeFile } from "../../state/view";
import { Spinner } from "../../ui/Badge";
import { Dialog } from "../../ui/Dialog";
import "./files.css";
import { words } from "./words";

const Viewer = lazy(async () => ({ default: (await import("./viewer/Viewer")).Viewer }));

/** A file over the page. What draws it comes when the first one is opened. */
export function FileViewer({ path }: { path: string }) {
  return (
    <Suspense fallback={<Opening path={path} />}>
      <Viewer path={path} />
    </Suspense>
  );
}

function Opening({ path }: { path: string }) {
  const t = useWords(words);
  return (
    <Dialog title={path.split("/").at(-1) ?? path} size="large" onClose={closeFile}>
      <p className="files-state" role="status">
        <Spinner /> {t.loadingViewer}
      </p>
    </Dialog>
  );
}
