import { Download, Ellipsis, FileOutput } from "lucide-react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import type { ConvertType, FileRecord } from "../../protocol/events.gen";
import { conversation } from "../../state/conversation";
import { downloadFile, exportFile, exporting } from "../../state/exporting";
import { openFile } from "../../state/view";
import { Spinner } from "../../ui/Badge";
import { FileIcon } from "../../ui/FileIcon";
import { Menu, type MenuItem } from "../../ui/Menu";
import { words } from "./words";

const TARGETS = ["pdf", "docx", "md"] as const;
const WITHOUT_TEXT: readonly FileRecord["icon_type"][] = ["image", "audio", "video", "archive"];

/** The server makes documents of all that has text. */
function exportsOf({ filename, icon_type }: FileRecord): readonly ConvertType[] {
  if (WITHOUT_TEXT.includes(icon_type)) return [];
  return TARGETS.filter((target) => !filename.toLowerCase().endsWith(`.${target}`));
}

/** The files that an answer wrote, at its end. */
export function FileCards({ files }: { files: readonly FileRecord[] }) {
  const t = useWords(words);
  return (
    <ul className="chat-files" aria-label={t.files}>
      {files.map((file) => (
        <FileCard key={file.path} file={file} />
      ))}
    </ul>
  );
}

function FileCard({ file }: { file: FileRecord }) {
  const t = useWords(words);
  const busy = useStore(exporting, (paths) => paths.has(file.path));
  return (
    <li className="chat-file">
      <button type="button" className="chat-file-open" title={file.path} onClick={() => openFile(file.path)}>
        <span className="chat-file-icon">{busy ? <Spinner /> : <FileIcon type={file.icon_type} />}</span>
        <span className="chat-file-name" dir="auto">
          {file.filename}
        </span>
        <span className="chat-soft chat-cut" dir="ltr">
          {file.path}
        </span>
      </button>
      <Menu look="quiet" small icon={Ellipsis} label={t.fileMenu(file.filename)} items={itemsOf(file, t)} />
    </li>
  );
}

function itemsOf(file: FileRecord, t: (typeof words)["en"]): MenuItem[] {
  const inSession = (work: (sessionId: string) => Promise<void>) => () => {
    const { sessionId } = conversation.get();
    if (sessionId !== null) void work(sessionId);
  };
  const names: Record<ConvertType, string> = { pdf: t.exportPdf, docx: t.exportDocx, md: t.exportMd };
  const download = inSession((sessionId) => downloadFile(sessionId, file.path));
  return [
    { key: "download", text: t.download, icon: Download, onChoose: download },
    ...exportsOf(file).flatMap((kind): MenuItem[] => {
      const item = (proof: "mark" | "plain") => ({
        key: `${kind} ${proof}`,
        text: proof === "plain" ? t.withoutMarks(names[kind]) : names[kind],
        icon: FileOutput,
        onChoose: inSession((sessionId) => exportFile(sessionId, file.path, kind, proof)),
      });
      const isMarked = kind !== "md" && ["md", "txt"].includes(file.icon_type);
      return isMarked ? [{ ...item("mark"), note: t.marked }, item("plain")] : [item("mark")];
    }),
  ];
}
