"""Verifies a bundle offline: every entry against the manifest, then its content: types, ids, snapshots, quotations and
verdicts. An imported bundle passes the same verification."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from footnote.bundles.derived import given_of, head_of, history_of, messages_of, sources_of, verdicts_of
from footnote.bundles.manifest import MANIFEST, Bundle, BundleProblem, open_bundle
from footnote.bundles.recheck import recheck
from footnote.bundles.recheck_files import FileRecheck, FileRechecker
from footnote.bundles.schema import (
    EVENTS_FOLDER,
    FILES,
    FIXED_ENTRIES,
    MAX_DEPTH,
    PROOFS,
    SESSION,
    SNAPSHOTS,
    SNAPSHOTS_FOLDER,
    TRANSCRIPT,
    VERDICTS,
    BundleDamaged,
    FileEntry,
    FilesEntry,
    ProofRecord,
    ProofsEntry,
    RunRecord,
    SessionEntry,
    SnapshotsEntry,
    VersionRecord,
    decode_json,
    encode_json,
    printable,
)
from footnote.bundles.transcript import markdown
from footnote.protocol import __version__
from footnote.protocol.errors import UsageError
from footnote.protocol.events import Event, MessageStart, MessageStop
from footnote.protocol.history import SessionHead
from footnote.protocol.messages import AssistantMessage, ToolResultMessage
from footnote.protocol.sources import Snapshot, snapshot_id
from footnote.sessions.file_citations import MAX_TEXT_BYTES
from footnote.workspace.paths import UPLOADS, key_of, upload_key, upload_name
from footnote.workspace.text import pluralize

MAX_VERSION_NUMBER = 10**9
_FRAME = re.compile(rb"id: ([0-9]{1,18})\nevent: [a-z_]{1,40}\ndata: ([^\n]*)")
_event_decoder = msgspec.json.Decoder(Event)


class Report(Struct, frozen=True, kw_only=True):
    """The result of verification. `verdicts`: those that were judged again, `file_verdicts` of them on statements of
    files. `findings`: the problems. `notes`: what could not be checked."""

    ok: bool
    seal: str | None = None
    session: SessionHead | None = None
    footnote: str | None = None
    exported_at: str | None = None
    entries: int = 0
    snapshots: int = 0
    versions: int = 0
    runs: int = 0
    verdicts: int = 0
    file_verdicts: int = 0
    quotations: int = 0
    findings: tuple[BundleProblem, ...] = ()
    notes: tuple[str, ...] = ()


class BundleContents(Struct, frozen=True):
    """The decoded content of a bundle. `snapshots` by id."""

    session: SessionEntry
    files: FilesEntry
    missing: frozenset[str]
    snapshots: dict[str, Snapshot]
    proofs: tuple[ProofRecord, ...] = ()


class VerifiedBundle(Struct, frozen=True):
    """`contents`: None if they could not be decoded. `otherwise`: those findings of the report that are verdicts of
    another version of Footnote, with which a bundle may still be imported."""

    report: Report
    contents: BundleContents | None
    otherwise: tuple[BundleProblem, ...]


def verify(file: Path) -> Report:
    """Raises `NotABundle` if the file is none."""
    try:
        with open_bundle(file) as bundle:
            return verify_bundle(bundle).report
    except BundleDamaged as error:
        return Report(ok=False, findings=(BundleProblem(error.entry, "unreadable", error.reason),))


def verify_bundle(bundle: Bundle) -> VerifiedBundle:
    """The content is checked only if every entry matches the manifest: otherwise one change would be reported many
    times."""
    manifest = bundle.manifest
    check = _ContentCheck(bundle)
    try:
        findings = list(bundle.problems())
    except BundleDamaged as error:
        findings = [BundleProblem(error.entry, "unreadable", error.reason)]
    if findings:
        check.notes.append("Because of that, the content of the bundle was not checked.")
    else:
        findings = list(check.problems())
    is_of_other_version = manifest.footnote != __version__
    if is_of_other_version and any(one.problem == "wrong" for one in findings):
        check.notes.append(
            f"The bundle was made by Footnote {manifest.footnote}, and checked by {__version__}: another version may "
            "judge otherwise."
        )
    contents = check.contents
    report = Report(
        ok=not findings,
        seal=manifest.seal,
        session=manifest.session,
        footnote=manifest.footnote,
        exported_at=manifest.exported_at,
        entries=len(bundle.entries),
        snapshots=0 if contents is None else len(contents.snapshots),
        versions=0 if contents is None else sum(len(file.versions) for file in contents.files.files),
        runs=0 if contents is None else len(contents.session.runs),
        verdicts=check.verdicts,
        file_verdicts=check.file_verdicts,
        quotations=check.quotations,
        findings=tuple(findings),
        notes=tuple(check.notes),
    )
    return VerifiedBundle(report, contents, tuple(check.otherwise) if is_of_other_version else ())


class _ContentCheck:
    """`problems` runs the checks once; the other attributes are valid afterwards."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self.notes: list[str] = []
        self.otherwise: list[BundleProblem] = []
        self.contents: BundleContents | None = None
        self.verdicts = self.file_verdicts = self.quotations = 0

    def problems(self) -> Iterator[BundleProblem]:
        missing = [name for name in FIXED_ENTRIES if name not in self._bundle.entries]
        if missing:
            yield from (BundleProblem(name, "missing", "every bundle has this entry") for name in missing)
            return
        try:
            yield from self._check(self._decode())
        except BundleDamaged as error:
            yield BundleProblem(error.entry, "wrong", error.reason)
        except RecursionError:
            yield BundleProblem(SESSION, "wrong", "a value in it is nested too deeply")

    def _decode(self) -> BundleContents:
        """The entries that an import reads. Raises `BundleDamaged` for the first one that is invalid."""
        bundle = self._bundle
        session = decode_json(bundle.read(SESSION), SessionEntry, SESSION)
        files = decode_json(bundle.read(FILES), FilesEntry, FILES)
        listed = decode_json(bundle.read(SNAPSHOTS), SnapshotsEntry, SNAPSHOTS)
        _check_session(session)
        _check_files(files, bundle)
        if head_of(session) != bundle.manifest.session:
            raise BundleDamaged(MANIFEST, f"it names another session than {SESSION}")
        snapshots: dict[str, Snapshot] = {}
        for record in listed.snapshots:
            name = f"{SNAPSHOTS_FOLDER}{record.id}.txt"
            if name not in bundle.entries:
                raise BundleDamaged(SNAPSHOTS, f"it lists {record.id}, whose text is not in the bundle")
            snapshots[record.id] = record.with_text(_snapshot_text(bundle.read(name), name, record.id))
        return BundleContents(session, files, frozenset(listed.missing), snapshots, self._decode_proofs(files))

    def _decode_proofs(self, files: FilesEntry) -> tuple[ProofRecord, ...]:
        """None in a bundle of an earlier version."""
        if PROOFS not in self._bundle.entries:
            return ()
        proofs = decode_json(self._bundle.read(PROOFS), ProofsEntry, PROOFS).proofs
        versions = {(file.key, version.number) for file in files.files for version in file.versions}
        named = [(proof.key, proof.number) for proof in proofs]
        if len(set(named)) < len(named) or not versions.issuperset(named):
            raise BundleDamaged(PROOFS, "it names a version twice, or one that is not in the bundle")
        return proofs

    def _check(self, contents: BundleContents) -> Iterator[BundleProblem]:
        session = contents.session
        yield from self._check_names(contents)
        for run in session.runs:
            name = events_entry(run)
            if run.events and name in self._bundle.entries:
                read_events(self._bundle, run, session.session.id)
        self.contents = contents
        yield from self._check_derived(contents)
        result = recheck(list(messages_of(session)), contents.snapshots, contents.missing, given_of(session))
        of_files = self._recheck_files(contents)
        self.file_verdicts = sum(one.checked for one in of_files)
        self.verdicts = result.checked + self.file_verdicts
        self.quotations = result.quotations + sum(one.quotations for one in of_files)
        unchecked = result.unchecked + sum(one.unchecked for one in of_files)
        if unchecked:
            footnotes = pluralize(unchecked, "footnote")
            self.notes.append(
                f"{footnotes} could not be judged again: a snapshot was removed from the library before the export."
            )
        self.otherwise = [BundleProblem(VERDICTS, "wrong", message) for message in result.otherwise]
        self.otherwise += [BundleProblem(PROOFS, "wrong", message) for one in of_files for message in one.otherwise]
        yield from (BundleProblem(VERDICTS, "wrong", message) for message in result.wrong)
        yield from (BundleProblem(PROOFS, "wrong", message) for one in of_files for message in one.wrong)
        yield from self.otherwise

    def _recheck_files(self, contents: BundleContents) -> list[FileRecheck]:
        if not contents.proofs:
            return []
        rechecker = FileRechecker(contents.session, contents.snapshots, contents.missing)
        versions = {(file.key, one.number): one for file in contents.files.files for one in file.versions}
        return [
            rechecker.recheck(proof, self._version_text(version), version.created_at)
            for proof in contents.proofs
            if (version := versions[proof.key, proof.number]).size <= MAX_TEXT_BYTES
        ]

    def _version_text(self, version: VersionRecord) -> str:
        return b"".join(self._bundle.chunks(version.entry)).decode("utf-8", "replace")

    def _check_names(self, contents: BundleContents) -> Iterator[BundleProblem]:
        """An import needs every entry that the content refers to. An entry to which nothing refers is not of an
        export, and its name may be any path."""
        expected = {
            *(events_entry(run) for run in contents.session.runs if run.events),
            *(version.entry for file in contents.files.files for version in file.versions),
            *(f"{SNAPSHOTS_FOLDER}{one}.txt" for one in contents.snapshots),
        }
        found = set(self._bundle.entries) - {*FIXED_ENTRIES, PROOFS}
        for name in sorted(found - expected):
            yield BundleProblem(name, "added", "nothing in the bundle refers to it")
        for name in sorted(expected - found):
            yield BundleProblem(name, "missing", "the bundle refers to it")

    def _check_derived(self, contents: BundleContents) -> Iterator[BundleProblem]:
        """The two entries that state verdicts to a reader are derived again, so that they state what is judged."""
        session = contents.session
        stated = decode_json(self._bundle.read(VERDICTS), dict[str, Any], VERDICTS)
        if stated != msgspec.json.decode(encode_json(verdicts_of(session))):
            yield BundleProblem(VERDICTS, "wrong", f"it differs from {SESSION}")
        if self._bundle.manifest.footnote != __version__:
            self.notes.append(f"{TRANSCRIPT} was not compared: another version of Footnote may write it otherwise.")
            return
        transcript = markdown(history_of(session, contents.files), sources_of(session).sources)
        if self._bundle.read(TRANSCRIPT) != transcript.encode("utf-8", "replace"):
            yield BundleProblem(TRANSCRIPT, "wrong", f"it differs from {SESSION}")


