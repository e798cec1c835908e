"""The transactions of files: the files of a session, their versions, and the texts of uploads. Scripts that take a user
find nothing in the sessions of other users."""

from collections.abc import Sequence

from msgspec import Struct

from footnote.db.blobs import StoredBlob, ensure_blob
from footnote.db.schema import FILE_VERSION, UPLOAD_TEXT, WORKSPACE_FILE
from footnote.db.script import Row, Rows, Steps, lock, script, sql, sql_for_key_share, sql_many
from footnote.protocol.errors import LimitReached, Unknown


class VersionRow(Struct, frozen=True):
    """A row of the table `file_version` without its file. `run_id`: the last run of the branch in which the version was
    written; None: the version is in every branch."""

    number: int
    hash: str
    author: str
    message_id: str | None
    call_id: str | None
    created_at: str
    run_id: str | None


class ListedVersion(VersionRow, frozen=True):
    """`size`: of its content, in bytes."""

    size: int


class FileRow(Struct, frozen=True):
    """A row of the table `workspace_file`. `current`: the number of the newest version in the active branch; 0: the
    branch does not have the file. `seen`: the number of the newest version that the agent wrote or read. `plain_url`:
    1 if the url names no session, which is so for the first file that its user has at this path."""

    session_id: str
    path: str
    id: str
    source: str
    created_at: str
    message_id: str | None
    current: int
    seen: int
    plain_url: int


class ListedFile(FileRow, frozen=True):
    """A file with its newest version in the active branch. `unseen`: a user wrote a version that the agent has not
    read."""

    version: ListedVersion
    unseen: bool


class NewVersion(Struct, frozen=True, kw_only=True):
    """`note`: the result of the tool call that writes the version, which is returned again if the call is repeated."""

    blob: StoredBlob
    author: str
    created_at: str
    message_id: str | None = None
    call_id: str | None = None
    note: str = ""


class NewFile(Struct, frozen=True):
    """The file to create if there is none at the path. `message_id` is that of the turn that creates it; later turns
    are named in its versions."""

    id: str
    source: str
    message_id: str | None


class BaseVersion(Struct, frozen=True):
    """The version on which a write is based."""

    number: int
    hash: str


class StaleVersion(Exception):
    """The newest version is another one than that on which the write is based."""


_FILE_COLUMN_COUNT = len(FileRow.__struct_fields__)
_VERSION = f"{FILE_VERSION.select_list(VersionRow)}, blob.size"
_FILES = f"""
    SELECT {WORKSPACE_FILE.select_list(FileRow)}, {_VERSION},
        EXISTS (
            SELECT 1 FROM file_version AS later WHERE later.file_id = workspace_file.id
                AND later.number > workspace_file.seen AND later.number <= workspace_file.current
                AND later.author = 'user'
        )
    FROM workspace_file JOIN session ON session.id = workspace_file.session_id
    JOIN file_version ON file_version.file_id = workspace_file.id AND file_version.number = workspace_file.current
    JOIN blob ON blob.hash = file_version.hash
    WHERE session.user_id = ? AND session.id = ?
"""  # noqa: S608 - columns of the schema


# The runs of the active branch; `session` is an expression for the id of the session.
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
def files(user_id: str, session_id: str) -> Steps[list[ListedFile]]:
    """Sorted by path; uploads last, in the order of their upload."""
    rows = yield sql(f"{_FILES} ORDER BY workspace_file.path", user_id, session_id)
    return sorted((_file(row) for row in rows), key=_sort_key)


@script
def has_files(user_id: str, session_id: str) -> Steps[bool]:
    return bool((yield sql(f"{_FILES} LIMIT 1", user_id, session_id)))


def _sort_key(row: ListedFile) -> tuple[bool, str, str]:
    if row.source == "upload":
        return True, row.created_at, row.path.rpartition("/")[2]
    return False, row.path, ""


@script
def file(user_id: str, session_id: str, path: str) -> Steps[ListedFile | None]:
    rows = yield sql(f"{_FILES} AND workspace_file.path = ?", user_id, session_id, path)
    return _file(rows[0]) if rows else None


