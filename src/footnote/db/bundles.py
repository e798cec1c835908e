"""The transactions of bundles: reads all rows of a session at one moment, and inserts an imported session at once."""

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from footnote.db import sessions
from footnote.db.blobs import StoredBlob, ensure_blob
from footnote.db.files import FileRow, UploadText, VersionRow, sync_files_to_branch
from footnote.db.library import INSERT_SNAPSHOT, LibraryEntry, lock_page
from footnote.db.proofs import ProofRow, session_proofs
from footnote.db.runs import EventRow, RunRow, StoredMessage, SummaryRow
from footnote.db.schema import (
    DIGEST,
    FILE_PROOF,
    FILE_VERSION,
    QUESTION,
    READING,
    RUN,
    RUN_MESSAGE,
    UPLOAD_TEXT,
    WORKSPACE_FILE,
)
from footnote.db.script import Steps, lock, script, sql, sql_many
from footnote.db.sessions import SessionRow
from footnote.protocol.errors import LimitReached


class QuestionRow(Struct, frozen=True):
    """A row of the table `question`. `body` and `attachments` are JSON."""

    id: str
    session_id: str
    after_run: str | None
    body: bytes
    attachments: bytes
    created_at: str


class SessionRows(Struct, frozen=True, kw_only=True):
    """A session with its turns and files. `messages` and `summaries` are by run, `versions` and `texts` by file;
    versions are sorted from the newest to the oldest. `proofs`: of versions, each with the id of its file."""

    session: SessionRow
    questions: tuple[QuestionRow, ...]
    runs: tuple[RunRow, ...]
    messages: dict[str, tuple[StoredMessage, ...]]
    summaries: dict[str, SummaryRow]
    files: tuple[FileRow, ...]
    versions: dict[str, tuple[VersionRow, ...]]
    texts: dict[str, UploadText]
    proofs: tuple[tuple[str, ProofRow], ...] = ()


class ExportedRows(Struct, frozen=True):
    """`runs_with_events`: the runs whose events are stored. `sizes`: the bytes of each content, by its hash."""

    rows: SessionRows
    runs_with_events: frozenset[str]
    sizes: dict[str, int]


@script
def load_session(user_id: str, session_id: str) -> Steps[ExportedRows | None]:
    """Everything but the events, the contents of files and the snapshots."""
    session = yield from sessions.session(user_id, session_id)
    if session is None:
        return None
    questions = yield QUESTION.select(QuestionRow, "WHERE session_id = ? ORDER BY id", session_id)
    runs = yield RUN.select(RunRow, "WHERE session_id = ? ORDER BY id", session_id)
    messages = yield from _messages_by_run(session_id)
    summaries = yield DIGEST.select(
        SummaryRow, "JOIN run ON run.id = digest.run_id WHERE run.session_id = ?", session_id
    )
    with_events = yield sql(
        """
        SELECT id FROM run
        WHERE session_id = ? AND EXISTS (SELECT 1 FROM run_events WHERE run_events.run = run.number)
        """,
        session_id,
    )
    files = yield WORKSPACE_FILE.select(FileRow, "WHERE session_id = ? ORDER BY path", session_id)
    versions, sizes = yield from _versions_by_file(session_id)
    texts = yield UPLOAD_TEXT.select(
        UploadText,
        "JOIN workspace_file ON workspace_file.id = upload_text.file_id WHERE workspace_file.session_id = ?",
        session_id,
        also="upload_text.file_id",
    )
    rows = SessionRows(
        session=session,
        questions=tuple(QuestionRow(*row) for row in questions),
        runs=tuple(RunRow(*row) for row in runs),
        messages={run_id: tuple(messages[run_id]) for run_id, *_ in runs},
        summaries={run_id: SummaryRow(run_id, *row) for run_id, *row in summaries},
        files=tuple(FileRow(*row) for row in files),
        versions={file_id: tuple(of_file) for file_id, of_file in versions.items()},
        texts={file_id: UploadText(*row) for *row, file_id in texts},
        proofs=tuple((yield from session_proofs(session_id))),
    )
    return ExportedRows(rows, frozenset(run_id for (run_id,) in with_events), sizes)


def _messages_by_run(session_id: str) -> Steps[defaultdict[str, list[StoredMessage]]]:
    rows = yield RUN_MESSAGE.select(
        StoredMessage,
        "JOIN run ON run.id = run_message.run_id WHERE run.session_id = ? ORDER BY run.id, run_message.ordinal",
        session_id,
        also="run.id",
    )
    messages = defaultdict[str, list[StoredMessage]](list)
    for *row, run_id in rows:
        messages[run_id].append(StoredMessage(*row))
    return messages


