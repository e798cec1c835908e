"""What a bundle says, held against itself: texts against hashes, quotations against texts, verdicts against both."""

import hashlib
from collections.abc import Iterator
from typing import Any, cast

from footnote.bundles.contents import (
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
from footnote.bundles.form import (
    EVENTS_FOLDER,
    FILES,
    FILES_FOLDER,
    HISTORY,
    MANIFEST,
    README,
    SESSION,
    SNAPSHOTS,
    SNAPSHOTS_FOLDER,
    SOURCES,
    TRANSCRIPT,
    VERDICTS,
    VERSIONS_FOLDER,
    Damaged,
    FileEntry,
    FilesEntry,
    RunRecord,
    SessionEntry,
    SnapshotsEntry,
    read_json,
    shown,
)
from footnote.bundles.opening import Bundle, Finding
from footnote.bundles.rechecking import rechecked
from footnote.bundles.taking import check_files, check_tree, text_of
from footnote.bundles.transcript import markdown
from footnote.protocol.history import History
from footnote.protocol.messages import AssistantMessage
from footnote.protocol.sources import Snapshot, snapshot_id
from footnote.protocol.version import __version__
from footnote.sessions.history import past_messages

WRITE_FILE = "write_file"
ENTRIES = (README, TRANSCRIPT, HISTORY, SESSION, FILES, SOURCES, SNAPSHOTS, VERDICTS)


class Inside:
    """`findings` are made once. What was counted, and what could not be checked, is known after."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self.notes: list[str] = []
        self.snapshots = self.versions = self.runs = self.verdicts = 0

    def findings(self) -> Iterator[Finding]:
        """Where one thing cannot be read, nothing that follows from it is looked at."""
        missing = [name for name in ENTRIES if name not in self._bundle.entries]
        for name in missing:
            yield Finding(name, "missing", "every bundle has it")
        if missing:
            return
        try:
            session = read_json(self._bundle.read(SESSION), SessionEntry, SESSION)
            files = read_json(self._bundle.read(FILES), FilesEntry, FILES)
            read = read_json(self._bundle.read(SNAPSHOTS), SnapshotsEntry, SNAPSHOTS)
            check_tree(session)
            check_files(files, self._bundle)
        except Damaged as error:
            yield Finding(error.entry, "wrong", error.reason)
            return
        if head_of(session) != self._bundle.manifest.session:
            yield Finding(MANIFEST, "wrong", f"it tells of another session than {SESSION}")
        self.runs = len(session.runs)
        yield from self._unexpected(session, files, read)
        yield from self._files(files)
        yield from _unlike_calls(session, files)
        yield from self._told(session, files)
        yield from self._events(session)
        texts, broken = self._texts(read)
        yield from broken
        if not broken:
            yield from self._verdicts(session, read, texts)

    # Entries -----------------------------------------------------------------------------------------------

    def _unexpected(self, session: SessionEntry, files: FilesEntry, read: SnapshotsEntry) -> Iterator[Finding]:
        """Every entry is one that the others name, and every one that they name is there."""
        named = {
            *(f"{EVENTS_FOLDER}{run.id}.sse" for run in session.runs if run.events),
            *(version.entry for file in files.files for version in file.versions),
            *(f"{SNAPSHOTS_FOLDER}{record.id}.txt" for record in read.snapshots),
        }
        there = set(self._bundle.entries) - set(ENTRIES)
        for name in sorted(there - named):
            yield Finding(name, "added", "nothing in the bundle names it")
        for name in sorted(named - there):
            yield Finding(name, "missing", "it is named, and not there")
        known = {record.id for record in read.snapshots} | set(read.missing)
        for one in named_snapshots(session):
            if one not in known:
                yield Finding(SNAPSHOTS, "wrong", f"it says nothing of the text {shown(one)}, on which something rests")

    def _files(self, files: FilesEntry) -> Iterator[Finding]:
        """What a file holds now stands under its name; what it held before, under its hash."""
        self.versions = sum(len(file.versions) for file in files.files)
        for file in files.files:
            now, *before = file.versions
            if not now.entry.startswith(FILES_FOLDER):
                yield Finding(FILES, "wrong", f"{shown(file.key)} is not among the files")
            for version in before:
                if version.entry != f"{VERSIONS_FOLDER}{version.hash}":
                    yield Finding(
                        FILES, "wrong", f"version {version.number} of {shown(file.key)} is not under its hash"
                    )
            if not _is_of(file):
                yield Finding(FILES, "wrong", f"the record of {shown(file.key)} is that of another file")
        current = [file.versions[0].entry for file in files.files]
        if len(set(current)) < len(current):
            yield Finding(FILES, "wrong", "two files have the same content entry")

    def _told(self, session: SessionEntry, files: FilesEntry) -> Iterator[Finding]:
        """What follows from the session is made anew."""
        history, sources = history_of(session, files), sources_of(session)
        for name, kind, made in (
            (HISTORY, History, history),
            (SOURCES, None, sources),
            (VERDICTS, None, verdicts_of(session)),
        ):
            try:
                said: Any = read_json(self._bundle.read(name), kind or dict[str, Any], name)
            except Damaged as error:
                yield Finding(name, "wrong", error.reason)
                continue
            if plain(said) != plain(made):
                yield Finding(name, "wrong", f"it says something else than {SESSION}{_where(plain(said), plain(made))}")
        if self._bundle.manifest.footnote != __version__:
            self.notes.append(f"{TRANSCRIPT} was not compared: another version may write it otherwise.")
        elif self._bundle.read(TRANSCRIPT) != markdown(history, sources.sources).encode("utf-8", "replace"):
            yield Finding(TRANSCRIPT, "wrong", f"it says something else than {SESSION}")

    # Events ------------------------------------------------------------------------------------------------

    def _events(self, session: SessionEntry) -> Iterator[Finding]:
        turns = {turn.run_id: turn for turn in turns_of(session)}
        without = 0
        for run in session.runs:
            name = f"{EVENTS_FOLDER}{run.id}.sse"
            if not run.events or name not in self._bundle.entries:
                without += 1
                continue
            try:
                folded = Folded(event for _, event in events_in(self._bundle.read(name), name))
            except Damaged as error:
                yield Finding(name, "wrong", error.reason)
                continue
            messages = past_messages([turns[run.id]], said_in([run]))
            if folded.blocks != blocks_of(messages):
                yield Finding(name, "wrong", f"its events tell something else than the messages in {SESSION}")
            elif not _is_ending(folded, run, session.session.id):
                yield Finding(name, "wrong", f"its events begin or end otherwise than the run in {SESSION}")
        if without:
            self.notes.append(f"Of {without} of {len(session.runs)} answers the events are no longer kept.")

    # What was read -----------------------------------------------------------------------------------------

    def _texts(self, read: SnapshotsEntry) -> tuple[dict[str, Snapshot], list[Finding]]:
        texts: dict[str, Snapshot] = {}
        broken: list[Finding] = []
        for record in read.snapshots:
            name = f"{SNAPSHOTS_FOLDER}{record.id}.txt"
            if name not in self._bundle.entries:
                continue
            try:
                text = text_of(self._bundle.read(name), name)
            except Damaged as error:
                broken.append(Finding(name, "wrong", error.reason))
                continue
            if snapshot_id(text) != record.id:
                broken.append(Finding(name, "wrong", "its text is not the one that its name stands for"))
            texts[record.id] = record.with_text(text)
        self.snapshots = len(texts)
        return texts, broken

    def _verdicts(self, session: SessionEntry, read: SnapshotsEntry, texts: dict[str, Snapshot]) -> Iterator[Finding]:
        missing = frozenset(read.missing)
        spoken = list(spoken_in(session))
        for one in spoken:
            for source in sources_named(one.message):
                text = texts.get(source.snapshot_id or "")
                for quote in source.quotes if text is not None else ():
                    if text is not None and text.text[max(quote.start, 0) : max(quote.end, 0)] != quote.text:
                        yield Finding(
                            SESSION, "wrong", f"a quotation does not stand in {SNAPSHOTS_FOLDER}{text.id}.txt"
                        )
        result = rechecked(spoken, texts, missing)
        self.verdicts = result.checked
        if result.unchecked:
            self.notes.append(
                f"{result.unchecked} footnotes were not judged again: what they rest on was removed from the library "
                "before the bundle was made."
            )
        for sentence in result.wrong:
            yield Finding(VERDICTS, "wrong", sentence)


def _unlike_calls(session: SessionEntry, files: FilesEntry) -> Iterator[Finding]:
    """A version that a call wrote holds what the call was given to write."""
    given: dict[tuple[str, str], set[str]] = {}
    for spoken in spoken_in(session):
        for call in spoken.message.calls if isinstance(spoken.message, AssistantMessage) else ():
            content = call.arguments.get("content")
            if call.name == WRITE_FILE and isinstance(content, str):
                digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
                given.setdefault((spoken.run.message_id, call.id), set()).add(digest)
    for file in files.files:
        for version in file.versions:
            wanted = given.get((version.message_id or "", version.call_id or ""))
            if wanted is not None and version.hash not in wanted:
                what = f"version {version.number} of {shown(file.key)}"
                yield Finding(FILES, "wrong", f"{what} is not what {shown(version.call_id or '')} was given to write")


def _is_of(file: FileEntry) -> bool:
    record = file.record
    return record.path.endswith(file.key) and (record.url == file.key or record.url.endswith(file.key))


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
