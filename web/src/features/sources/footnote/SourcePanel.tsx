import { ArrowLeft } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useWords } from "../../../lib/i18n";
import { useStore } from "../../../lib/store";
import type { Citation, SourceSnapshot, SourceView } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { notePassage } from "../../../state/place";
import { type OpenedSource, openDrawer, openSource } from "../../../state/view";
import { Spinner } from "../../../ui/Badge";
import { Button } from "../../../ui/Button";
import { citationOf, plain, sentenceOf } from "../found";
import { OriginLink } from "../OriginLink";
import { useHold, useLastOpened } from "../returning";
import "../sources.css";
import "./footnote.css";
import { PassageBar } from "./PassageBar";
import { type Reading, readingOf, snapshotFor } from "./passages";
import { SnapshotText } from "./SnapshotText";
import { SourceHead } from "./SourceHead";
import { Unread, UnreadNote } from "./Unread";
import { type Failure, useSource } from "./useSource";
import { VerdictNote } from "./Verdict";
import { type Differences, differencesOf } from "./values";
import { words } from "./words";

/** A footnote opened: the text that was read, at the passage that the sentence rests on. */
export interface SourcePanelProps {
  opened: OpenedSource;
  /** Back to the file that it stands beside; without it, to the list of sources. */
  onBack?: () => void;
}

export function SourcePanel({ opened, onBack }: SourcePanelProps) {
  const { number, citation } = opened;
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const { source, failure, retry } = useSource(sessionId, number);
  useLastOpened(number);
  if (source === null)
    return (
      <Frame onBack={onBack}>
        <div className="sources-waiting">{failure ? <Failed failure={failure} retry={retry} /> : <Waiting />}</div>
      </Frame>
    );
  const snapshot = snapshotFor(source, citation);
  const actions = <OriginLink url={source.url} title={source.title} />;
  if (snapshot === null)
    return (
      <Frame actions={actions} onBack={onBack}>
        <SourceHead source={source} snapshot={null} onChoose={() => undefined} />
        <Unread source={source} />
      </Frame>
    );
  return (
    <Frame actions={actions} onBack={onBack}>
      <Opened key={keyOf(opened)} source={source} opened={opened} preferred={snapshot} />
    </Frame>
  );
}

interface OpenedProps {
  source: SourceView;
  opened: OpenedSource;
  preferred: SourceSnapshot;
}

function Opened({ source, opened: opening, preferred }: OpenedProps) {
  const { claim, passage: named } = opening;
  const [chosen, setChosen] = useState<string | null>(null);
  const [moved, setMoved] = useState<{ opening: unknown; snapshotId: string; at: number } | null>(null);
  const snapshot = source.snapshots.find(({ id }) => id === chosen) ?? preferred;
  const reading = useReading(snapshot, opening.citation, named);
  const isMoved = moved?.opening === opening && moved?.snapshotId === snapshot.id;
  const start = named === undefined ? -1 : reading.passages.findIndex(({ name }) => name === named);
  const shown = start < 0 ? reading.first : start;
  const at = isMoved ? moved.at : shown;
  const current = reading.passages[at] ?? null;
  useEffect(() => notePassage(opening, current?.name ?? null), [opening, current?.name]);
  // Who came by a link clicked no footnote: the one that rests on the passage is found.
  const linked = named === undefined ? null : current;
  const found = useStore(conversation, ({ turns }) => linked && citationOf(turns, source.number, linked.text));
  const citation = opening.citation ?? found;
  const first = opening.citation ? reading.first : at;
  const answered = useStore(conversation, ({ turns }) => (citation ? sentenceOf(turns, citation) : null));
  const sentence = claim === undefined ? answered : plain(claim);
  const differences = useMemo(() => differencesIn(reading, sentence), [reading, sentence]);
  return (
    <>
      <SourceHead source={source} snapshot={snapshot} onChoose={setChosen} />
      {citation && (
        <VerdictNote
          citation={citation}
          sentence={sentence}
          inFile={claim !== undefined}
          differing={differences.claim}
          found={first >= 0}
          kept={isKept(source, citation)}
          onReturn={at === first ? null : () => openSource(source.number, citation, claim)}
        />
      )}
      {source.status !== "read" && <UnreadNote source={source} hasText />}
      <SnapshotText
        reading={reading}
        current={current}
        values={at === reading.first ? differences.quote : NONE.quote}
        opening={opening}
      />
      <PassageBar
        source={source}
        reading={reading}
        at={at}
        onMove={(next) => setMoved({ opening, snapshotId: snapshot.id, at: next })}
      />
    </>
  );
}

const NONE: Differences = { claim: [], quote: [] };

/** What the answer says, and what the closest passage says instead, by the places of the sentence and of the text. */
function differencesIn({ isOtherwise, passages, first }: Reading, sentence: string | null): Differences {
  const passage = passages[first];
  if (!(isOtherwise && passage && sentence)) return NONE;
  const { claim, quote } = differencesOf(sentence, passage.text);
  return { claim, quote: quote.map(({ start, end }) => ({ start: passage.start + start, end: passage.start + end })) };
}

/** The same text and citation are the same reading, so that its blocks are not drawn again. */
function useReading(snapshot: SourceSnapshot, citation: Citation | null, named: string | undefined) {
  const [known, setKnown] = useState(() => ({ snapshot, reading: readingOf(snapshot, citation, named) }));
  if (known.snapshot === snapshot) return known.reading;
  const reading = readingOf(snapshot, citation, named);
  setKnown({ snapshot, reading });
  return reading;
}

interface FrameProps {
  actions?: ReactNode;
  onBack: (() => void) | undefined;
  children: ReactNode;
}

function Frame({ actions, onBack, children }: FrameProps) {
  const t = useWords(words);
  const back = useRef<HTMLButtonElement>(null);
  useHold(back);
  return (
    <div className="sources-footnote">
      <div className="sources-tools">
        <Button
          ref={back}
          look="quiet"
          small
          icon={ArrowLeft}
          onClick={onBack ?? (() => openDrawer({ kind: "sources" }))}
        >
          {onBack ? t.backToFile : t.back}
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

function keyOf({ number, citation, passage }: OpenedSource): string {
  const place = citation ? `${citation.start} ${citation.quote_start} ${citation.snapshot_id}` : "";
  return `${number} ${place} ${passage?.includes("-") ? passage : ""}`;
}
