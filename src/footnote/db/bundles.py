"""The transactions of bundles: a whole session as rows, read on one state of the database and written in one."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import astuple

from footnote.db.blobs import StoredBlob, ensure_blob
from footnote.db.files import VersionRow, sync_files_to_branch
from footnote.db.library import LibraryEntry, lock_page
from footnote.db.runs import EventRow
from footnote.db.script import Steps, lock, script, sql, sql_many
from footnote.db.sessions import index_part
from footnote.protocol.errors import LimitReached


class BundledSession(Struct, frozen=True):
    id: str
    title: str
    agent_id: str
    created_at: str
    titled: int
    origin: str
    head: str | None


class QuestionRow(Struct, frozen=True):
    id: str
    after_run: str | None
    body: bytes
    attachments: bytes
    created_at: str


class BundledRun(Struct, frozen=True):
    id: str
    question_id: str
    message_id: str
    state: str
    asked: bytes
    ending: bytes | None
    created_at: float
    ended_at: float | None
    pruned_to: int
    events: int
    digested: int | None
    digest: str | None


class SaidRow(Struct, frozen=True):
    blocks: int
    body: bytes


class BundledFile(Struct, frozen=True):
    """`text` is packed; `reason` null: nothing is known of a text."""

    path: str
    id: str
    source: str
    created_at: str
    message_id: str | None
    seen: int
    text: bytes | None
    reason: str | None
    plain_url: int = 0


class SessionRows(Struct, frozen=True):
    """`said` by run, `versions` by file, the newest first."""

    session: BundledSession
    questions: tuple[QuestionRow, ...]
    runs: tuple[BundledRun, ...]
    said: dict[str, tuple[SaidRow, ...]]
    files: tuple[BundledFile, ...]
    versions: dict[str, tuple[VersionRow, ...]]


@script
def load_session(user_id: str, session_id: str) -> Steps[SessionRows | None]:
    """All but the events, the contents of files and what was read."""
    found = yield sql(
        "SELECT id, title, agent_id, created_at, titled, origin, head FROM session WHERE user_id = ? AND id = ?",
        user_id,
        session_id,
    )
    if not found:
        return None
    questions = yield sql(
        "SELECT id, after_run, body, attachments, created_at FROM question WHERE session_id = ? ORDER BY id", session_id
    )
    runs = yield sql(
        """
        SELECT run.id, run.question_id, run.message_id, run.state, run.asked, run.ending, run.created_at, run.ended_at,
            run.pruned_to, EXISTS (SELECT 1 FROM run_events WHERE run_events.run = run.number),
            digest.messages, digest.text
        FROM run LEFT JOIN digest ON digest.run_id = run.id WHERE run.session_id = ? ORDER BY run.id
        """,
        session_id,
    )
    said: dict[str, tuple[SaidRow, ...]] = {}
    for run in runs:
        rows = yield sql("SELECT blocks, body FROM run_message WHERE run_id = ? ORDER BY ordinal", run[0])
        said[run[0]] = tuple(SaidRow(*row) for row in rows)
    files = yield sql(
        """
        SELECT workspace_file.path, workspace_file.id, workspace_file.source, workspace_file.created_at,
            workspace_file.message_id, workspace_file.seen, upload_text.text, upload_text.reason,
            workspace_file.plain_url
        FROM workspace_file LEFT JOIN upload_text ON upload_text.file_id = workspace_file.id
        WHERE workspace_file.session_id = ? ORDER BY workspace_file.path
        """,
        session_id,
    )
    versions: dict[str, tuple[VersionRow, ...]] = {}
    for file in files:
        rows = yield sql(
            """
            SELECT file_version.number, file_version.hash, blob.size, file_version.created_at, file_version.author,
                file_version.message_id, file_version.call_id, file_version.run_id
            FROM file_version JOIN blob ON blob.hash = file_version.hash
            WHERE file_version.file_id = ? ORDER BY file_version.number DESC
            """,
            file[1],
        )
        versions[file[1]] = tuple(VersionRow(*row) for row in rows)
    return SessionRows(
        BundledSession(*found[0]),
        tuple(QuestionRow(*row) for row in questions),
        tuple(BundledRun(*row) for row in runs),
        said,
        tuple(BundledFile(*row) for row in files),
        versions,
    )


class ImportedRows(Struct, frozen=True, kw_only=True):
    """A session of a bundle under its new ids, to be stored for a user. `terms` are what its parts are found by, `kept`
    the contents of the versions, `read` what was read."""

    whole: SessionRows
    events: tuple[EventRow, ...]
    terms: tuple[tuple[str, str], ...]
    kept: tuple[StoredBlob, ...]
    read: tuple[LibraryEntry, ...]


@script
def import_session(user_id: str, taken: ImportedRows, now: float, *, max_bytes: int | None) -> Steps[None]:
    """All of it or nothing. `LimitReached`: the files of the user would have more than `max_bytes` bytes together."""
    yield lock("user", user_id)
    if max_bytes is not None:
        yield from _check_quota(user_id, taken.kept, max_bytes)
    yield from _insert_turns(user_id, taken, now)
    yield from _insert_files(taken)
    for entry in taken.read:
        yield from _insert_snapshot(entry, user_id, now)
    session_id = taken.whole.session.id
    for part, terms in taken.terms:
        yield from index_part(session_id, part, terms)


@script
def _insert_turns(user_id: str, taken: ImportedRows, now: float) -> Steps[None]:
    whole = taken.whole
    session = whole.session
    yield sql(
        """
        INSERT INTO session (id, user_id, agent_id, title, titled, origin, head, created_at, changed_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        *(session.id, user_id, session.agent_id, session.title, session.titled, session.origin, session.head),
        *(session.created_at, now),
    )
    for question in whole.questions:
        yield sql(
            """
            INSERT INTO question (id, session_id, after_run, body, attachments, created_at) VALUES (?, ?, ?, ?, ?, ?)
            """,
            *(question.id, session.id, question.after_run, question.body, question.attachments, question.created_at),
        )
    for run in whole.runs:
        yield sql(
            """
            INSERT INTO run (id, session_id, user_id, question_id, message_id, state, asked, ending, pruned_to,
                created_at, ended_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            *(run.id, session.id, user_id, run.question_id, run.message_id, run.state, run.asked, run.ending),
            *(run.pruned_to, run.created_at, run.ended_at),
        )
        for ordinal, said in enumerate(whole.said[run.id]):
            yield sql(
                "INSERT INTO run_message (run_id, ordinal, blocks, body) VALUES (?, ?, ?, ?)",
                *(run.id, ordinal, said.blocks, said.body),
            )
        if run.digest is not None:
            yield sql("INSERT INTO digest (run_id, messages, text) VALUES (?, ?, ?)", run.id, run.digested, run.digest)
    yield sql_many(
        "INSERT INTO run_events (run, first_id, last_id, frames) SELECT number, ?, ?, ? FROM run WHERE id = ?",
        [(row.first_id, row.last_id, row.frames, row.run_id) for row in taken.events],
    )


@script
def _insert_files(taken: ImportedRows) -> Steps[None]:
    for kept in taken.kept:
        yield from ensure_blob(kept)
    for file in taken.whole.files:
        versions = taken.whole.versions[file.id]
        yield sql(
            """
            INSERT INTO workspace_file (session_id, path, id, source, created_at, message_id, current, seen)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            *(taken.whole.session.id, file.path, file.id, file.source, file.created_at, file.message_id),
            *(versions[0].number, file.seen),
        )
        for version in versions:
            yield sql(
                """
                INSERT INTO file_version (file_id, number, hash, author, message_id, call_id, created_at, run_id)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                *(file.id, version.number, version.hash, version.author, version.message_id, version.call_id),
                *(version.created_at, version.run_id),
            )
        if file.reason is not None:
            yield sql(
                "INSERT INTO upload_text (file_id, text, reason) VALUES (?, ?, ?)", file.id, file.text, file.reason
            )
    yield from sync_files_to_branch(taken.whole.session.id)


@script
def _insert_snapshot(entry: LibraryEntry, user_id: str, now: float) -> Steps[None]:
    """To be opened from the footnotes that lead there, and no more. What is known of it here is left as it is, and it
    does not become what a page has now: nobody here has read it there."""
    reading = entry.reading
    yield from lock_page(reading.url, reading.snapshot_id)
    yield sql(
        "INSERT INTO snapshot (id, text, characters) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
        *(reading.snapshot_id, entry.packed, entry.characters),
    )
    yield sql(
        """
        INSERT INTO reading
            (url, snapshot_id, title, author, published, language, site_name, canonical_url, media_type, fetched_at,
             links, pages, icon, kept_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (url, snapshot_id) DO NOTHING
        """,
        *astuple(reading),
        now,
    )
    yield sql(
        "INSERT INTO shelf (user_id, url) VALUES (?, ?) ON CONFLICT (user_id, url) DO NOTHING", user_id, reading.url
    )


@script
def _check_quota(user_id: str, kept: Sequence[StoredBlob], max_bytes: int) -> Steps[None]:
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
    sizes: dict[str, int] = dict(rows) | {one.hash: one.size for one in kept}
    if kept and (size := sum(sizes.values())) > max_bytes:
        raise LimitReached(
            f"With the files of this bundle your files and their versions would have {size:,} bytes; this server "
            f"allows {max_bytes:,}. Delete files or sessions that you no longer need."
        )
