import { ChevronLeft, ChevronRight, Download } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { number } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import type { FileRecord, FileVersion } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { downloadFile } from "../../../state/exporting";
import { Button } from "../../../ui/Button";
import { FileActions } from "../FileActions";
import { ordered } from "../order";
import { words } from "./words";

interface HeadProps {
  sessionId: string;
  file: FileRecord;
  version: FileVersion | null;
  onGo: (path: string) => void;
}

/** What can be done with the file that is open, and the ways to those beside it in the list. */
export function HeadActions({ sessionId, file, version, onGo }: HeadProps) {
  const t = useWords(words);
  const locale = useLocale();
  const { at, count, before, after } = useNeighbours(file.path);
  return (
    <div className="files-head">
      {count > 1 && (
        <>
          <Button
            look="quiet"
            icon={ChevronLeft}
            label={t.previous}
            aria-disabled={!before}
            onClick={() => before && onGo(before)}
          />
          <span className="files-place">{t.place(number(at + 1, locale), number(count, locale))}</span>
          <Button
            look="quiet"
            icon={ChevronRight}
            label={t.next}
            aria-disabled={!after}
            onClick={() => after && onGo(after)}
          />
        </>
      )}
      <Button
        look="quiet"
        icon={Download}
        label={t.download}
        onClick={() => void downloadFile(sessionId, file.path, version?.number)}
      />
      <FileActions sessionId={sessionId} file={file} within="viewer" />
    </div>
  );
}

function useNeighbours(path: string) {
  const files = useStore(conversation, (known) => known.files);
  return useMemo(() => {
    const paths = ordered(files).map((file) => file.path);
    const at = paths.indexOf(path);
    return { at, count: paths.length, before: at > 0 ? paths[at - 1] : undefined, after: paths[at + 1] };
  }, [files, path]);
}

/** Left and right go to the file before and behind, unless something else on the page needs these keys. */
export function useArrowKeys(path: string, onGo: (path: string) => void): void {
  const { before, after } = useNeighbours(path);
  const now = useRef({ before, after, onGo });
  useEffect(() => {
    now.current = { before, after, onGo };
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.target instanceof Element && isTaken(event.target)) return;
      const next = { ArrowLeft: now.current.before, ArrowRight: now.current.after }[event.key];
      if (next !== undefined) now.current.onGo(next);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function isTaken(target: Element): boolean {
  if (target.closest("input, textarea, select, [role=tablist], [role=menu], video, audio")) return true;
  const dialogs = document.querySelectorAll("dialog[open]");
  const last = dialogs[dialogs.length - 1];
  // A question that lies over the viewer, or something that scrolls sideways.
  if (!last?.querySelector(".files-viewer")) return true;
  const scrolls = target.closest<HTMLElement>("[tabindex='0']");
  return scrolls !== null && scrolls.scrollWidth > scrolls.clientWidth;
}
