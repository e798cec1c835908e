"""The files of a session and their versions. Every script names its user as well, and finds nothing in a session of
somebody else."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from footnote.db.blobs import StoredBlob, ensure_blob
from footnote.db.script import Rows, Steps, lock, script, sql, sql_for_key_share, sql_many
from footnote.protocol.errors import LimitReached, Unknown


class VersionRow(Struct, frozen=True):
    """`run_id`: the run at the end of the branch in which it was written; None: every branch has it."""

    number: int
    hash: str
    size: int
    created_at: str
    author: str
    message_id: str | None
    call_id: str | None
    run_id: str | None = None


class FileRow(Struct, frozen=True):
    """A file with its newest version in the branch that is shown. `unseen`: a user has written one that the agent knows
    nothing of. `plain_url`: of the files that its user has at this path, it is the one whose url names no session."""

    path: str
    id: str
    source: str
    created_at: str
    message_id: str | None
    version: VersionRow
    unseen: bool
    plain_url: bool


class NewVersion(Struct, frozen=True, kw_only=True):
    """`note`: what the call that writes it is told, and is told again should it be carried out again."""

    blob: StoredBlob
    author: str
    created_at: str
    message_id: str | None = None
    call_id: str | None = None
    note: str = ""


class NewFile(Struct, frozen=True):
    """What a file is, should there be none at its path yet. `message_id` is that of the turn that makes it, and
    stays when later turns change the file: their messages stand in its versions."""

    id: str
    source: str
    message_id: str | None


class BaseVersion(Struct, frozen=True):
    """The version that a writer had before them."""

    number: int
    hash: str


class StaleVersion(Exception):
    """The file is no longer what its writer had before them."""


_FILES = """
    SELECT workspace_file.path, workspace_file.id, workspace_file.source, workspace_file.created_at,
        workspace_file.message_id,
        EXISTS (
            SELECT 1 FROM file_version AS later WHERE later.file_id = workspace_file.id
                AND later.number > workspace_file.seen AND later.number <= workspace_file.current
                AND later.author = 'user'
        ),
        workspace_file.plain_url,
        file_version.number, file_version.hash, blob.size, file_version.created_at, file_version.author,
        file_version.message_id, file_version.call_id, file_version.run_id
    FROM workspace_file JOIN session ON session.id = workspace_file.session_id
    JOIN file_version ON file_version.file_id = workspace_file.id AND file_version.number = workspace_file.current
    JOIN blob ON blob.hash = file_version.hash
    WHERE session.user_id = ? AND session.id = ?
"""


# The runs of the branch that a session shows. Filled in with how the session is named.
_BRANCH = """
    WITH RECURSIVE branch (run_id) AS (
        SELECT head FROM session WHERE id = {session} AND head IS NOT NULL
        UNION
        SELECT question.after_run
        FROM branch JOIN run ON run.id = branch.run_id JOIN question ON question.id = run.question_id
        WHERE question.after_run IS NOT NULL
    )