# Structure -------------------------------------------------------------------------------------------------


def _check_session(session: SessionEntry) -> None:
    """Every run answers a question, and every question follows an older run, so that the turns form a tree."""
    ids = [run.id for run in session.runs]
    ids += [*(one.id for one in session.questions), *(run.message_id for run in session.runs)]
    if len(set(ids)) < len(ids):
        raise BundleDamaged(SESSION, "two records in it have the same id")
    runs = {run.id for run in session.runs}
    questions = {question.id: question for question in session.questions}
    for run in session.runs:
        question = questions.get(run.question_id)
        if question is None or (question.after_run is not None and question.after_run >= run.id):
            raise BundleDamaged(SESSION, f"{run.id} does not follow from its question")
    named = {question.after_run for question in session.questions} | {session.session.head}
    if named - runs - {None} or {run.question_id for run in session.runs} != set(questions):
        raise BundleDamaged(SESSION, "it names runs or questions that are not in it")
    for timestamp in (session.session.created_at, *(question.created_at for question in session.questions)):
        _check_timestamp(timestamp, SESSION)
    for message in (one.message for run in session.runs for one in run.messages):
        if message.timestamp is not None:
            _check_timestamp(message.timestamp, SESSION)
        calls = message.calls if isinstance(message, AssistantMessage) else ()
        _check_depth([call.arguments for call in calls])
        _check_depth(message.artifact if isinstance(message, ToolResultMessage) else None)


