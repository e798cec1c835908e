"""What a bundle says, held against itself: texts against hashes, quotations against texts, verdicts against both."""

from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct

from footnote.bundles.contents import (
    addresses_of,
    as_in_version_1,
    head_of,
    history_of,
    named_snapshots,
    said_in,
    sources_named,
    sources_of,
    spoken_in,
    turns_of,
    verdicts_of,
)
from footnote.bundles.events import Folded, blocks_of, events_in, plain
from footnote.bundles.filing import UploadTexts, wrong_authors, wrong_places
from footnote.bundles.form import (
    EVENTS_FOLDER,
    FILES,
    HISTORY,
    MANIFEST,
    READ_ME,
    README,
    SESSION,
    SNAPSHOTS,
    SNAPSHOTS_FOLDER,
    SOURCES,
    TRANSCRIPT,
    VERDICTS,
    BundleDamaged,
    FilesEntry,
    RunRecord,
    SessionEntry,
    SnapshotsEntry,
    read_json,
    shown,
)
from footnote.bundles.opening import Bundle, BundleProblem
from footnote.bundles.rechecking import rechecked
from footnote.bundles.soundness import check_files, check_tree, text_of
from footnote.bundles.transcript import markdown
from footnote.protocol.history import History
from footnote.protocol.sources import Snapshot, snapshot_id
from footnote.protocol.version import __version__
from footnote.sessions.history import past_messages
from footnote.workspace.text import pluralize

ENTRIES = (README, TRANSCRIPT, HISTORY, SESSION, FILES, SOURCES, SNAPSHOTS, VERDICTS)


class BundleContents(Struct, frozen=True):
    """What a bundle holds, as values."""

    session: SessionEntry
    files: FilesEntry
    snapshots: SnapshotsEntry
    texts: dict[str, Snapshot]


