import { Download, FolderOpen, Upload } from "lucide-react";
import { type DragEvent, useMemo, useRef, useState } from "react";
import { number } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { api } from "../../protocol/client";
import type { FileRecord } from "../../protocol/events.gen";
import { conversation } from "../../state/conversation";
import { upload } from "../../state/uploads";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { FileRow } from "./FileRow";
import "./files.css";
import { byTurn, matching, ordered } from "./order";
import { UploadList } from "./UploadList";
import { words } from "./words";

const FEW = 8;

/** The files of the open session: what was written in it, and what was brought to it. */
export function FilesPanel() {
  const t = useWords(words);
  const files = useStore(conversation, (known) => known.files);
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const [wanted, setWanted] = useState("");
  const [over, drop] = useDrop();
  const found = useMemo(() => matching(ordered(files), files.length > FEW ? wanted : ""), [files, wanted]);
  return (
    <section className="files-panel" data-over={over || undefined} {...drop}>
      <div className="files-bar">
        <UploadButton />
        {sessionId !== null && files.length > 0 && (
          <a className="ui-button" data-look="quiet" href={api.archiveUrl(sessionId)} download>
            <Icon of={Download} />
            {t.downloadAll}
          </a>
        )}
      </div>
      <UploadList />
      {files.length > FEW && (
        <input
          className="ui-field"
          type="search"
          placeholder={t.find}
          aria-label={t.find}
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
      )}
      {over && <p className="files-drop">{t.dropHere}</p>}
      {files.length === 0 && <Empty />}
      {files.length > 0 && found.length === 0 && <p className="files-none">{t.noneFound}</p>}
      {sessionId !== null && (
        <>
          <Group title={t.generated} sessionId={sessionId} files={found.filter(({ source }) => source !== "upload")} />
          <Group title={t.uploads} sessionId={sessionId} files={found.filter(({ source }) => source === "upload")} />
        </>
      )}
    </section>
  );
}

function Group({ title, sessionId, files }: { title: string; sessionId: string; files: readonly FileRecord[] }) {
  const t = useWords(words);
  const locale = useLocale();
  const turns = useStore(conversation, (known) => known.turns);
  if (files.length === 0) return null;
  const groups = byTurn(files, turns);
  // Where no file belongs to a question, the title says enough.
  const isPlain = groups.every(({ question }) => question === null);
  return (
    <section className="files-group">
      <h2 className="files-title">
        {title} <span className="files-count">{number(files.length, locale)}</span>
      </h2>
      {groups.map(({ key, question, files: own }) => (
        <section key={key} className="files-turn">
          {!isPlain && (
            <h3 className="files-question" dir="auto">
              {question ?? t.noTurn}
            </h3>
          )}
          <ul>
            {own.map((file) => (
              <FileRow key={file.path} sessionId={sessionId} file={file} />
            ))}
          </ul>
        </section>
      ))}
    </section>
  );
}

function Empty() {
  const t = useWords(words);
  return (
    <div className="files-empty">
      <Icon of={FolderOpen} />
      <h2 className="files-title">{t.empty}</h2>
      <p>{t.emptyWrites}</p>
      <p>{t.emptyUploads}</p>
    </div>
  );
}

function UploadButton() {
  const t = useWords(words);
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon={Upload} onClick={() => input.current?.click()}>
        {t.upload}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t.upload}
        onChange={(event) => {
          upload(event.target.files ?? [], { attached: false });
          // So that the same file can be chosen again.
          event.target.value = "";
        }}
      />
    </>
  );
}

/** Files that are let go over the panel are kept, but do not go with the next question. */
function useDrop() {
  const [over, setOver] = useState(false);
  const ours = (event: DragEvent) => event.dataTransfer.types.includes("Files");
  const handlers = {
    onDragOver: (event: DragEvent) => {
      if (!ours(event)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: (event: DragEvent<HTMLElement>) => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      setOver(false);
      if (!ours(event) || event.defaultPrevented) return;
      event.preventDefault();
      upload(event.dataTransfer.files, { attached: false });
    },
  };
  return [over, handlers] as const;
}
