"""Creates a backup from database and storage, while the server may go on writing.

All rows are read in one transaction. The contents of large files are copied afterwards: an object is written once and
never changed, so that it can only be deleted meanwhile.
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
from footnote.db.schema import TableSchema
from footnote.db.script import Rows, Steps, script
from footnote.protocol import format_time
from footnote.protocol.errors import UpstreamError
from footnote.storage.base import Storage, StorageFailed


class BackupInterrupted(UpstreamError):
    """The database became unavailable during the backup."""

    type = "backup_interrupted"


class StoredContent(Struct, frozen=True):
    """A content that is in the storage."""

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
    """Passes the bytes of a backup to `write`, chunk by chunk. `footnote` is the version of this program."""
    parts = PartWriter(write)
    parts.begin()
    head = Head(footnote, format_time(time.time()), {table.name: table.backup_columns for table in db.TABLES})
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
    """Writes rows as they are read, in the thread of the driver. `stored`: the contents to be copied afterwards."""

    def __init__(self, parts: PartWriter) -> None:
        self.stored: list[StoredContent] = []
        self.counts: dict[str, int] = {}
        self.is_stopped = False
        self._parts = parts

    def begin(self) -> None:
        """A driver may restart a script, but rows that are already written cannot be taken back."""
        if any(self.counts.values()):
            raise BackupInterrupted(
                "The connection to the database was lost while its rows were read, so there is no backup. Try again."
            )
        self.counts = {table.name: 0 for table in db.TABLES}

    def append_rows(self, table: TableSchema, rows: Rows) -> None:
        if self.is_stopped:
            raise BackupInterrupted("Nobody waits for the backup any more.")
        self.counts[table.name] += len(rows)
        self._parts.add(BackupKind.ROWS, encode(RowsPart(table.name, rows)))
        if table.name == db.BLOBS:
            hash_, size, place = (table.backup_columns.index(name) for name in ("hash", "size", "place"))
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
                after = db.key_of(table, rows[-1])


class _ContentCopy:
    """Copies one content from the storage into the backup."""

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
        """Stops compressing after the first chunk that does not shrink, as those of images."""
        if waiting:
            self._compress = await asyncio.to_thread(
                self._parts.add, BackupKind.CHUNK, bytes(waiting), pack=self._compress
            )
            waiting.clear()

    async def _classify_failure(self, error: StorageFailed) -> State:
        """Why a content could not be read: it was deleted meanwhile, or it is missing. Raises the error again if the
        storage itself is unavailable."""
        lying = await self._database.read(blobs.blob_location(self._stored.hash))
        if lying is None or lying.place != self._stored.place:
            return "gone"
        try:
            await self._storage.check()
        except StorageFailed:
            raise error from None
        return "lost"
