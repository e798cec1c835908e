import { Pencil } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import type { FileRecord } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { closeBeside, closeFile, openFile } from "../../../state/view";
import { Boundary } from "../../../ui/Boundary";
import { Button } from "../../../ui/Button";
import { Dialog } from "../../../ui/Dialog";
import { FileIcon } from "../../../ui/FileIcon";
import { hasSource, isEditable } from "../kinds";
import { Changes } from "./Changes";
import { Editor } from "./Editor";
import { FileBody, FileSource } from "./FileBody";
import { type Guard, useGuard } from "./Guard";
import { HeadActions, useArrowKeys } from "./HeadActions";
import { useFor } from "./loading";
import { Failed, Loading } from "./States";
import { Tabs } from "./Tabs";
import { type Shown, useRecord, useVersions, type Versions } from "./versions";
import "./viewer.css";
import { VersionMenu, VersionNotice } from "./VersionBar";
import { words } from "./words";

const MOST_EDITED = 1_000_000;

type Part = "view" | "source" | "changes";

export function Viewer({ path, beside }: { path: string; beside: ReactNode }) {
  const t = useWords(words);
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const isLoading = useStore(conversation, (known) => known.state === "loading");
  const file = useRecord(path);
  if (sessionId !== null && file) return <Opened sessionId={sessionId} file={file} beside={beside} />;
  return (
    <Dialog title={path.split("/").at(-1) ?? path} size="large" onClose={closeFile}>
      {isLoading ? <Loading /> : <p className="files-state">{t.gone}</p>}
    </Dialog>
  );
}

interface OpenedProps {
  sessionId: string;
  file: FileRecord;
  beside: ReactNode;
}

function Opened({ sessionId, file, beside }: OpenedProps) {
  const versions = useVersions(sessionId, file.path);
  const guard = useGuard();
  const { version, newest } = versions;
  const shown = useMemo(
    (): Shown | null => version && { sessionId, file, version, isNewest: version.number === newest?.number },
    [sessionId, file, version, newest],
  );
  const go = (path: string) => guard.leave(() => openFile(path));
  useArrowKeys(file.path, go);
  return (
    <>
      <Dialog
        title={file.filename}
        size="large"
        mark={<FileIcon type={file.icon_type} />}
        actions={<HeadActions sessionId={sessionId} file={file} version={version} onGo={go} />}
        onClose={() => guard.leave(closeFile)}
        {...(beside ? { onEscape: closeBeside } : {})}
      >
        <div className="files-viewer">
          {shown && <Room key={file.path} shown={shown} versions={versions} guard={guard} />}
          {!shown && versions.loaded.error !== undefined && (
            <Failed error={versions.loaded.error} onRetry={() => void versions.loaded.again()} />
          )}
          {!shown && versions.loaded.error === undefined && <Loading />}
        </div>
        {beside && <Beside>{beside}</Beside>}
      </Dialog>
      {guard.question}
    </>
  );
}

function Beside({ children }: { children: ReactNode }) {
  const t = useWords(words);
  const room = useRef<HTMLElement>(null);
  const [first] = useState(() => document.activeElement);
  // The keyboard goes back to the footnote that was opened last.
  useEffect(() => {
    let last = first;
    const notice = ({ target }: FocusEvent) => {
      if (target instanceof Element && !room.current?.contains(target)) last = target;
    };
    addEventListener("focusin", notice);
    return () => {
      removeEventListener("focusin", notice);
      if (last instanceof HTMLElement && last.isConnected) last.focus({ preventScroll: true });
    };
  }, [first]);
  return (
    <aside ref={room} className="files-beside" aria-label={t.beside}>
      {children}
    </aside>
  );
}

function Room({ shown, versions, guard }: { shown: Shown; versions: Versions; guard: Guard }) {
  const [part, setPart] = useState<Part>("view");
  const [editing, setEditing] = useFor(shown.file.path, false);
  const all = versions.loaded.value ?? [];
  const change = (then: () => void) =>
    guard.leave(() => {
      setEditing(false);
      then();
    });
  const done = (saved: boolean) => {
    if (!saved) return change(() => undefined);
    setEditing(false);
    void versions.showNewest();
  };
  const edit = () => {
    closeBeside();
    setEditing(true);
  };
  const seen = part === "changes" && all.length < 2 ? "view" : part;
  return (
    <>
      <div className="files-viewer-bar">
        <VersionMenu shown={shown} all={all} onChoose={(number) => change(() => versions.choose(number))} />
        <span className="files-space" />
        {!editing && <PartTabs shown={shown} several={all.length > 1} part={seen} onChoose={setPart} />}
        <EditButton shown={shown} pressed={editing} onPress={() => (editing ? done(false) : edit())} />
      </div>
      {!editing && <VersionNotice shown={shown} versions={versions} />}
      <div className="files-body" data-part={seen}>
        <Boundary key={`${seen} ${shown.version.number} ${editing}`}>
          {editing && <Editor shown={shown} onDirty={guard.onDirty} onDone={done} />}
          {!editing && seen === "view" && <FileBody shown={shown} />}
          {!editing && seen === "source" && <FileSource shown={shown} />}
          {!editing && seen === "changes" && <Changes shown={shown} versions={all} />}
        </Boundary>
      </div>
    </>
  );
}

interface PartProps {
  shown: Shown;
  several: boolean;
  part: Part;
  onChoose: (part: Part) => void;
}

function PartTabs({ shown, several, part, onChoose }: PartProps) {
  const t = useWords(words);
  const tabs: { key: Part; text: string }[] = [
    { key: "view", text: t.view },
    ...(hasSource(shown.file) ? [{ key: "source" as const, text: t.source }] : []),
    ...(several ? [{ key: "changes" as const, text: t.changes }] : []),
  ];
  return tabs.length < 2 ? null : <Tabs label={t.parts} tabs={tabs} chosen={part} onChoose={onChoose} />;
}

function EditButton({ shown, pressed, onPress }: { shown: Shown; pressed: boolean; onPress: () => void }) {
  const t = useWords(words);
  if (!isEditable(shown.file) || (!shown.isNewest && !pressed) || shown.version.size > MOST_EDITED) return null;
  return (
    <Button small icon={Pencil} aria-pressed={pressed} onClick={onPress}>
      {t.edit}
    </Button>
  );
}
