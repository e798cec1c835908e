import { lazy, type ReactNode, Suspense } from "react";
import { useWords } from "../../lib/i18n";
import { closeFile } from "../../state/view";
import { Spinner } from "../../ui/Badge";
import { Dialog } from "../../ui/Dialog";
import "./files.css";
import { FootnoteContext, type FootnoteDrawing } from "./viewer/footnotes";
import { words } from "./words";

const Viewer = lazy(async () => ({ default: (await import("./viewer/Viewer")).Viewer }));

export interface FileViewerProps {
  path: string;
  /** The passage that a footnote of the file rests on. */
  beside: ReactNode;
  footnotes: FootnoteDrawing;
}

/** A file over the page. What draws it comes when the first one is opened. */
export function FileViewer({ path, beside, footnotes }: FileViewerProps) {
  return (
    <FootnoteContext value={footnotes}>
      <Suspense fallback={<Opening path={path} />}>
        <Viewer path={path} beside={beside} />
      </Suspense>
    </FootnoteContext>
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
