import { Paperclip } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { size } from "../../lib/format";
import { useLocale, useWords, wordsNow } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { catalog } from "../../state/catalog";
import { toast } from "../../state/toasts";
import { Icon } from "../../ui/Icon";
import { attach } from "./attaching";
import "./composer.css";
import { words } from "./words";

/** While something is dragged over the window it says so several times a second; when it stops, it has gone. */
const GONE_MS = 400;

/** Takes files that are dropped anywhere, except where a part of the page takes them itself. */
export function DropZone({ children }: { children: ReactNode }) {
  const [isOver, setOver] = useState(false);
  useEffect(() => listenForDrops(setOver), []);
  return (
    <>
      {children}
      {isOver && <Overlay />}
    </>
  );
}

function Overlay() {
  const t = useWords(words);
  const locale = useLocale();
  const limit = useStore(catalog, (known) => known.about?.upload_bytes ?? null);
  return (
    <div className="composer-overlay" aria-hidden="true">
      <div className="composer-overlay-note">
        <Icon of={Paperclip} />
        <strong>{t.drop}</strong>
        {limit !== null && <span>{t.dropLimit(size(limit, locale))}</span>}
      </div>
    </div>
  );
}

function listenForDrops(say: (isOver: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    say(false);
  };
  const over = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    const isTaken = event.defaultPrevented;
    // Without this the browser would leave the page and open the file.
    event.preventDefault();
    if (isTaken || isCovered()) {
      if (event.dataTransfer && !isTaken) event.dataTransfer.dropEffect = "none";
      end();
      return;
    }
    say(true);
    clearTimeout(timer);
    timer = setTimeout(end, GONE_MS);
  };
  const drop = (event: DragEvent) => {
    end();
    if (!hasFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    if (event.dataTransfer && !isCovered()) take(event.dataTransfer);
  };
  addEventListener("dragover", over);
  addEventListener("drop", drop);
  return () => {
    end();
    removeEventListener("dragover", over);
    removeEventListener("drop", drop);
  };
}

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

/** Behind a dialog nobody sees what was attached. */
function isCovered(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

function take(data: DataTransfer): void {
  const items = [...data.items].filter((item) => item.kind === "file");
  const files = items.flatMap((item) => (item.webkitGetAsEntry()?.isDirectory ? [] : (item.getAsFile() ?? [])));
  if (files.length < items.length) toast(wordsNow(words).noFolders, { tone: "error" });
  if (files.length > 0) attach(files);
}