@script
def session_with_file(user_id: str, path: str) -> Steps[str | None]:
    """The session of the file whose url names none: an upload, or a file with `plain_url`."""
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
def same_upload(user_id: str, session_id: str, name: str, content_hash: str) -> Steps[ListedFile | None]:
    """The upload with this name (including its folders) and this content, if there is one."""
    rows = yield sql(
        f"{_FILES} AND workspace_file.source = 'upload' AND file_version.hash = ?", user_id, session_id, content_hash
    )
    found = (_file(row) for row in rows)
    return next((row for row in found if row.path.split("/", 3)[-1] == name), None)


@script
def versions(file_id: str) -> Steps[list[ListedVersion]]:
    """The versions in the active branch, the newest first."""
    rows = yield sql(
        f"""
        {_BRANCH_OF_FILE}
        SELECT {_VERSION}
        FROM file_version JOIN blob ON blob.hash = file_version.hash
        WHERE file_version.file_id = ? AND {_IN_BRANCH} ORDER BY file_version.number DESC
        """,  # noqa: S608 - our own words
        *(file_id, file_id),
    )
    return [ListedVersion(*row) for row in rows]


@script
def call_note(user_id: str, session_id: str, path: str, message_id: str | None, call_id: str) -> Steps[str | None]:
    """The note of the version that this call wrote; None: it wrote none."""
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
) -> Steps[ListedFile]:
    """Adds a version, and creates the file with the first one. `basis`: None if there must be no such file yet.

    `max_bytes`: how many bytes the files of a user may have together, each content counted once. `LimitReached`: they
    would have more. `StaleVersion`: the newest version is not `basis`.
    """
    yield lock("user", user_id)
    if not (yield sql_for_key_share("SELECT 1 FROM session WHERE user_id = ? AND id = ?", user_id, session_id)):
        raise Unknown("There is no such session, so nothing can be written to it.", code="session_not_found")
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
    # An agent that has not read the version of a user has not read it after a small edit either.
    sees = version.author == "agent" and (known is None or not known.unseen)
    yield sql(
        "UPDATE workspace_file SET current = ?, seen = CASE WHEN ? THEN ? ELSE seen END WHERE id = ?",
        *(number, sees, number, file_id),
    )
    added = yield from file(user_id, session_id, path)
    assert added is not None  # noqa: S101 - it was written two statements ago
    return added


def _last_version(session_id: str, path: str) -> Steps[Rows]:
    """The id and the last version number of the file at a path, even if the active branch does not have it: a new
    version continues both."""
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
    """Sets the current version of each file to the last one in the active branch. Files that were written in other
    branches only are hidden. Uploads are in all branches."""
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
    """Deletes a file with all versions; False: there is no such file."""
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
    """A row of the table `upload_text`. `text` is compressed; None: there is none, and `reason` says why."""

    text: bytes | None
    reason: str
    library_url: str | None = None


@script
def store_text(file_id: str, text: UploadText) -> Steps[None]:
    yield UPLOAD_TEXT.insert(text, file_id=file_id)


@script
def update_text(file_id: str, text: UploadText) -> Steps[bool]:
    """False: the file was deleted, or has a text already."""
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
    """The uploads of all users that have no text for this reason, the oldest first."""
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
    rows = yield UPLOAD_TEXT.select(UploadText, "WHERE file_id = ?", file_id)
    return UploadText(*rows[0]) if rows else None


@script
def library_urls(user_id: str, session_id: str, path: str | None = None) -> Steps[list[str]]:
    """The URLs in the library of the uploads of a session, or of one of them."""
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
    """The URLs in the library of these uploads."""
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
def _check_quota(user_id: str, path: str, blob: StoredBlob, max_bytes: int) -> Steps[None]:
    size = yield from used_bytes(user_id, except_hash=blob.hash)
    if size + blob.size > max_bytes:
        raise LimitReached(
            f"With {path} your files and their versions would have {size + blob.size:,} bytes; this server allows "
            f"{max_bytes:,}. Delete files or sessions that you no longer need.",
            code="storage_limit",
            size=size + blob.size,
            max=max_bytes,
        )


def _file(row: Row) -> ListedFile:
    version = ListedVersion(*row[_FILE_COLUMN_COUNT:-1])
    return ListedFile(*row[:_FILE_COLUMN_COUNT], version=version, unseen=bool(row[-1]))