def _versions_by_file(session_id: str) -> Steps[tuple[dict[str, list[VersionRow]], dict[str, int]]]:
    """The versions by file, and the size of each content by its hash."""
    rows = yield FILE_VERSION.select(
        VersionRow,
        """
        JOIN blob ON blob.hash = file_version.hash JOIN workspace_file ON workspace_file.id = file_version.file_id
        WHERE workspace_file.session_id = ? ORDER BY file_version.file_id, file_version.number DESC
        """,
        session_id,
        also="file_version.file_id, blob.size",
    )
    versions: dict[str, list[VersionRow]] = {}
    sizes: dict[str, int] = {}
    for *row, file_id, size in rows:
        version = VersionRow(*row)
        versions.setdefault(file_id, []).append(version)
        sizes[version.hash] = size
    return versions, sizes


class ImportedRows(Struct, frozen=True, kw_only=True):
    """A session of a bundle under its new ids. `terms`: the search terms of each part of the session. `blobs`: the
    contents of the versions."""

    rows: SessionRows
    events: tuple[EventRow, ...]
    terms: tuple[tuple[str, str], ...]
    blobs: tuple[StoredBlob, ...]
    snapshots: tuple[LibraryEntry, ...]


@script
def import_session(user_id: str, imported: ImportedRows, now: float, *, max_bytes: int | None) -> Steps[None]:
    """Raises `LimitReached` if the files of the user would have more than `max_bytes` bytes together."""
    yield lock("user", user_id)
    if max_bytes is not None:
        yield from _check_quota(user_id, imported.blobs, max_bytes)
    yield from _insert_turns(imported, now)
    yield from _insert_files(imported)
    for entry in imported.snapshots:
        yield from _insert_snapshot(entry, user_id, now)
    for part, terms in imported.terms:
        yield from sessions.index_part(imported.rows.session.id, part, terms)


@script
def _insert_turns(imported: ImportedRows, now: float) -> Steps[None]:
    rows = imported.rows
    yield from sessions.create(replace(rows.session, changed_at=now))
    for question in rows.questions:
        yield QUESTION.insert(question)
    for run in rows.runs:
        yield RUN.insert(run)
        for message in rows.messages[run.id]:
            yield RUN_MESSAGE.insert(message, run_id=run.id)
    for summary in rows.summaries.values():
        yield DIGEST.insert(summary)
    yield sql_many(
        "INSERT INTO run_events (run, first_id, last_id, frames) SELECT number, ?, ?, ? FROM run WHERE id = ?",
        [(row.first_id, row.last_id, row.frames, row.run_id) for row in imported.events],
    )


@script
def _insert_files(imported: ImportedRows) -> Steps[None]:
    rows = imported.rows
    for blob in imported.blobs:
        yield from ensure_blob(blob)
    for file in rows.files:
        yield WORKSPACE_FILE.insert(file)
        for version in rows.versions[file.id]:
            yield FILE_VERSION.insert(version, file_id=file.id)
        if (text := rows.texts.get(file.id)) is not None:
            yield UPLOAD_TEXT.insert(text, file_id=file.id)
    for file_id, proof in rows.proofs:
        yield FILE_PROOF.insert(proof, file_id=file_id)
    yield from sync_files_to_branch(rows.session.id)


@script
def _insert_snapshot(entry: LibraryEntry, user_id: str, now: float) -> Steps[None]:
    """The snapshot can be opened from its footnotes only. A reading that is stored already is left as it is, and the
    snapshot does not become the current text of its page, because no user of this server has read it there."""
    reading = entry.reading
    yield from lock_page(reading.url, reading.snapshot_id)
    yield sql(INSERT_SNAPSHOT, reading.snapshot_id, entry.packed, entry.characters)
    yield READING.insert_missing(reading, kept_at=now)
    yield sql(
        "INSERT INTO shelf (user_id, url) VALUES (?, ?) ON CONFLICT (user_id, url) DO NOTHING", user_id, reading.url
    )


@script
def _check_quota(user_id: str, blobs: Sequence[StoredBlob], max_bytes: int) -> Steps[None]:
    rows = yield sql(
        """
        SELECT hash, size FROM blob WHERE hash IN (
            SELECT file_version.hash
            FROM session JOIN workspace_file ON workspace_file.session_id = session.id
            JOIN file_version ON file_version.file_id = workspace_file.id
            WHERE session.user_id = ?
        )
        """,
        user_id,
    )
    sizes: dict[str, int] = dict(rows) | {blob.hash: blob.size for blob in blobs}
    if blobs and (size := sum(sizes.values())) > max_bytes:
        raise LimitReached(
            f"With the files of this bundle your files and their versions would have {size:,} bytes; this server "
            f"allows {max_bytes:,}. Delete files or sessions that you no longer need.",
            code="storage_limit",
            size=size,
            max=max_bytes,
        )
