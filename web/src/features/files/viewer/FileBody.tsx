import { PackageOpen } from "lucide-react";
import { lazy, type ReactNode, Suspense } from "react";
import { useWords } from "../../../lib/i18n";
import { Button } from "../../../ui/Button";
import { unpack } from "../actions";
import { canUnpack, kindOf } from "../kinds";
import { DocumentView } from "./DocumentView";
import { HtmlView } from "./HtmlView";
import { ImageView } from "./ImageView";
import { Loading, NoView } from "./States";
import { TableView } from "./TableView";
import { SvgSource, TextView } from "./TextView";
import type { Shown } from "./versions";
import { words } from "./words";

/** Large, and wanted only for PDF files. */
const PdfView = lazy(async () => ({ default: (await import("./pdf/PdfView")).PdfView }));

/** A file as it is meant to be seen, by its kind. */
export function FileBody({ shown }: { shown: Shown }): ReactNode {
  const t = useWords(words);
  switch (kindOf(shown.file)) {
    case "table":
      return <TableView shown={shown} />;
    case "pdf":
      return (
        <Suspense fallback={<Loading />}>
          <PdfView shown={shown} />
        </Suspense>
      );
    case "document":
      return <DocumentView shown={shown} />;
    case "image":
    case "svg":
      return <ImageView key={`${shown.file.path} ${shown.version.number}`} shown={shown} />;
    case "html":
      return <HtmlView shown={shown} />;
    case "archive":
      return <Archive shown={shown} />;
    case "media":
      return <NoView shown={shown} why={t.cannotShow} />;
    default:
      return <TextView shown={shown} />;
  }
}

/** A file as it is written. */
export function FileSource({ shown }: { shown: Shown }) {
  return kindOf(shown.file) === "svg" ? <SvgSource shown={shown} /> : <TextView shown={shown} source />;
}

function Archive({ shown }: { shown: Shown }) {
  const t = useWords(words);
  const opens = canUnpack(shown.file);
  return (
    <NoView shown={shown} why={opens ? t.archive : t.archiveOther}>
      {opens && (
        <Button look="main" icon={PackageOpen} onClick={() => void unpack(shown.sessionId, shown.file)}>
          {t.unpack}
        </Button>
      )}
    </NoView>
  );
}