def _check_depth(value: Any) -> None:
    """Iterative, because a recursive check would overflow the stack itself."""
    level, depth = [value], 0
    while level := [inner for outer in level for inner in _children(outer)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise BundleDamaged(SESSION, "a value in it is nested too deeply")


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("Iterable[Any]", value) if isinstance(value, list | tuple) else ()


def _check_files(files: FilesEntry, bundle: Bundle) -> None:
    listed = {entry.name: entry for entry in bundle.manifest.entries}
    keys = [_valid_key(file) for file in files.files]
    if len(set(keys)) < len(keys):
        raise BundleDamaged(FILES, "two files have the same path")
    if len({file.record.id for file in files.files}) < len(keys):
        raise BundleDamaged(FILES, "two files have the same id")
    for file in files.files:
        numbers = [version.number for version in file.versions]
        is_ordered = numbers == sorted(set(numbers), reverse=True)
        if not is_ordered or not 1 <= numbers[-1] <= numbers[0] <= MAX_VERSION_NUMBER or file.seen > numbers[0]:
            raise BundleDamaged(FILES, f"the versions of {printable(file.key)} are out of order")
        for timestamp in (file.record.created_at, *(version.created_at for version in file.versions)):
            _check_timestamp(timestamp, FILES)
        for version in file.versions:
            entry = listed.get(version.entry)
            if entry is None or (entry.sha256, entry.size) != (version.hash, version.size):
                raise BundleDamaged(
                    FILES, f"version {version.number} of {printable(file.key)} has no content with its hash"
                )


def _check_timestamp(text: str, entry: str) -> None:
    """Other code computes with timestamps, so they must be valid and of a plausible year."""
    try:
        is_valid = 1970 <= datetime.fromisoformat(text).year <= 2100
    except ValueError:
        is_valid = False
    if not is_valid:
        raise BundleDamaged(entry, f"{printable(text)} is not a timestamp")


def _valid_key(file: FileEntry) -> str:
    """The key of a file, if it is in the normal form of a path that a file of a session may have."""
    try:
        if file.key.startswith(UPLOADS):
            owner, _, rest = file.key.removeprefix(UPLOADS).partition("/")
            normal = upload_key(owner, rest.partition("/")[0], upload_name(file.key))
        else:
            normal = key_of(file.key)
    except UsageError as error:
        raise BundleDamaged(FILES, error.message.rstrip(".")) from None
    if file.key != normal:
        raise BundleDamaged(FILES, f"{printable(file.key)} is not the path of a file")
    return file.key


def _snapshot_text(data: bytes, name: str, expected_id: str) -> str:
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise BundleDamaged(name, "it is not UTF-8 text") from None
    if snapshot_id(text) != expected_id:
        raise BundleDamaged(name, "the hash of its text is not its id")
    return text


# Events ----------------------------------------------------------------------------------------------------


def events_entry(run: RunRecord) -> str:
    return f"{EVENTS_FOLDER}{run.id}.sse"


def read_events(bundle: Bundle, run: RunRecord, session_id: str) -> list[tuple[int, Event]]:
    """The complete event log of a run, with ascending ids. Raises `BundleDamaged` if the entry is anything else."""
    name = events_entry(run)
    *frames, rest = bundle.read(name).split(b"\n\n")
    if rest:
        raise BundleDamaged(name, "its last event is cut off")
    events: list[tuple[int, Event]] = []
    last = 0
    for frame in frames:
        parts = _FRAME.fullmatch(frame)
        number = int(parts[1]) if parts else 0
        if parts is None or number <= last:
            raise BundleDamaged(name, f"event {last} is not followed by a valid event")
        try:
            event = _event_decoder.decode(parts[2])
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            raise BundleDamaged(name, f"event {number} is invalid") from None
        if isinstance(event, MessageStart):
            head = event.message
            if (head.id, head.run_id, head.session_id) != (run.message_id, run.id, session_id):
                raise BundleDamaged(name, f"event {number} is of another run")
        events.append((number, event))
        last = number
    if not events or not isinstance(events[-1][1], MessageStop):
        raise BundleDamaged(name, "it does not reach the end of the run")
    return events
