import { ArrowLeft } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import type { Citation, SourceSnapshot, SourceView } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { openDrawer, openSource, view } from "../../../state/view";
import { Spinner } from "../../../ui/Badge";
import { Button } from "../../../ui/Button";
import { OriginLink } from "../OriginLink";
import { useHold, useLastOpened } from "../returning";
import "../sources.css";
import "./footnote.css";
import { PassageBar } from "./PassageBar";
import { readingOf, snapshotFor } from "./passages";
import { SnapshotText } from "./SnapshotText";
import { SourceHead } from "./SourceHead";
import { Unread, UnreadNote } from "./Unread";
import { type Failure, useSource } from "./useSource";
import { VerdictNote } from "./Verdict";
import { words } from "./words";

/** A footnote opened: the text that was read, at the passage that the sentence rests on. */
export function SourcePanel({ number, citation }: { number: number; citation: Citation | null }) {
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const { source, failure, retry } = useSource(sessionId, number);
  useLastOpened(number);
  if (source === null)
    return (
      <Frame>
        <div className="sources-waiting">{failure ? <Failed failure={failure} retry={retry} /> : <Waiting />}</div>
      </Frame>
    );
  const snapshot = snapshotFor(source, citation);
  const actions = <OriginLink url={source.url} title={source.title} />;
  if (snapshot === null)
    return (
      <Frame actions={actions}>
        <SourceHead source={source} snapshot={null} onChoose={() => undefined} />
        <Unread source={source} />
      </Frame>
    );
  return (
    <Frame actions={actions}>
      <Opened key={keyOf(number, citation)} source={source} citation={citation} preferred={snapshot} />
    </Frame>
  );
}

interface OpenedProps {
  source: SourceView;
  citation: Citation | null;
  preferred: SourceSnapshot;
}

function Opened({ source, citation, preferred }: OpenedProps) {
  const opening = useStore(view, (shown) => shown.drawer);
  const [chosen, setChosen] = useState<string | null>(null);
  const [moved, setMoved] = useState<{ opening: unknown; snapshotId: string; at: number } | null>(null);
  const snapshot = source.snapshots.find(({ id }) => id === chosen) ?? preferred;
  const reading = useReading(snapshot, citation);
  const isMoved = moved?.opening === opening && moved?.snapshotId === snapshot.id;
  const at = isMoved ? moved.at : reading.first;
  return (
    <>
      <SourceHead source={source} snapshot={snapshot} onChoose={setChosen} />
      {citation && (
        <VerdictNote
          citation={citation}
          found={reading.first >= 0}
          kept={isKept(source, citation)}
          onReturn={at === reading.first ? null : () => openSource(source.number, citation)}
        />
      )}
      {source.status !== "read" && <UnreadNote source={source} hasText />}
      <SnapshotText reading={reading} current={reading.passages[at] ?? null} opening={opening} />
      <PassageBar
        source={source}
        reading={reading}
        at={at}
        onMove={(next) => setMoved({ opening, snapshotId: snapshot.id, at: next })}
      />
    </>
  );
}

/** The same text and citation are the same reading, so that its blocks are not drawn again. */
function useReading(snapshot: SourceSnapshot, citation: Citation | null) {
  const [known, setKnown] = useState(() => ({ snapshot, reading: readingOf(snapshot, citation) }));
  if (known.snapshot === snapshot) return known.reading;
  const reading = readingOf(snapshot, citation);
  setKnown({ snapshot, reading });
  return reading;
}

function Frame({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const t = useWords(words);
  const back = useRef<HTMLButtonElement>(null);
  useHold(back);
  return (
    <div className="sources-footnote">
      <div className="sources-tools">
        <Button ref={back} look="quiet" small icon={ArrowLeft} onClick={() => openDrawer({ kind: "sources" })}>
          {t.back}
        </Button>
        <span className="sources-space" />
        {actions}
      </div>
      {children}
    </div>
  );
}

function Waiting() {
  const t = useWords(words);
  return (
    <>
      <Spinner />
      <span role="status">{t.loading}</span>
    </>
  );
}

function Failed({ failure, retry }: { failure: Failure; retry: () => void }) {
  const t = useWords(words);
  const said = { gone: t.gone, offline: `${t.notLoaded} ${t.offline}`, other: t.notLoaded }[failure];
  return (
    <>
      <span role="alert">{said}</span>
      {failure !== "gone" && (
        <Button small onClick={retry}>
          {t.retry}
        </Button>
      )}
    </>
  );
}

function isKept({ snapshots }: SourceView, { snapshot_id }: Citation): boolean {
  return snapshots.some(({ id }) => id === snapshot_id);
}

function keyOf(number: number, citation: Citation | null): string {
  return `${number} ${citation ? `${citation.start} ${citation.quote_start} ${citation.snapshot_id}` : ""}`;
}
