import { ArrowLeft } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useWords } from "../../../lib/i18n";
import { Offsets } from "../../../lib/offsets";
import { placesIn } from "../../../lib/places";
import { useStore } from "../../../lib/store";
import type { Citation, EvidencePassage, SourceSnapshot, SourceView } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { router } from "../../../state/router";
import { evidenceOf, evidenceWith, pointedBy } from "../../../state/select";
import type { Turn } from "../../../state/turns";
import { type OpenedSource, openDrawer, openSource } from "../../../state/view";
import { Spinner } from "../../../ui/Badge";
import { Button } from "../../../ui/Button";
import { sentenceText } from "../../../ui/markdown";
import { useFocusHere, useLastOpened } from "../focus";
import { OriginLink } from "../OriginLink";
import { citationNow, citationOf, statementOf } from "../sourceGroups";
import "../sources.css";
import "./footnote.css";
import { PassageBar } from "./PassageBar";
import {
  evidenceRange,
  isSameRange,
  type Opening,
  type Passage,
  type Reading,
  rangeAt,
  readingOf,
  snapshotFor,
} from "./passages";
import { apart, type Range } from "./pieces";
import { SnapshotText } from "./SnapshotText";
import { SourceHead } from "./SourceHead";
import { contains } from "./span";
import { Unread, UnreadNote } from "./Unread";
import { type Failure, useSource } from "./useSource";
import { type Place, VerdictNote } from "./Verdict";
import { type Differences, differencesOf } from "./values";
import { words } from "./words";

/** A footnote opened: the text that was read, at the passage that the sentence rests on. */
export interface SourcePanelProps {
  opened: OpenedSource;
  /** Back to the file that it stands beside; without it, to the list of sources. */
  onBack?: () => void;
}

export function SourcePanel({ opened, onBack }: SourcePanelProps) {
  const { number } = opened;
  const citation = useCitation(opened);
  const pointed = useStore(conversation, ({ turns }) => pointedIn(turns, opened));
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const { source, failure, retry } = useSource(sessionId, number);
  const focused = useRef<unknown>(null);
  useLastOpened(number);
  if (source === null)
    return (
      <Frame onBack={onBack}>
        <div className="sources-waiting">{failure ? <Failed failure={failure} retry={retry} /> : <Waiting />}</div>
      </Frame>
    );
  const opening = { citation, pointed, named: opened.passage };
  const snapshot = snapshotFor(source, opening);
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
      <Opened
        key={keyOf(opened, citation)}
        source={source}
        opened={opened}
        opening={opening}
        preferred={snapshot}
        focused={focused}
      />
    </Frame>
  );
}

interface OpenedProps {
  source: SourceView;
  opened: OpenedSource;
  opening: Opening;
  preferred: SourceSnapshot;
  /** The opening that the keyboard was brought to. */
  focused: { current: unknown };
}

/** The footnote that was opened, with the verdict that it has now. */
function useCitation({ citation, claim }: OpenedSource): Citation | null {
  return useStore(conversation, ({ turns }) =>
    citation && claim === undefined ? citationNow(turns, citation) : citation,
  );
}

interface Moved {
  opened: OpenedSource;
  snapshotId: string;
  at: number | "quote";
}

function Opened({ source, opened, opening, preferred, focused }: OpenedProps) {
  const { claim } = opened;
  const { snapshot, reading, at, choose, move } = useLookedAt({ source, opened, opening, preferred });
  const current = reading.passages[at] ?? null;
  useEffect(() => router.notePassage(opened, current?.name ?? null), [opened, current?.name]);
  const { citation, pointed } = useLinked(source.number, opening, current);
  const outlined = useMemo(() => pointed && evidenceRange(snapshot, pointed), [snapshot, pointed]);
  const answered = useStore(conversation, ({ turns }) => (citation ? statementOf(turns, citation) : null));
  const written = claim ?? answered;
  const sentence = useMemo(() => (written === null ? null : sentenceText(written)), [written]);
  const differences = useMemo(
    () => (written === null || sentence === null ? NONE : differencesIn(reading, citation, written, sentence)),
    [reading, citation, written, sentence],
  );
  const cited = opening.citation ? reading.cited : reading.passages.findIndex(({ text }) => text === citation?.quote);
  const place = placeOf(reading, { at, cited, outlined, isLinked: opening.citation === null });
  const isReturning = opening.citation !== null && at !== reading.first;
  const goBack = () => {
    choose(null);
    openSource(source.number, citation, claim);
  };
  return (
    <>
      <SourceHead source={source} snapshot={snapshot} onChoose={choose} />
      {citation && (
        <VerdictNote
          citation={citation}
          sentence={sentence}
          inFile={claim !== undefined}
          differing={differences.claim}
          place={place}
          outlined={outlined && (current && contains(outlined, current) ? "around" : "apart")}
          kept={isKept(source, citation)}
          onReturn={isReturning ? goBack : null}
          onQuote={quoteOpener(source, citation, cited, move)}
        />
      )}
      {!citation && place === "pointed" && <SentNote />}
      {source.status !== "read" && <UnreadNote source={source} hasText />}
      <SnapshotText
        reading={reading}
        current={current}
        values={at === reading.cited ? differences.quote : NONE.quote}
        outlined={outlined}
        opening={opened}
        focused={focused}
      />
      <PassageBar source={source} reading={reading} at={at} onMove={move} />
    </>
  );
}