"""
_BRANCH_OF_SESSION = _BRANCH.format(session="?")
_BRANCH_OF_FILE = _BRANCH.format(session="(SELECT session_id FROM workspace_file WHERE id = ?)")
_IN_BRANCH = "(file_version.run_id IS NULL OR file_version.run_id IN (SELECT run_id FROM branch))"


@script
def files(user_id: str, session_id: str) -> Steps[list[FileRow]]:
    """By path; uploads after all others, as they came."""
    rows = yield sql(f"{_FILES} ORDER BY workspace_file.path", user_id, session_id)
    return sorted((_file(row) for row in rows), key=_sort_key)


def _sort_key(row: FileRow) -> tuple[bool, str, str]:
    if row.source == "upload":
        return True, row.created_at, row.path.rpartition("/")[2]
    return False, row.path, ""


@script
def file(user_id: str, session_id: str, path: str) -> Steps[FileRow | None]:
    rows = yield sql(f"{_FILES} AND workspace_file.path = ?", user_id, session_id, path)
    return _file(rows[0]) if rows else None


@script
def session_with_file(user_id: str, path: str) -> Steps[str | None]:
    """The session that a url without one means: that of the upload, or of the file whose url is plain."""
    rows = yield sql(
        """
        SELECT session.id FROM workspace_file JOIN session ON session.id = workspace_file.session_id
        WHERE session.user_id = ? AND workspace_file.path = ?
            AND (workspace_file.plain_url = 1 OR workspace_file.source = 'upload')
        """,
        *(user_id, path),
    )
    return rows[0][0] if rows else None


@script
def same_upload(user_id: str, session_id: str, name: str, content_hash: str) -> Steps[FileRow | None]:
    """The upload of this name, with its folders, that holds this content, if there is one."""
    rows = yield sql(
        f"{_FILES} AND workspace_file.source = 'upload' AND file_version.hash = ?", user_id, session_id, content_hash
    )
    found = (_file(row) for row in rows)
    return next((row for row in found if row.path.split("/", 3)[-1] == name), None)


@script
def versions(file_id: str) -> Steps[list[VersionRow]]:
    """Those of the branch that is shown, the newest first."""
    rows = yield sql(
        f"""
        {_BRANCH_OF_FILE}
        SELECT file_version.number, file_version.hash, blob.size, file_version.created_at, file_version.author,
            file_version.message_id, file_version.call_id, file_version.run_id
        FROM file_version JOIN blob ON blob.hash = file_version.hash
        WHERE file_version.file_id = ? AND {_IN_BRANCH} ORDER BY file_version.number DESC
        """,  # noqa: S608 - our own words
        *(file_id, file_id),
    )
    return [VersionRow(*row) for row in rows]


@script
def call_note(user_id: str, session_id: str, path: str, message_id: str | None, call_id: str) -> Steps[str | None]:
    """What a call that has written the file already was told; None: it has not."""
    rows = yield sql(
        """
        SELECT file_version.note
        FROM session JOIN workspace_file ON workspace_file.session_id = session.id
        JOIN file_version ON file_version.file_id = workspace_file.id
        WHERE session.user_id = ? AND session.id = ? AND workspace_file.path = ?
            AND file_version.message_id = ? AND file_version.call_id = ?
        """,
        *(user_id, session_id, path, message_id, call_id),
    )
    return rows[0][0] if rows else None


@script
def files_written_by(user_id: str, session_id: str, message_id: str) -> Steps[frozenset[str]]:
    """The ids of the files of which a message wrote a version."""
    rows = yield sql(
        """
        SELECT DISTINCT workspace_file.id
        FROM session JOIN workspace_file ON workspace_file.session_id = session.id
        JOIN file_version ON file_version.file_id = workspace_file.id
        WHERE session.user_id = ? AND session.id = ? AND file_version.message_id = ?
        """,
        *(user_id, session_id, message_id),
    )
    return frozenset(file_id for (file_id,) in rows)


@script
def add_version(
    user_id: str,
    session_id: str,
    path: str,
    file_: NewFile,
    version: NewVersion,
    *,
    basis: BaseVersion | None,
    max_bytes: int | None,
) -> Steps[FileRow]:
    """A version, and with the first one the file. `basis` None: there must be no such file yet.

    `max_bytes`: how many bytes the files of a user may have together, each content counted once. `LimitReached`: they
    would have more. `StaleVersion`: the newest version is not `basis`.
    """
    yield lock("user", user_id)
    if not (yield sql_for_key_share("SELECT 1 FROM session WHERE user_id = ? AND id = ?", user_id, session_id)):
        raise Unknown("There is no such session, so nothing can be written to it.")
    known = yield from file(user_id, session_id, path)
    if (None if known is None else BaseVersion(known.version.number, known.version.hash)) != basis:
        raise StaleVersion
    if max_bytes is not None:
        yield from _check_quota(user_id, path, version.blob, max_bytes)
    yield from ensure_blob(version.blob)
    held = yield from _last_version(session_id, path)
    file_id, last = held[0] if held else (file_.id, 0)
    number = last + 1
    if held and known is None:
        yield sql("UPDATE workspace_file SET created_at = ? WHERE id = ?", version.created_at, file_id)
    if not held:
        yield sql(
            """
            INSERT INTO workspace_file (session_id, path, id, source, created_at, message_id, current, seen, plain_url)
            VALUES (?, ?, ?, ?, ?, ?, 1, 0, ?)
            """,
            *(session_id, path, file_id, file_.source, version.created_at, file_.message_id),
            int(file_.source == "generated" and (yield from session_with_file(user_id, path)) is None),
        )
    yield sql(
        """
        INSERT INTO file_version (file_id, number, hash, author, message_id, call_id, note, created_at, run_id)
        SELECT ?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN ? THEN NULL ELSE head END FROM session WHERE id = ?
        """,
        *(file_id, number, version.blob.hash, version.author, version.message_id, version.call_id, version.note),
        *(version.created_at, file_.source == "upload", session_id),
    )
    # Whoever has not seen what a user wrote has not seen it after a small change of their own either.
    sees = version.author == "agent" and (known is None or not known.unseen)
    yield sql(
        "UPDATE workspace_file SET current = ?, seen = CASE WHEN ? THEN ? ELSE seen END WHERE id = ?",
        *(number, sees, number, file_id),
    )
    added = yield from file(user_id, session_id, path)
    assert added is not None  # noqa: S101 - it was written two statements ago
    return added


def _last_version(session_id: str, path: str) -> Steps[Rows]:
    """The id and the last number of the file at a path, also where the branch that is shown does not have it: what is
    written there goes on with both."""
    return (
        yield sql(
            """
            SELECT workspace_file.id, max(file_version.number)
            FROM workspace_file JOIN file_version ON file_version.file_id = workspace_file.id
            WHERE workspace_file.session_id = ? AND workspace_file.path = ? GROUP BY workspace_file.id
            """,
            *(session_id, path),
        )
    )


@script
def sync_files_to_branch(session_id: str) -> Steps[None]:
    """After another branch of a session is shown: each file is what the last version of that branch made of it, and a
    file that was written in other branches alone is not there. Uploads are there in all of them."""
    shown = yield sql(
        f"""
        {_BRANCH_OF_SESSION}
        SELECT min(file_version.number), max(file_version.number), file_version.file_id
        FROM workspace_file JOIN file_version ON file_version.file_id = workspace_file.id
        WHERE workspace_file.session_id = ? AND workspace_file.source = 'generated' AND {_IN_BRANCH}
        GROUP BY file_version.file_id
        """,  # noqa: S608 - our own words
        *(session_id, session_id),
    )
    yield sql("UPDATE workspace_file SET current = 0 WHERE session_id = ? AND source = 'generated'", session_id)
    yield sql_many(
        """
        UPDATE workspace_file SET current = ?, message_id = first.message_id, created_at = first.created_at
        FROM file_version AS first
        WHERE first.file_id = workspace_file.id AND first.number = ? AND workspace_file.id = ?
        """,
        [(newest, oldest, file_id) for oldest, newest, file_id in shown],
    )


@script
def mark_seen(file_id: str, number: int) -> Steps[None]:
    """The agent has read this version."""
    yield sql("UPDATE workspace_file SET seen = ? WHERE id = ? AND seen < ?", number, file_id, number)


@script
def attach(session_id: str, file_ids: Sequence[str], message_id: str) -> Steps[None]:
    """Uploads belong to the message that they first come with."""
    for file_id in file_ids:
        yield sql(
            """
            UPDATE workspace_file SET message_id = ?
            WHERE session_id = ? AND id = ? AND source = 'upload' AND message_id IS NULL
            """,
            *(message_id, session_id, file_id),
        )


@script
def remove(user_id: str, session_id: str, path: str) -> Steps[bool]:
    """With all versions; False: there is no such file."""
    rows = yield sql(
        """
        DELETE FROM workspace_file WHERE path = ?
            AND session_id IN (SELECT id FROM session WHERE user_id = ? AND id = ?)
        RETURNING 1
        """,
        *(path, user_id, session_id),
    )
    return bool(rows)


# The text of uploads ---------------------------------------------------------------------------------------


class UploadText(Struct, frozen=True):
    """`text` is packed; None: there is none, and `reason` says why."""

    text: bytes | None
    reason: str
    library_url: str | None = None


@script
def store_text(file_id: str, text: UploadText) -> Steps[None]:
    yield sql(
        "INSERT INTO upload_text (file_id, text, reason, library_url) VALUES (?, ?, ?, ?)",
        *(file_id, text.text, text.reason, text.library_url),
    )


@script
def update_text(file_id: str, text: UploadText) -> Steps[bool]:
    """False: it is gone, or has a text by now."""
    rows = yield sql(
        "UPDATE upload_text SET text = ?, reason = ? WHERE file_id = ? AND text IS NULL RETURNING 1",
        *(text.text, text.reason, file_id),
    )
    return bool(rows)


class UnreadUpload(Struct, frozen=True):
    user_id: str
    session_id: str
    path: str
    file_id: str


@script
def unread_uploads(reason: str) -> Steps[list[UnreadUpload]]:
    """Those of all users that have no text for this reason, the oldest first."""
    rows = yield sql(
        """
        SELECT session.user_id, session.id, workspace_file.path, workspace_file.id
        FROM upload_text JOIN workspace_file ON workspace_file.id = upload_text.file_id
        JOIN session ON session.id = workspace_file.session_id
        WHERE upload_text.text IS NULL AND upload_text.reason = ?
        ORDER BY workspace_file.created_at, workspace_file.id
        """,
        reason,
    )
    return [UnreadUpload(*row) for row in rows]


@script
def set_library_url(file_id: str, url: str) -> Steps[None]:
    yield sql("UPDATE upload_text SET library_url = ? WHERE file_id = ?", url, file_id)


@script
def text(file_id: str) -> Steps[UploadText | None]:
    rows = yield sql("SELECT text, reason, library_url FROM upload_text WHERE file_id = ?", file_id)
    return UploadText(*rows[0]) if rows else None


@script
def library_urls(user_id: str, session_id: str, path: str | None = None) -> Steps[list[str]]:
    """Where the library has the uploads of a session, or one of them."""
    rows = yield sql(
        """
        SELECT upload_text.library_url
        FROM session JOIN workspace_file ON workspace_file.session_id = session.id
        JOIN upload_text ON upload_text.file_id = workspace_file.id
        WHERE session.user_id = ? AND session.id = ? AND upload_text.library_url IS NOT NULL
            AND (CAST(? AS TEXT) IS NULL OR workspace_file.path = ?)
        """,
        *(user_id, session_id, path, path),
    )
    return [url for (url,) in rows]


@script
def library_urls_by_file(session_id: str, file_ids: Sequence[str]) -> Steps[dict[str, str]]:
    """Where the library has these uploads of a session."""
    rows = yield sql(
        """
        SELECT upload_text.file_id, upload_text.library_url
        FROM workspace_file JOIN upload_text ON upload_text.file_id = workspace_file.id
        WHERE workspace_file.session_id = ? AND upload_text.library_url IS NOT NULL
        """,
        session_id,
    )
    return {file_id: url for file_id, url in rows if file_id in file_ids}


@script
def used_bytes(user_id: str, except_hash: str = "") -> Steps[int]:
    """The bytes of all files of a user, each content counted once; without the one that has the hash `except_hash`."""
    ((size,),) = yield sql(
        """
        SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM blob WHERE hash <> ? AND hash IN (
            SELECT file_version.hash
            FROM session JOIN workspace_file ON workspace_file.session_id = session.id
            JOIN file_version ON file_version.file_id = workspace_file.id
            WHERE session.user_id = ?
        )
        """,
        *(except_hash, user_id),
    )
    return size


@script
def _check_quota(user_id: str, path: str, kept: StoredBlob, max_bytes: int) -> Steps[None]:
    size = yield from used_bytes(user_id, except_hash=kept.hash)
    if size + kept.size > max_bytes:
        raise LimitReached(
            f"With {path} your files and their versions would have {size + kept.size:,} bytes; this server allows "
            f"{max_bytes:,}. Delete files or sessions that you no longer need."
        )


def _file(row: tuple[Any, ...]) -> FileRow:
    path, file_id, source, created_at, message_id, unseen, plain_url, *version = row
    return FileRow(path, file_id, source, created_at, message_id, VersionRow(*version), bool(unseen), bool(plain_url))
