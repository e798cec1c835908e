"""The files of a session that is kept."""

import zlib
from collections.abc import AsyncGenerator
from typing import cast
from uuid import uuid4

from footnote.db import files as db
from footnote.db import library, sessions
from footnote.db.blobs import StoredBlob
from footnote.db.engine import Database
from footnote.db.script import Script, Steps, script
from footnote.protocol.files import Author, FileOrigin, FileRecord, FileVersion
from footnote.text.search_terms import file_terms
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import CurrentFile, FileMissing, FileWrite, NotText, OutdatedVersion, Workspace
from footnote.workspace.paths import LARGE_RESULTS, UPLOADS
from footnote.workspace.records import record_of

PENDING = "it is still being read"
"""The reason for which an upload has no text yet. It will be read in the background."""


class FilesOfSession:
    """Nobody but its user finds a session here, and nothing is written to one that is gone. `most`: the bytes that all
    files of the user may have."""

    def __init__(
        self, database: Database, blobs: Blobs, user_id: str, session_id: str, *, max_bytes: int | None
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._user_id = user_id
        self._session_id = session_id
        self._max_bytes = max_bytes

    async def find(self, key: str) -> CurrentFile | None:
        row = await self._database.read(db.file(self._user_id, self._session_id, key))
        return None if row is None else self._to_held(row)

    async def all(self) -> tuple[CurrentFile, ...]:
        rows = await self._database.read(db.files(self._user_id, self._session_id))
        return tuple(self._to_held(row) for row in rows)

    async def versions(self, held: CurrentFile) -> tuple[FileVersion, ...]:
        rows = await self._database.read(db.versions(held.record.id))
        if not rows:
            raise _missing_error(held.record.path)
        return tuple(version_of(row) for row in rows)

    def content(self, version: FileVersion, start: int, end: int | None) -> AsyncGenerator[bytes, None]:
        return self._blobs.stream(version.hash, start, end)

    async def call_note(self, key: str, message_id: str | None, call_id: str) -> str | None:
        return await self._database.read(db.call_note(self._user_id, self._session_id, key, message_id, call_id))

    async def changed_file_ids(self, message_id: str) -> frozenset[str]:
        return await self._database.read(db.files_written_by(self._user_id, self._session_id, message_id))

    async def add(self, key: str, writing: FileWrite, basis: FileVersion | None) -> CurrentFile:
        file = db.NewFile(str(uuid4()), writing.source, writing.message_id)
        after = None if basis is None else db.BaseVersion(basis.number, basis.hash)
        terms = "" if key.startswith(LARGE_RESULTS) else await file_terms(writing.content)

        async def need(kept: StoredBlob) -> db.FileRow:
            version = db.NewVersion(
                blob=kept,
                author=writing.author,
                created_at=writing.created_at,
                # A user's change belongs to no turn.
                message_id=writing.message_id if writing.author == "agent" else None,
                call_id=writing.call_id,
                note=writing.note,
            )
            script = db.add_version(
                self._user_id, self._session_id, key, file, version, basis=after, max_bytes=self._max_bytes
            )
            return await self._database.write(_add_and_index(script, self._session_id, key, terms))

        try:
            return self._to_held(await self._blobs.store_for(writing.content, need))
        except db.StaleVersion:
            raise OutdatedVersion from None

    async def mark_seen(self, held: CurrentFile) -> None:
        await self._database.write(db.mark_seen(held.record.id, held.version.number))

    async def text(self, held: CurrentFile) -> str | None:
        if not held.key.startswith(UPLOADS):
            return None
        kept = await self._database.read(db.text(held.record.id))
        if kept is None or kept.text is None:
            reason = kept.reason if kept else "its text was not read"
            if reason == PENDING:
                raise NotText(f"{held.record.filename} is still being read: try again in a moment.")
            raise NotText(f"{held.record.filename} has no text to be read: {reason}.")
        return decompress_text(kept.text)

    async def remove(self, key: str) -> bool:
        removed = await self._database.write(_remove_and_unindex(self._user_id, self._session_id, key), erase=True)
        await self._blobs.sweep()
        return removed

    def _to_held(self, row: db.FileRow) -> CurrentFile:
        record = stored_record(self._user_id, self._session_id, row, self._blobs.address)
        return CurrentFile(row.path, record, version_of(row.version), row.unseen)


@script
def _add_and_index(adding: Script[db.FileRow], session_id: str, key: str, terms: str) -> Steps[db.FileRow]:
    """With what the session is found by from now on: the words of the newest version."""
    row = yield from adding
    yield from index_file(session_id, key, terms)
    return row


@script
def index_file(session_id: str, key: str, terms: str) -> Steps[None]:
    part = sessions.file_part(key)
    yield from sessions.index_part(session_id, part, terms) if terms else sessions.unindex_part(session_id, part)


@script
def _remove_and_unindex(user_id: str, session_id: str, key: str) -> Steps[bool]:
    """With what the library has of it."""
    urls = yield from db.library_urls(user_id, session_id, key)
    removed = yield from db.remove(user_id, session_id, key)
    if removed:
        yield from sessions.unindex_part(session_id, sessions.file_part(key))
    yield from library.remove_all_from_shelf(urls, user_id)
    return removed


def stored_workspace(
    database: Database, blobs: Blobs, user_id: str, session_id: str, *, max_bytes: int | None = None
) -> Workspace:
    """`most`: how many bytes the files of this user may have in all sessions together."""
    return Workspace(FilesOfSession(database, blobs, user_id, session_id, max_bytes=max_bytes))


def stored_record(user_id: str, session_id: str, row: db.FileRow, address: str) -> FileRecord:
    return record_of(
        user_id,
        None if row.plain_url else session_id,
        row.path,
        file_id=row.id,
        source=cast("FileOrigin", row.source),
        created_at=row.created_at,
        message_id=row.message_id,
        address=address,
    )


def version_of(row: db.VersionRow) -> FileVersion:
    author = cast("Author", row.author)
    return FileVersion(row.number, row.hash, row.size, row.created_at, author, row.message_id, row.call_id)


def compress_text(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)


def decompress_text(text: bytes) -> str:
    return zlib.decompress(text).decode("utf-8", "surrogatepass")


def _missing_error(path: str) -> FileMissing:
    return FileMissing(f"There is no file {path} in the workspace.")
