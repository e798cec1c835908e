import { useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import { conversation } from "../../../state/conversation";
import { openFile } from "../../../state/view";
import { FileIcon } from "../../../ui/FileIcon";
import { words } from "../words";

/** A file by its name, which opens it. One that is not there (any more) is only named. */
export function FileChip({ path }: { path: string }) {
  const t = useWords(words);
  const file = useStore(conversation, ({ files }) => files.find((one) => one.path === path));
  const name = file?.filename ?? path.split("/").at(-1) ?? path;
  if (!file)
    return (
      <span className="chat-file-chip" data-gone="true" title={path} dir="auto">
        {name}
      </span>
    );
  return (
    <button
      type="button"
      className="chat-file-chip"
      title={path}
      aria-label={t.openFile(name)}
      onClick={() => openFile(path)}
    >
      <FileIcon type={file.icon_type} />
      <span className="chat-cut" dir="auto">
        {name}
      </span>
    </button>
  );
}