class ConsistencyCheck:
    """`findings` are made once. What was read and counted, and what could not be checked, is known after. `otherwise`:
    those findings that are about verdicts alone."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._is_of_this_version = bundle.manifest.footnote == __version__
        self.notes: list[str] = []
        self.otherwise: list[BundleProblem] = []
        self.read: BundleContents | None = None
        self.snapshots = self.versions = self.runs = self.verdicts = self.quotations = 0

    def findings(self) -> Iterator[BundleProblem]:
        """Where one thing cannot be read, nothing that follows from it is looked at."""
        missing = [name for name in ENTRIES if name not in self._bundle.entries]
        for name in missing:
            yield BundleProblem(name, "missing", "every bundle has it")
        if missing:
            return
        try:
            session = read_json(self._bundle.read(SESSION), SessionEntry, SESSION)
            files = read_json(self._bundle.read(FILES), FilesEntry, FILES)
            read = read_json(self._bundle.read(SNAPSHOTS), SnapshotsEntry, SNAPSHOTS)
            check_tree(session)
            check_files(files, self._bundle)
        except BundleDamaged as error:
            yield BundleProblem(error.entry, "wrong", error.reason)
            return
        if head_of(session) != self._bundle.manifest.session:
            yield BundleProblem(MANIFEST, "wrong", f"it tells of another session than {SESSION}")
        self.runs = len(session.runs)
        yield from self._unexpected(session, files, read)
        self.versions = sum(len(file.versions) for file in files.files)
        yield from wrong_places(files)
        yield from wrong_authors(session, files)
        yield from self._upload_texts(files)
        yield from _wrong_addresses(session, read)
        yield from self._told(session, files)
        yield from self._events(session)
        texts, broken = self._texts(read)
        self.read = BundleContents(session, files, read, texts)
        yield from broken
        if not broken:
            yield from self._verdicts(session, read, texts)

    # Entries -----------------------------------------------------------------------------------------------

    def _unexpected(self, session: SessionEntry, files: FilesEntry, read: SnapshotsEntry) -> Iterator[BundleProblem]:
        """Every entry is one that the others name, and every one that they name is there."""
        named = {
            *(f"{EVENTS_FOLDER}{run.id}.sse" for run in session.runs if run.events),
            *(version.entry for file in files.files for version in file.versions),
            *(f"{SNAPSHOTS_FOLDER}{record.id}.txt" for record in read.snapshots),
        }
        there = set(self._bundle.entries) - set(ENTRIES)
        for name in sorted(there - named):
            yield BundleProblem(name, "added", "nothing in the bundle names it")
        for name in sorted(named - there):
            yield BundleProblem(name, "missing", "it is named, and not there")
        known = [*(record.id for record in read.snapshots), *read.missing]
        needed = named_snapshots(session)
        for one in sorted(set(needed) - set(known)):
            yield BundleProblem(
                SNAPSHOTS, "wrong", f"it says nothing of the text {shown(one)}, on which something rests"
            )
        for one in sorted(set(known) - set(needed)):
            yield BundleProblem(SNAPSHOTS, "wrong", f"it tells of the text {shown(one)}, on which nothing rests")
        if len(set(known)) < len(known):
            yield BundleProblem(SNAPSHOTS, "wrong", "it tells of one text twice")

    def _upload_texts(self, files: FilesEntry) -> Iterator[BundleProblem]:
        texts = UploadTexts(files, self._bundle)
        yield from texts.findings()
        if texts.unread:
            uploads = pluralize(texts.unread, "upload")
            self.notes.append(f"The text of {uploads} was taken as it is: only plain text files are read again.")

    def _told(self, session: SessionEntry, files: FilesEntry) -> Iterator[BundleProblem]:
        """What follows from the session is made anew."""
        history, sources = history_of(session, files), sources_of(session)
        for name, kind, made in (
            (HISTORY, History, history),
            (SOURCES, None, sources),
            (VERDICTS, None, verdicts_of(session)),
        ):
            try:
                said: Any = read_json(self._bundle.read(name), kind or dict[str, Any], name)
            except BundleDamaged as error:
                yield BundleProblem(name, "wrong", error.reason)
                continue
            here, there = (plain(self._comparable(value)) for value in (said, made))
            if here != there:
                yield BundleProblem(name, "wrong", f"it says something else than {SESSION}{_where(here, there)}")
        if not self._is_of_this_version:
            self.notes.append(f"{TRANSCRIPT} and {README} were not compared: another version may write them otherwise.")
            return
        if self._bundle.read(TRANSCRIPT) != markdown(history, sources.sources).encode("utf-8", "replace"):
            yield BundleProblem(TRANSCRIPT, "wrong", f"it says something else than {SESSION}")
        if self._bundle.read(README) != READ_ME.encode():
            yield BundleProblem(README, "wrong", "it is not the one that every bundle has")

    def _comparable(self, value: Any) -> Any:
        is_older = isinstance(value, History) and self._bundle.manifest.version == 1
        return as_in_version_1(value) if is_older else value

    # Events ------------------------------------------------------------------------------------------------

    def _events(self, session: SessionEntry) -> Iterator[BundleProblem]:
        turns = {turn.run_id: turn for turn in turns_of(session)}
        without = 0
        for run in session.runs:
            name = f"{EVENTS_FOLDER}{run.id}.sse"
            if not run.events or name not in self._bundle.entries:
                without += 1
                continue
            try:
                folded = Folded(event for _, event in events_in(self._bundle.read(name), name))
            except BundleDamaged as error:
                yield BundleProblem(name, "wrong", error.reason)
                continue
            messages = past_messages([turns[run.id]], said_in([run]))
            if folded.blocks != blocks_of(messages):
                yield BundleProblem(name, "wrong", f"its events tell something else than the messages in {SESSION}")
            elif not _is_ending(folded, run, session.session.id):
                yield BundleProblem(name, "wrong", f"its events begin or end otherwise than the run in {SESSION}")
        if without:
            answers = pluralize(len(session.runs), "answer")
            self.notes.append(f"Of {without} of {answers} the events are no longer kept.")

    # What was read -----------------------------------------------------------------------------------------

    def _texts(self, read: SnapshotsEntry) -> tuple[dict[str, Snapshot], list[BundleProblem]]:
        texts: dict[str, Snapshot] = {}
        broken: list[BundleProblem] = []
        for record in read.snapshots:
            name = f"{SNAPSHOTS_FOLDER}{record.id}.txt"
            if name not in self._bundle.entries:
                continue
            try:
                text = text_of(self._bundle.read(name), name)
            except BundleDamaged as error:
                broken.append(BundleProblem(name, "wrong", error.reason))
                continue
            if snapshot_id(text) != record.id:
                broken.append(BundleProblem(name, "wrong", "its text is not the one that its name stands for"))
            texts[record.id] = record.with_text(text)
        self.snapshots = len(texts)
        return texts, broken

    def _verdicts(
        self, session: SessionEntry, read: SnapshotsEntry, texts: dict[str, Snapshot]
    ) -> Iterator[BundleProblem]:
        missing = frozenset(read.missing)
        spoken = list(spoken_in(session))
        for one in spoken:
            for source in sources_named(one.message):
                text = texts.get(source.snapshot_id or "")
                for quote in source.quotes if text is not None else ():
                    self.quotations += 1
                    if text is not None and text.text[max(quote.start, 0) : max(quote.end, 0)] != quote.text:
                        yield BundleProblem(
                            SESSION, "wrong", f"a quotation does not stand in {SNAPSHOTS_FOLDER}{text.id}.txt"
                        )
        result = rechecked(spoken, texts, missing)
        self.verdicts = result.checked
        self.quotations += result.quotations
        if result.unchecked:
            footnotes = pluralize(result.unchecked, "footnote")
            self.notes.append(f"{footnotes} could not be judged again: a text was removed from the library before.")
        for sentence in result.wrong:
            yield BundleProblem(VERDICTS, "wrong", sentence)
        self.otherwise = [BundleProblem(VERDICTS, "wrong", sentence) for sentence in result.otherwise]
        yield from self.otherwise


def _wrong_addresses(session: SessionEntry, read: SnapshotsEntry) -> Iterator[BundleProblem]:
    """A text was read where a source says, or where that led to."""
    addresses = addresses_of(session)
    for record in read.snapshots:
        found = addresses.get(record.id, ())
        if found and not any(address.may_be(record.url) for address in found):
            where = f"{shown(record.url)}, and was found at {shown(found[0].url)}"
            yield BundleProblem(
                SNAPSHOTS, "wrong", f"it says that {SNAPSHOTS_FOLDER}{record.id}.txt was read at {where}"
            )


def _is_ending(folded: Folded, run: RunRecord, session_id: str) -> bool:
    head, ending = folded.head, run.ending
    return (
        folded.has_ended
        and head is not None
        and (head.id, head.run_id, head.session_id) == (run.message_id, run.id, session_id)
        and ending is not None
        and (folded.stop_reason, folded.error) == (ending.stop_reason, ending.error)
    )


def _where(said: Any, made: Any) -> str:
    """The first place in which two values differ, for whoever looks for it."""
    path = ""
    while (key := _difference(said, made)) is not None:
        path += f"[{key}]" if isinstance(key, int) else f".{shown(key)}"
        said, made = said[key], made[key]
    return f" at {path.lstrip('.')}" if path else ""


def _difference(said: Any, made: Any) -> int | str | None:
    """A key that both have, with different values."""
    if isinstance(said, dict) and isinstance(made, dict):
        one, other = cast("dict[str, Any]", said), cast("dict[str, Any]", made)
        return next((key for key in one if key in other and one[key] != other[key]), None)
    if isinstance(said, list) and isinstance(made, list):
        pairs = zip(cast("list[Any]", said), cast("list[Any]", made), strict=False)
        return next((at for at, (here, there) in enumerate(pairs) if here != there), None)
    return None