/** The text and the passage that are looked at: those of the opening, until others are chosen. */
function useLookedAt({ source, opened, opening, preferred }: Omit<OpenedProps, "focused">) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [moved, setMoved] = useState<Moved | null>(null);
  const snapshot = source.snapshots.find(({ id }) => id === chosen) ?? preferred;
  const reading = useReading(snapshot, opening);
  const { named } = opening;
  const start = named === undefined ? -1 : reading.passages.findIndex(({ name }) => name === named);
  const shown = start < 0 ? reading.first : start;
  const isMoved = moved?.opened === opened && moved?.snapshotId === snapshot.id;
  const at = isMoved ? moved.at : shown;
  const move = (to: Moved["at"], snapshotId = snapshot.id) => {
    if (snapshotId !== snapshot.id) setChosen(snapshotId);
    setMoved({ opened, snapshotId, at: to });
  };
  return { snapshot, reading, at: at === "quote" ? reading.cited : at, choose: setChosen, move };
}

/** To the quotation in the text that is shown, or in the one that the footnote was checked against. */
function quoteOpener(
  source: SourceView,
  citation: Citation,
  cited: number,
  move: (to: Moved["at"], snapshotId?: string) => void,
): (() => void) | null {
  if (!citation.quote) return null;
  if (cited >= 0) return () => move(cited);
  return citation.snapshot_id && isKept(source, citation) ? () => move("quote", citation.snapshot_id ?? "") : null;
}

/** Who came by a link clicked no footnote: the one that rests on the passage, or points to it, is found. */
function useLinked(number: number, { citation, pointed, named }: Opening, current: Passage | null) {
  const words = named === undefined || citation ? null : (current?.text ?? null);
  const found = useStore(conversation, ({ turns }) => (words === null ? null : citationOf(turns, number, words)));
  const given = useStore(conversation, ({ turns }) => {
    if (words === null) return null;
    return found?.quote === words ? pointedBy(turns, found) : evidenceWith(turns, number, words);
  });
  return { citation: citation ?? found, pointed: pointed ?? given };
}

function pointedIn(turns: readonly Turn[], { number, citation, evidence }: OpenedSource): EvidencePassage | null {
  const passage = citation ? pointedBy(turns, citation) : evidenceOf(turns, evidence);
  return passage?.number === number ? passage : null;
}

interface Looked {
  at: number;
  cited: number;
  outlined: Range | null;
  isLinked: boolean;
}

function placeOf({ passages, first }: Reading, { at, cited, outlined, isLinked }: Looked): Place {
  const current = passages[at];
  if (current && at !== cited && isSameRange(current, outlined)) return "pointed";
  if (isLinked || (at === cited && cited >= 0)) return "quote";
  return first < 0 ? "missing" : "elsewhere";
}

function SentNote() {
  const t = useWords(words);
  return <p className="sources-unread">{t.wasSent}</p>;
}

const NONE: Differences = { claim: [], quote: [] };

/** What the statement says, and what the passage says instead, by the places of the sentence and of the text. */
function differencesIn(reading: Reading, citation: Citation | null, written: string, sentence: string): Differences {
  const { isOtherwise, passages, cited, snapshot } = reading;
  const passage = passages[cited];
  if (!(isOtherwise && passage && citation)) return NONE;
  if (citation.differences.length > 0 && snapshot.id === citation.snapshot_id) {
    const offsets = new Offsets(written);
    const said = citation.differences.map(({ start, end }) => ({
      start: offsets.unit(start - citation.start),
      end: offsets.unit(end - citation.start),
    }));
    const read = citation.differences.map(({ quote_start, quote_end }) => rangeAt(snapshot, quote_start, quote_end));
    return {
      claim: placesIn(sentence, written, said),
      quote: apart(read.toSorted((one, two) => one.start - two.start)),
    };
  }
  if (citation.verdict === "contradicted") return NONE;
  const { claim, quote } = differencesOf(sentence, passage.text);
  return { claim, quote: quote.map(({ start, end }) => ({ start: passage.start + start, end: passage.start + end })) };
}

/** The same text and footnote are the same reading, so that its blocks are not drawn again. */
function useReading(snapshot: SourceSnapshot, opening: Opening): Reading {
  const { citation, pointed } = opening;
  const [known, setKnown] = useState(() => ({ snapshot, citation, pointed, reading: readingOf(snapshot, opening) }));
  if (known.snapshot === snapshot && known.citation === citation && known.pointed === pointed) return known.reading;
  const reading = readingOf(snapshot, opening);
  setKnown({ snapshot, citation, pointed, reading });
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
  useFocusHere(back);
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

function keyOf({ number, evidence, passage }: OpenedSource, citation: Citation | null): string {
  const place = citation
    ? `${citation.start} ${citation.quote_start} ${citation.snapshot_id} ${citation.passage}`
    : (evidence ?? "");
  return `${number} ${place} ${passage?.includes("-") ? passage : ""}`;
}
