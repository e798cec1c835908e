import { Copy, Download, Ellipsis, Eye, FileOutput, PackageOpen, Paperclip, Trash2 } from "lucide-react";
import { useState } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import type { FileRecord } from "../../protocol/events.gen";
import { downloadFile, exportFile, exporting } from "../../state/exporting";
import { openFile } from "../../state/view";
import { Spinner } from "../../ui/Badge";
import { Menu, type MenuItem } from "../../ui/Menu";
import { attach, copyPath, removeFile, unpack } from "./actions";
import { Confirm } from "./Confirm";
import { canUnpack, exportsOf, isJudged } from "./kinds";
import { words } from "./words";

const NAMES = { pdf: "PDF", docx: "DOCX", md: "Markdown" } as const;

export interface FileActionsProps {
  sessionId: string;
  file: FileRecord;
  /** In the viewer it is open already. */
  within: "list" | "viewer";
}

/** All that can be done with a file, behind one button. */
export function FileActions({ sessionId, file, within }: FileActionsProps) {
  const t = useWords(words);
  const busy = useStore(exporting, (paths) => paths.has(file.path));
  const [removing, setRemoving] = useState(false);
  const items = useItems(sessionId, file, () => setRemoving(true));
  return (
    <>
      {busy && <Spinner />}
      <Menu
        look="quiet"
        small={within === "list"}
        icon={Ellipsis}
        label={t.actions(file.filename)}
        items={within === "list" ? items : items.filter((item) => item.key !== "open" && item.key !== "download")}
      />
      {removing && (
        <Confirm
          title={t.removeQuestion(file.filename)}
          verb={t.remove}
          onClose={() => setRemoving(false)}
          onConfirm={() => {
            setRemoving(false);
            void removeFile(sessionId, file);
          }}
        >
          {t.removeMeans}
        </Confirm>
      )}
    </>
  );
}

function useItems(sessionId: string, file: FileRecord, onRemove: () => void): MenuItem[] {
  const t = useWords(words);
  const exports = exportsOf(file).flatMap((kind): MenuItem[] => {
    const onChoose = () => void exportFile(sessionId, file.path, kind);
    const item = { key: kind, text: t.exportAs(NAMES[kind]), icon: FileOutput, onChoose };
    if (kind === "md" || !isJudged(file)) return [item];
    const onPlain = () => void exportFile(sessionId, file.path, kind, "plain");
    return [
      { ...item, note: t.exportMarked },
      { key: `${kind} plain`, text: t.exportPlain(NAMES[kind]), icon: FileOutput, onChoose: onPlain },
    ];
  });
  const unpacking: MenuItem = {
    key: "unpack",
    text: t.unpack,
    icon: PackageOpen,
    onChoose: () => void unpack(sessionId, file),
  };
  return [
    { key: "open", text: t.open, icon: Eye, onChoose: () => openFile(file.path) },
    {
      key: "download",
      text: t.download,
      icon: Download,
      onChoose: () => void downloadFile(sessionId, file.path),
    },
    ...exports,
    ...(canUnpack(file) ? [unpacking] : []),
    { key: "attach", text: t.attach, icon: Paperclip, onChoose: () => attach(sessionId, file) },
    { key: "copy", text: t.copyPath, icon: Copy, onChoose: () => void copyPath(file) },
    { key: "remove", text: t.remove, icon: Trash2, look: "danger", onChoose: onRemove },
  ];
}
