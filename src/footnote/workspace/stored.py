"""The files of a session that is kept."""

import zlib
from collections.abc import AsyncGenerator
from typing import cast
from uuid import uuid4

from footnote.db import files as db
from footnote.db import library, sessions
from footnote.db.blobs import Kept
from footnote.db.engine import Database
from footnote.db.script import Script, Steps, script
from footnote.language.search_terms import file_terms
from footnote.protocol.files import Author, FileOrigin, FileRecord, FileVersion
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import FileMissing, Held, NotText, Outdated, Workspace, Writing
from footnote.workspace.paths import LARGE_RESULTS, UPLOADS
from footnote.workspace.records import record_of

PENDING = "it is still being read"
"""The reason for which an upload has no text yet. It will be read in the background."""


class FilesOfSession:
    """Nobody but its user finds a session here, and nothing is written to one that is gone. `most`: the bytes that all
    files of the user may have."""

    def __init__(self, database: Database, blobs: Blobs, user_id: str, session_id: str, *, most: int | None) -> None:
        self._database = database
        self._blobs = blobs
        self._user_id = user_id
        self._session_id = session_id
        self._most = most

    async def find(self, key: str) -> Held | None:
        row = await self._database.read(db.file(self._user_id, self._session_id, key))
        return None if row is None else self._held(row)

    async def all(self) -> tuple[Held, ...]:
        rows = await self._database.read(db.files(self._user_id, self._session_id))
        return tuple(self._held(row) for row in rows)

    async def versions(self, held: Held) -> tuple[FileVersion, ...]:
        rows = await self._database.read(db.versions(held.record.id))
        if not rows:
            raise _gone(held.record.path)
        return tuple(version_of(row) for row in rows)

    def content(self, version: FileVersion, start: int, end: int | None) -> AsyncGenerator[bytes, None]:
        return self._blobs.stream(version.hash, start, end)

    async def noted(self, key: str, message_id: str | None, call_id: str) -> str | None:
        return await self._database.read(db.noted(self._user_id, self._session_id, key, message_id, call_id))

    async def written_by(self, message_id: str) -> frozenset[str]:
        return await self._database.read(db.written_by(self._user_id, self._session_id, message_id))

    async def add(self, key: str, writing: Writing, basis: FileVersion | None) -> Held:
        file = db.NewFile(str(uuid4()), writing.source, writing.message_id)
        after = None if basis is None else db.Basis(basis.number, basis.hash)
        terms = "" if key.startswith(LARGE_RESULTS) else await file_terms(writing.content)

        async def need(kept: Kept) -> db.FileRow:
            version = db.NewVersion(
                kept=kept,
                author=writing.author,
                created_at=writing.created_at,
                # A user's change belongs to no turn.
                message_id=writing.message_id if writing.author == "agent" else None,
                call_id=writing.call_id,
                note=writing.note,
            )
            script = db.add(self._user_id, self._session_id, key, file, version, basis=after, most=self._most)
            return await self._database.write(_added(script, self._session_id, key, terms))

        try:
            return self._held(await self._blobs.keep_for(writing.content, need))
        except db.Stale:
            raise Outdated from None

    async def see(self, held: Held) -> None:
        await self._database.write(db.see(held.record.id, held.version.number))

    async def text(self, held: Held) -> str | None:
        if not held.key.startswith(UPLOADS):
            return None
        kept = await self._database.read(db.text(held.record.id))
        if kept is None or kept.text is None:
            reason = kept.reason if kept else "its text was not read"
            if reason == PENDING:
                raise NotText(f"{held.record.filename} is still being read: try again in a moment.")
            raise NotText(f"{held.record.filename} has no text to be read: {reason}.")
        return unpacked(kept.text)

    async def remove(self, key: str) -> bool:
        removed = await self._database.write(_removed(self._user_id, self._session_id, key), erase=True)
        await self._blobs.sweep()
        return removed

    def _held(self, row: db.FileRow) -> Held:
        record = stored_record(self._user_id, self._session_id, row, self._blobs.address)
        return Held(row.path, record, version_of(row.version), row.unseen)


@script
def _added(adding: Script[db.FileRow], session_id: str, key: str, terms: str) -> Steps[db.FileRow]:
    """With what the session is found by from now on: the words of the newest version."""
    row = yield from adding
    yield from index_file(session_id, key, terms)
    return row


@script
def index_file(session_id: str, key: str, terms: str) -> Steps[None]:
    part = sessions.file_part(key)
    yield from sessions.enter(session_id, part, terms) if terms else sessions.leave(session_id, part)


@script
def _removed(user_id: str, session_id: str, key: str) -> Steps[bool]:
    """With what the library has of it."""
    urls = yield from db.library_urls(user_id, session_id, key)
    removed = yield from db.remove(user_id, session_id, key)
    if removed:
        yield from sessions.leave(session_id, sessions.file_part(key))
    yield from library.remove_all(urls, user_id)
    return removed


def stored_workspace(
    database: Database, blobs: Blobs, user_id: str, session_id: str, *, most: int | None = None
) -> Workspace:
    """`most`: how many bytes the files of this user may have in all sessions together."""
    return Workspace(FilesOfSession(database, blobs, user_id, session_id, most=most))


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


def packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)


def unpacked(text: bytes) -> str:
    return zlib.decompress(text).decode("utf-8", "surrogatepass")


def _gone(path: str) -> FileMissing:
    return FileMissing(f"There is no file {path} in the workspace.")
