"""The import of a bundle: verifies it and builds the rows of a new session, before anything is stored."""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from footnote.bundles.derived import shown_first
from footnote.bundles.identifiers import NewIds
from footnote.bundles.manifest import Bundle, BundleProblem, open_bundle
from footnote.bundles.schema import (
    BundleRejected,
    FileEntry,
    FilesEntry,
    RunRecord,
    SessionEntry,
    UploadTextRecord,
    printable,
    shared_fields,
)
from footnote.bundles.verify import BundleContents, events_entry, read_events, verify_bundle
from footnote.db import bundles as db
from footnote.db.blobs import StoredBlob
from footnote.db.files import FileRow, UploadText, VersionRow
from footnote.db.proofs import ProofRow
from footnote.db.runs import EventRow, RunRow, StoredMessage, SummaryRow
from footnote.db.sessions import TITLE, SessionRow, file_part
from footnote.documents.inspection import inspect
from footnote.evidence.file_proof import FileProof, looked_statements, statement_keys
from footnote.evidence.sources import Sources
from footnote.library.snapshots import pack
from footnote.protocol import __version__
from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.protocol.events import ContextReport, Delta, Event, MessageDelta, MessageStop, TurnUsage
from footnote.protocol.messages import AssistantMessage, Usage
from footnote.protocol.sessions import ACTIVE, MAX_TITLE_LENGTH, BundleCheck, ImportedSession
from footnote.protocol.sources import Snapshot
from footnote.protocol.sse import frame
from footnote.sessions.file_citations import JudgedBy, encode_proof
from footnote.sessions.titles import clean_title
from footnote.sessions.turns import RunEnding, encode
from footnote.text.search_terms import MAX_FILE_CHARACTERS, file_text, terms_of
from footnote.workspace.paths import LARGE_RESULTS, UPLOADS, filename_of, upload_name
from footnote.workspace.stored import compress_text
from footnote.workspace.text import pluralize

MAX_NAMED_PROBLEMS = 5
ROW_EVENTS = 500
PRIVATE = "footnote:bundles/"
"""The URL prefix of snapshots that are not web pages: such a snapshot is private to a user, and so is its URL."""
_WEB_URL = re.compile(r"https?://", re.IGNORECASE)

log = logging.getLogger(__name__)


class PreparedImport(Struct, frozen=True):
    """A session whose rows can be stored once the `contents`, which are entries of the bundle, are stored as blobs."""

    head: ImportedSession
    contents: tuple[str, ...]
    rows: db.ImportedRows

    def rows_with(self, blobs: tuple[StoredBlob, ...]) -> db.ImportedRows:
        return replace(self.rows, blobs=blobs)


def prepare_import(file: Path, user_id: str, address: str, agents: Sequence[str], now: float) -> PreparedImport:
    """Raises `NotABundle`, `BundleDamaged` or `BundleRejected` if the bundle cannot be imported."""
    with open_bundle(file) as bundle:
        contents, check = _verified_contents(bundle)
        session, files = contents.session, contents.files
        _check_uploads(bundle, files)
        new_ids = NewIds(session, files, user_id, address)
        rows = _session_rows(session, files, new_ids, user_id, agents, now)
        rows = replace(rows, proofs=tuple(_proofs(bundle, contents, rows, new_ids)))
        events = tuple(row for run in session.runs for row in _event_rows(run, bundle, session.session.id, new_ids))
        snapshots = tuple(pack(_own_copy(one, user_id), searchable=False) for one in contents.snapshots.values())
        terms = (*_message_terms(session, new_ids), *_file_terms(bundle, files, rows.files))
    entries = {version.hash: version.entry for one in files.files for version in one.versions}
    row = rows.session
    return PreparedImport(
        ImportedSession(row.id, row.title, row.agent_id, row.created_at, checked=check),
        tuple(entries.values()),
        db.ImportedRows(rows=rows, events=events, terms=terms, blobs=(), snapshots=snapshots),
    )


def _verified_contents(bundle: Bundle) -> tuple[BundleContents, BundleCheck]:
    """The contents of a bundle that passes verification. Verdicts of another version of Footnote that this version
    would judge differently are no reason to reject it."""
    result = verify_bundle(bundle)
    report = result.report
    problems = [one for one in report.findings if one not in result.otherwise]
    if problems or result.contents is None:
        raise _rejection(problems)
    if result.otherwise:
        log.warning(
            "A bundle of Footnote %s was imported; this version, %s, would judge %s differently.",
            printable(bundle.manifest.footnote),
            __version__,
            pluralize(len(result.otherwise), "footnote"),
        )
    check = BundleCheck(
        report.entries,
        report.quotations,
        report.verdicts,
        len(result.otherwise),
        bundle.manifest.seal,
        report.notes,
    )
    return result.contents, check


