"""The files of a session. Every script names its user as well, and finds nothing in a session of somebody else."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from footnote.db.script import Script, sql
from footnote.protocol.errors import LimitReached, Unknown


class FileRow(Struct, frozen=True):
    """All that is kept of a file but its content. `calls` is JSON."""

    path: str
    id: str
    source: str
    created_at: str
    message_id: str | None
    calls: bytes


class FileWithContent(Struct, frozen=True):
    row: FileRow
    content: bytes


_COLUMNS = """
    workspace_file.path, workspace_file.id, workspace_file.source, workspace_file.created_at,
    workspace_file.message_id, workspace_file.calls
"""
_OF = """
    FROM workspace_file JOIN session ON session.id = workspace_file.session_id
    WHERE session.user_id = ? AND session.id = ?
"""


def files(user_id: str, session_id: str) -> Script[list[FileRow]]:
    """By path."""
    rows = yield sql(f"SELECT {_COLUMNS} {_OF} ORDER BY workspace_file.path", user_id, session_id)
    return [FileRow(*row) for row in rows]


def file_row(user_id: str, session_id: str, path: str) -> Script[FileRow | None]:
    rows = yield sql(f"SELECT {_COLUMNS} {_OF} AND workspace_file.path = ?", user_id, session_id, path)
    return FileRow(*rows[0]) if rows else None


def file_size(user_id: str, session_id: str, path: str) -> Script[int | None]:
    rows = yield sql(
        f"SELECT length(workspace_file.content) {_OF} AND workspace_file.path = ?", user_id, session_id, path
    )
    return rows[0][0] if rows else None


def file(user_id: str, session_id: str, path: str) -> Script[FileWithContent | None]:
    rows = yield sql(
        f"SELECT {_COLUMNS}, workspace_file.content {_OF} AND workspace_file.path = ?", user_id, session_id, path
    )
    return _with_content(rows[0]) if rows else None


def rewrite(
    user_id: str,
    session_id: str,
    path: str,
    change: Callable[[FileWithContent | None], FileWithContent],
    *,
    most: int | None,
) -> Script[FileWithContent]:
    """Reads, changes and writes in one transaction. What `change` hands back as it was is not written again.

    `most`: how many bytes the files of a user may have together. `LimitReached`: they would have more.
    """
    if not (yield sql("SELECT 1 FROM session WHERE user_id = ? AND id = ?", user_id, session_id)):
        raise Unknown("There is no such session, so nothing can be written to it.")
    known = yield from file(user_id, session_id, path)
    changed = change(known)
    if changed is known:
        return changed
    growth = len(changed.content) - (len(known.content) if known is not None else 0)
    if most is not None and growth > 0 and (size := (yield from _bytes_of(user_id)) + growth) > most:
        raise LimitReached(
            f"With {path} your files would have {size:,} bytes; this server allows {most:,}. Delete files or sessions "
            "that you no longer need."
        )
    yield sql(
        """
        INSERT INTO workspace_file (path, id, source, created_at, message_id, calls, content, session_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (session_id, path) DO UPDATE
        SET source = excluded.source, message_id = excluded.message_id, calls = excluded.calls,
            content = excluded.content
        """,
        *astuple(changed.row),
        changed.content,
        session_id,
    )
    return changed


def _bytes_of(user_id: str) -> Script[int]:
    ((size,),) = yield sql(
        """
        SELECT coalesce(sum(length(workspace_file.content)), 0)
        FROM session JOIN workspace_file ON workspace_file.session_id = session.id WHERE session.user_id = ?
        """,
        user_id,
    )
    return size


def _with_content(row: tuple[Any, ...]) -> FileWithContent:
    return FileWithContent(FileRow(*row[:-1]), row[-1])
