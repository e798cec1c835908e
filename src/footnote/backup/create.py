"""From database and storage to one file, while others go on writing.

All rows are those of one moment. The contents of large files are copied after it: each is written once and never
changed, so that the only thing that can happen to one meanwhile is that it is deleted.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from contextlib import aclosing

from msgspec import Struct

from footnote.backup.format import (
    CHUNK_BYTES,
    BackupEnd,
    BackupKind,
    ClosePart,
    ContentPart,
    Head,
    PartWriter,
    RowsPart,
    State,
    encode,
)
from footnote.db import backup as db
from footnote.db import blobs
from footnote.db.engine import Database
from footnote.db.script import Rows, Steps, script
from footnote.protocol.errors import UpstreamError
from footnote.protocol.times import format_time
from footnote.storage.base import Storage, StorageFailed


class BackupInterrupted(UpstreamError):
    """The database went away in the middle."""

    type = "backup_interrupted"


class StoredContent(Struct, frozen=True):
    """A content that lies in the storage."""

    hash: str
    size: int
    place: str


class CreatedBackup(Struct, frozen=True):
    """`bytes`: those of the backup."""

    end: BackupEnd
    bytes: int


async def create_backup(
    database: Database, storage: Storage, write: Callable[[bytes], object], footnote: str
) -> CreatedBackup:
    """Hands all bytes of a backup to `write`, one piece after the other. `footnote` is our version."""
    parts = PartWriter(write)
    parts.begin()
    head = Head(footnote, format_time(time.time()), {table.name: table.columns for table in db.TABLES})
    parts.add(BackupKind.HEAD, encode(head))
    taking = _RowCollector(parts)
    try:
        await database.read(_read_all_rows(taking))
    except asyncio.CancelledError:
        taking.is_stopped = True
        raise
    tally = dict.fromkeys(("whole", "gone", "lost"), 0)
    size = 0
    for stored in taking.stored:
        state = await _ContentCopy(database, storage, parts, stored).copy()
        tally[state] += 1
        size += stored.size if state == "whole" else 0
    end = BackupEnd(taking.counts, contents=tally["whole"], bytes=size, gone=tally["gone"], lost=tally["lost"])
    parts.add(BackupKind.END, encode(end))
    return CreatedBackup(end, parts.bytes)


class _RowCollector:
    """Takes rows as they are read, in whatever thread that is. `stored`: the contents to be copied afterwards."""

    def __init__(self, parts: PartWriter) -> None:
        self.stored: list[StoredContent] = []
        self.counts: dict[str, int] = {}
        self.is_stopped = False
        self._parts = parts

    def begin(self) -> None:
        """A driver may begin a script again. What was handed out by then cannot be taken back."""
        if any(self.counts.values()):
            raise BackupInterrupted(
                "The connection to the database was lost while its rows were read, so there is no backup. Try again."
            )
        self.counts = {table.name: 0 for table in db.TABLES}

    def append_rows(self, table: db.BackupTable, rows: Rows) -> None:
        if self.is_stopped:
            raise BackupInterrupted("Nobody waits for the backup any more.")
        self.counts[table.name] += len(rows)
        self._parts.add(BackupKind.ROWS, encode(RowsPart(table.name, rows)))
        if table.name == db.BLOBS:
            hash_, size, place = (table.columns.index(name) for name in ("hash", "size", "place"))
            self.stored += [StoredContent(row[hash_], row[size], row[place]) for row in rows if row[place] is not None]


@script
def _read_all_rows(taking: _RowCollector) -> Steps[None]:
    taking.begin()
    yield db.disable_idle_timeout()
    for table in db.TABLES:
        after = None
        while portions := (yield from db.batch_sizes(table, after)):
            for count in portions:
                rows = yield from db.rows(table, after, count)
                taking.append_rows(table, rows)
                after = table.key_of(rows[-1])


class _ContentCopy:
    """One content, from the storage into the backup."""

    def __init__(self, database: Database, storage: Storage, parts: PartWriter, stored: StoredContent) -> None:
        self._database = database
        self._storage = storage
        self._parts = parts
        self._stored = stored
        self._compress = True

    async def copy(self) -> State:
        self._parts.add(BackupKind.CONTENT, encode(ContentPart(self._stored.hash, self._stored.size)), pack=False)
        state = await self._copy_chunks()
        self._parts.add(BackupKind.CLOSE, encode(ClosePart(state)), pack=False)
        return state

    async def _copy_chunks(self) -> State:
        digest = hashlib.sha256()
        waiting = bytearray()
        try:
            async with aclosing(self._storage.read(self._stored.place)) as pieces:
                async for piece in pieces:
                    digest.update(piece)
                    waiting += piece
                    if len(waiting) >= CHUNK_BYTES:
                        await self._add(waiting)
            await self._add(waiting)
        except StorageFailed as error:
            return await self._classify_failure(error)
        return "whole" if digest.hexdigest() == self._stored.hash else "lost"

    async def _add(self, waiting: bytearray) -> None:
        """What does not become smaller, such as an image, is not tried again piece by piece."""
        if waiting:
            self._compress = await asyncio.to_thread(
                self._parts.add, BackupKind.CHUNK, bytes(waiting), pack=self._compress
            )
            waiting.clear()

    async def _classify_failure(self, error: StorageFailed) -> State:
        """Why a content could not be read: nothing needs it any more, or it should be there and is not. The error is
        raised again where the storage itself is at fault."""
        lying = await self._database.read(blobs.blob_location(self._stored.hash))
        if lying is None or lying.place != self._stored.place:
            return "gone"
        try:
            await self._storage.check()
        except StorageFailed:
            raise error from None
        return "lost"