def _rejection(problems: Sequence[BundleProblem]) -> BundleRejected:
    matches_manifest = all(one.problem == "wrong" for one in problems)
    reason = "its content is wrong" if matches_manifest else "it is not as it was exported"
    named = "; ".join(f"{printable(one.entry)} ({one.problem}): {one.message}" for one in problems[:MAX_NAMED_PROBLEMS])
    more = f"; and {len(problems) - MAX_NAMED_PROBLEMS} more" if len(problems) > MAX_NAMED_PROBLEMS else ""
    return BundleRejected(f"The bundle was not imported, because {reason}: {named}{more}.")


def _check_uploads(bundle: Bundle, files: FilesEntry) -> None:
    """A file that would be refused as an upload is refused in a bundle too."""
    names: dict[str, dict[str, str]] = {}
    for file in files.files:
        if file.key.startswith(UPLOADS):
            for version in file.versions:
                name = filename_of(file.key)
                # The inspection depends on the suffix of the name alone.
                names.setdefault(version.entry, {}).setdefault(name.lower().rpartition(".")[2], name)
    with TemporaryDirectory(prefix="footnote-") as folder:
        path = Path(folder) / "content"
        for entry, suffixes in names.items():
            with path.open("wb") as target:
                target.writelines(bundle.chunks(entry))
            for name in suffixes.values():
                try:
                    with path.open("rb") as content:
                        inspect(content, name)
                except (WrongKind, UnprocessableFile) as error:
                    raise BundleRejected(
                        f"The bundle was not imported, because of an upload in it: {error.message}"
                    ) from error


# Rows ------------------------------------------------------------------------------------------------------


def _session_rows(
    session: SessionEntry, files: FilesEntry, new_ids: NewIds, user_id: str, agents: Sequence[str], now: float
) -> db.SessionRows:
    about = session.session
    session_id = new_ids.ids[about.id]
    row = SessionRow(
        **shared_fields(
            about,
            SessionRow,
            id=session_id,
            user_id=user_id,
            agent_id=about.agent_id if about.agent_id in agents or not agents else agents[0],
            title=_title(session),
            titled=int(about.titled),
            origin="page",
            head=new_ids.link(about.head),
            changed_at=now,
        )
    )
    questions = tuple(
        db.QuestionRow(
            id=new_ids.ids[question.id],
            session_id=session_id,
            after_run=new_ids.link(question.after_run),
            body=encode(question.message),
            attachments=encode([new_ids.file(file) for file in question.attachments]),
            created_at=question.created_at,
        )
        for question in session.questions
    )
    imported_files = [(_file(file, session_id, new_ids), file) for file in files.files]
    return db.SessionRows(
        session=row,
        questions=questions,
        runs=tuple(_run(run, row, new_ids, now) for run in session.runs),
        messages={new_ids.ids[run.id]: tuple(_messages(run, new_ids)) for run in session.runs},
        summaries={
            new_ids.ids[run.id]: SummaryRow(new_ids.ids[run.id], run.digest.messages, run.digest.text)
            for run in session.runs
            if run.digest is not None
        },
        files=tuple(row for row, _ in imported_files),
        versions={row.id: tuple(_versions(file, new_ids)) for row, file in imported_files},
        texts={row.id: _text(file.text) for row, file in imported_files if row.source == "upload" and file.text},
    )


def _run(run: RunRecord, session: SessionRow, new_ids: NewIds, now: float) -> RunRow:
    """A run that was active when the bundle was exported cannot continue here: it becomes a cancelled run."""
    has_ended = run.state not in ACTIVE
    return RunRow(
        id=new_ids.ids[run.id],
        session_id=session.id,
        user_id=session.user_id,
        question_id=new_ids.ids[run.question_id],
        message_id=new_ids.ids[run.message_id],
        state=run.state if has_ended else "cancelled",
        asked=encode(run.asked),
        ending=encode(new_ids.ending(_ending(run))),
        fence=0,
        attempts=0,
        cancel_wanted=0,
        pruned_to=0 if run.events and has_ended else 1,
        created_at=run.created_at,
        ended_at=run.ended_at if has_ended and run.ended_at is not None else now,
    )


def _messages(run: RunRecord, new_ids: NewIds) -> Iterator[StoredMessage]:
    for ordinal, record in enumerate(run.messages):
        yield StoredMessage(ordinal, record.blocks, encode(new_ids.message(record.message)))


def _ending(run: RunRecord) -> RunEnding:
    if run.state in ACTIVE:
        return RunEnding(stop_reason="aborted")
    return run.ending or RunEnding(stop_reason="error" if run.state == "failed" else "stop")


def _file(file: FileEntry, session_id: str, new_ids: NewIds) -> FileRow:
    record = new_ids.file(file.record)
    is_upload = file.key.startswith(UPLOADS)
    return FileRow(
        session_id=session_id,
        path=new_ids.upload_key(file.record.id, upload_name(file.key)) if is_upload else file.key,
        id=record.id,
        source="upload" if is_upload else "generated",
        created_at=record.created_at,
        message_id=record.message_id,
        current=file.versions[0].number,
        seen=file.seen,
        plain_url=0,
    )


