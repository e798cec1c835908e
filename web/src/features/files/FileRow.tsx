import { memo } from "react";
import { ago, moment } from "../../lib/format";
import { useLocale } from "../../lib/i18n";
import type { FileRecord } from "../../protocol/events.gen";
import { openFile } from "../../state/view";
import { FileIcon } from "../../ui/FileIcon";
import { FileActions } from "./FileActions";
import { folderOf } from "./kinds";

export const FileRow = memo(function FileRow({ sessionId, file }: { sessionId: string; file: FileRecord }) {
  const locale = useLocale();
  const folder = folderOf(file);
  return (
    <li className="files-row">
      <button type="button" className="files-open" onClick={() => openFile(file.path)}>
        <span className="files-icon" data-type={file.icon_type}>
          <FileIcon type={file.icon_type} />
        </span>
        <span className="files-text">
          <span className="files-name" dir="auto" title={file.filename}>
            {file.filename}
          </span>
          <span className="files-faint">
            {folder && (
              <span className="files-folder" dir="auto">
                {folder}
              </span>
            )}
            <time dateTime={file.created_at} title={moment(file.created_at, locale)}>
              {ago(file.created_at, locale)}
            </time>
          </span>
        </span>
      </button>
      <FileActions sessionId={sessionId} file={file} within="list" />
    </li>
  );
});
