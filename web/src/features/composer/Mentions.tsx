import { useWords } from "../../lib/i18n";
import type { FileRecord } from "../../protocol/events.gen";
import { FileIcon } from "../../ui/FileIcon";
import { visiblePath } from "./mention";
import { words } from "./words";

interface MentionsProps {
  id: string;
  files: readonly FileRecord[];
  active: number;
  onChoose: (file: FileRecord) => void;
}

/** The keyboard stays in the field, which says what is chosen here. */
export function Mentions({ id, files, active, onChoose }: MentionsProps) {
  const t = useWords(words);
  return (
    <div id={id} role="listbox" aria-label={t.files} className="composer-mentions" tabIndex={-1}>
      {files.map((file, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field has the keyboard, and points here.
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field.
        <div
          key={file.path}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          className="composer-mention"
          // Otherwise the field would lose the keyboard before the click counts.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(file)}
        >
          <FileIcon type={file.icon_type} />
          <span className="composer-mention-name" dir="auto">
            {file.filename}
          </span>
          {visiblePath(file) !== null && (
            <span className="composer-mention-path" dir="auto">
              {file.path}
            </span>
          )}
        </div>
      ))}
    </div>
  );
}