def _versions(file: FileEntry, new_ids: NewIds) -> Iterator[VersionRow]:
    for version in file.versions:
        message_id, run_id = new_ids.link(version.message_id), new_ids.link(version.run_id)
        yield VersionRow(**shared_fields(version, VersionRow, message_id=message_id, run_id=run_id))


def _text(record: UploadTextRecord) -> UploadText:
    return UploadText(None if record.text is None else compress_text(record.text), record.reason)


def _proofs(
    bundle: Bundle, contents: BundleContents, rows: db.SessionRows, new_ids: NewIds
) -> Iterator[tuple[str, ProofRow]]:
    """The proofs of versions. Those of another version of Footnote are judged again when they are shown; what a model
    pointed to stays."""
    messages = tuple(new_ids.message(message) for message in shown_first(contents.session))
    judged_by = JudgedBy.of(messages)
    sources = Sources.from_messages(messages, contents.snapshots)
    is_current = bundle.manifest.footnote == __version__
    files = {file.key: (file, row.id) for file, row in zip(contents.files.files, rows.files, strict=True)}
    for proof in contents.proofs:
        file, file_id = files[proof.key]
        version = next(one for one in file.versions if one.number == proof.number)
        text = b"".join(bundle.chunks(version.entry)).decode("utf-8", "replace")
        keys = statement_keys(text, proof.citations, sources)
        pointed = {(one.start, one.end) for one in proof.citations if one.by == "model"}
        looked = [one for one in proof.citations if (one.start, one.end) in pointed]
        stored = FileProof(proof.citations, dict(looked_statements(looked, keys)))
        basis = judged_by.basis(version.hash) if is_current else "imported"
        yield file_id, ProofRow(proof.number, basis, encode_proof(stored))


def _title(session: SessionEntry) -> str:
    return clean_title(session.session.title)[:MAX_TITLE_LENGTH]


def _message_terms(session: SessionEntry, new_ids: NewIds) -> Iterator[tuple[str, str]]:
    """The search terms of the title, the questions and the answers."""
    if title := _title(session):
        yield TITLE, terms_of(title)
    for question in session.questions:
        yield new_ids.ids[question.id], terms_of(question.message.text)
    for run in session.runs:
        answers = [one.message for one in run.messages if isinstance(one.message, AssistantMessage)]
        shown = "\n\n".join(answer.text for answer in answers if answer.parent is None)
        yield new_ids.ids[run.message_id], terms_of(shown)


# Events ----------------------------------------------------------------------------------------------------


def _event_rows(run: RunRecord, bundle: Bundle, session_id: str, new_ids: NewIds) -> Iterator[EventRow]:
    run_id = new_ids.ids[run.id]
    if not run.events or run.state in ACTIVE:
        yield _last_events(run_id, _ending(run))
        return
    name = events_entry(run)
    events = ((number, new_ids.event(event, name)) for number, event in read_events(bundle, run, session_id))
    for first, frames in _batches(events):
        yield EventRow(run_id, first, first + len(frames) - 1, b"".join(frames))


def _batches(events: Iterable[tuple[int, Event]]) -> Iterator[tuple[int, list[bytes]]]:
    """The frames of events with consecutive ids, with the first id of each batch."""
    first, frames = 0, list[bytes]()
    for number, event in events:
        if frames and (number != first + len(frames) or len(frames) >= ROW_EVENTS):
            yield first, frames
            frames = []
        if not frames:
            first = number
        frames.append(frame(number, event))
    if frames:
        yield first, frames


def _last_events(run_id: str, ending: RunEnding) -> EventRow:
    """The end of a run whose log was pruned: a client that follows it receives a gap and then the end."""
    usage = ending.usage or TurnUsage.of(Usage(), None)
    last = MessageDelta(Delta(ending.stop_reason), usage, ContextReport(0, 0))
    return EventRow(run_id, 2, 3, frame(2, last) + frame(3, MessageStop()))


# Snapshots and files ---------------------------------------------------------------------------------------------


def _own_copy(snapshot: Snapshot, user_id: str) -> Snapshot:
    """A URL that is not of the web may be that of another user's file here, so it is replaced. Only web links stay."""
    is_page = _WEB_URL.match(snapshot.url)
    return replace(
        snapshot,
        url=snapshot.url if is_page else f"{PRIVATE}{user_id}/{snapshot.id}",
        links=tuple(link for link in snapshot.links if _WEB_URL.match(link.url)),
    )


def _file_terms(bundle: Bundle, files: FilesEntry, rows: Sequence[FileRow]) -> Iterator[tuple[str, str]]:
    """The search terms of the newest version of each file, or of the extracted text of an upload. `rows`: of the
    files, in their order."""
    for file, row in zip(files.files, rows, strict=True):
        if file.key.startswith(LARGE_RESULTS):
            continue
        if row.source == "upload":
            text = ((file.text and file.text.text) or "")[:MAX_FILE_CHARACTERS]
        else:
            text = file_text(b"".join(bundle.chunks(file.versions[0].entry)))
        if terms := terms_of(text):
            yield file_part(row.path), terms
