"""The files of a session that is kept."""

from collections.abc import Callable
from typing import cast

import msgspec

from footnote.db import files as db
from footnote.db.engine import Database
from footnote.db.files import FileRow, FileWithContent
from footnote.protocol.files import FileOrigin, FileRecord
from footnote.workspace.files import Rewrite, Stored, Workspace, url_of
from footnote.workspace.icons import icon_of
from footnote.workspace.paths import filename_of

_calls = msgspec.json.Decoder(dict[str, str])


class FilesOfSession:
    """Nobody but its user finds a session here, and nothing is written to one that is gone. `most`: the bytes that all
    files of the user may have."""

    def __init__(self, database: Database, user_id: str, session_id: str, *, most: int | None) -> None:
        self._database = database
        self._user_id = user_id
        self._session_id = session_id
        self._most = most

    async def find(self, key: str) -> Stored | None:
        found = await self._database.read(db.file(self._user_id, self._session_id, key))
        return None if found is None else _stored(self._user_id, found)

    async def rewrite(self, key: str, rewrite: Rewrite) -> Stored:
        change = _on_rows(self._user_id, rewrite)
        script = db.rewrite(self._user_id, self._session_id, key, change, most=self._most)
        return _stored(self._user_id, await self._database.write(script))

    async def record(self, key: str) -> FileRecord | None:
        row = await self._database.read(db.file_row(self._user_id, self._session_id, key))
        return None if row is None else record_of(self._user_id, row)

    async def size(self, key: str) -> int | None:
        return await self._database.read(db.file_size(self._user_id, self._session_id, key))

    async def records(self) -> tuple[FileRecord, ...]:
        rows = await self._database.read(db.files(self._user_id, self._session_id))
        return tuple(record_of(self._user_id, row) for row in rows)


def stored_workspace(database: Database, user_id: str, session_id: str, *, most: int | None = None) -> Workspace:
    """`most`: how many bytes the files of this user may have in all sessions together."""
    return Workspace(user_id, files=FilesOfSession(database, user_id, session_id, most=most))


def record_of(user_id: str, row: FileRow) -> FileRecord:
    filename = filename_of(row.path)
    return FileRecord(
        id=row.id,
        path=row.path,
        filename=filename,
        icon_type=icon_of(filename),
        source=cast("FileOrigin", row.source),
        created_at=row.created_at,
        url=url_of(user_id, row.path),
        message_id=row.message_id,
    )


def _stored(user_id: str, found: FileWithContent) -> Stored:
    return Stored(record_of(user_id, found.row), found.content, _calls.decode(found.row.calls))


def _on_rows(user_id: str, rewrite: Rewrite) -> Callable[[FileWithContent | None], FileWithContent]:
    def change(found: FileWithContent | None) -> FileWithContent:
        known = None if found is None else _stored(user_id, found)
        stored = rewrite(known)
        if found is not None and stored is known:
            return found
        record = stored.record
        calls = msgspec.json.encode(stored.calls)
        row = FileRow(record.path, record.id, record.source, record.created_at, record.message_id, calls)
        return FileWithContent(row, stored.content)

    return change
