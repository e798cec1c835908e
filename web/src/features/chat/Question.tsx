import { Copy, Pencil } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import { useWords } from "../../lib/i18n";
import type { FileRecord } from "../../protocol/events.gen";
import { edit } from "../../state/commands";
import { openFile } from "../../state/view";
import { Button } from "../../ui/Button";
import { FileIcon } from "../../ui/FileIcon";
import { Branches } from "./Branches";
import { attempt, turnOf, useBusy } from "./busy";
import { copy } from "./clipboard";
import { Moment } from "./Moment";
import { QuestionEditor } from "./QuestionEditor";
import "./question.css";
import { words } from "./words";

const LONG_CHARACTERS = 1500;
const LONG_LINES = 18;

export interface QuestionProps {
  turnKey: string;
  questionId: string | null;
  text: string;
  askedAt: string | null;
  attachments: readonly FileRecord[];
  questions: readonly string[];
}

/** What was written in place of a question and could not be sent: it is there again when the question is. */
const unsent = new Map<string, string>();

export const Question = memo(function Question(props: QuestionProps) {
  const { turnKey, text, attachments } = props;
  const t = useWords(words);
  const [draft, setDraft] = useState<string | null>(() => unsent.get(turnKey) ?? null);
  const place = useRef<HTMLDivElement>(null);
  const [left, setLeft] = useState(false);
  useEffect(() => {
    if (left) place.current?.querySelector<HTMLButtonElement>(".chat-edit")?.focus();
  }, [left]);
  const begin = () => {
    setLeft(false);
    setDraft(text);
  };
  const send = async (written: string) => {
    const turn = turnOf(turnKey);
    if (!turn) return;
    unsent.set(turnKey, written);
    if (await attempt(() => edit(turn, { text: written, attachments }))) unsent.delete(turnKey);
  };
  return (
    <div ref={place} className="chat-question">
      <h2 className="ui-hidden">{t.you}</h2>
      {attachments.length > 0 && <Attached files={attachments} />}
      {draft === null ? (
        <>
          <Bubble text={text} />
          <Actions {...props} onEdit={begin} />
        </>
      ) : (
        <QuestionEditor
          text={draft}
          onSend={(written) => void send(written)}
          onCancel={() => {
            unsent.delete(turnKey);
            setDraft(null);
            setLeft(true);
          }}
        />
      )}
    </div>
  );
});

function Bubble({ text }: { text: string }) {
  const t = useWords(words);
  const [whole, setWhole] = useState(false);
  const long = text.length > LONG_CHARACTERS || text.split("\n", LONG_LINES + 1).length > LONG_LINES;
  if (text === "") return null;
  return (
    <div className="chat-bubble">
      <div className="chat-bubble-text" data-cut={(long && !whole) || undefined} dir="auto">
        {text}
      </div>
      {long && (
        <button type="button" className="chat-textual" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? t.showLess : t.showMore}
        </button>
      )}
    </div>
  );
}

function Attached({ files }: { files: readonly FileRecord[] }) {
  const t = useWords(words);
  return (
    <ul className="chat-attached" aria-label={t.attachments}>
      {files.map((file) => (
        <li key={file.path}>
          <button
            type="button"
            className="chat-file-chip"
            title={file.path}
            aria-label={t.openFile(file.filename)}
            onClick={() => openFile(file.path)}
          >
            <FileIcon type={file.icon_type} />
            <span className="chat-cut" dir="auto">
              {file.filename}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Actions({ questionId, questions, text, askedAt, onEdit }: QuestionProps & { onEdit: () => void }) {
  const t = useWords(words);
  const busy = useBusy();
  return (
    <div className="chat-actions" data-side="end">
      <Moment at={askedAt} />
      <Branches kind="question" all={questions} shown={questionId} />
      <Button look="quiet" small icon={Copy} label={t.copyQuestion} onClick={() => void copy(text)} />
      {!busy && questionId !== null && (
        <Button className="chat-edit" look="quiet" small icon={Pencil} label={t.edit} onClick={onEdit} />
      )}
    </div>
  );
}
