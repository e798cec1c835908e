"""Restores a backup into an empty database and its storage, completely or not at all.

The whole file is verified before anything is written. The contents of large files are written first, to places that are
recorded as loose; then all rows in one transaction, which gives those places to blobs. After a crash, the sweep of a
server removes the loose places.
"""

import asyncio
import io
import logging
import secrets
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from footnote.backup.format import BackupKind, BackupPart, ClosePart, ContentPart, Head, RowsPart, decode, read_parts
from footnote.backup.verify import BackupReport, misplaced_part_error, open_backup, stored_hashes, verify_backup
from footnote.db import backup as db
from footnote.db.engine import Database
from footnote.db.script import Row, Steps, script
from footnote.protocol.errors import FootnoteError
from footnote.storage.base import Storage
from footnote.workspace.blobs import Blobs

SWEPT_AFTER_SECONDS = 7 * 86_400.0
"""The sweep leaves contents that have no row yet alone for this long."""
IN_MEMORY_BYTES = 8 * 1024 * 1024
"""A larger content goes through a temporary file on its way to the storage."""
PUT_CONCURRENCY = 4
_LOOSEN_BATCH = 1000

log = logging.getLogger(__name__)


class RestoreStopped(FootnoteError):
    """The caller was cancelled: the transaction is rolled back."""


async def restore(file: Path, database: Database, storage: Storage) -> BackupReport:
    """Raises `NotEmpty`, `NotABackup` or `BackupDamaged`, without having written anything."""
    checked = await asyncio.to_thread(verify_backup, file)
    await database.read(db.check_empty())
    # A new suffix for each attempt, because a place is never written twice.
    suffix = secrets.token_hex(4)
    places = [_place(content_hash, suffix) for content_hash in checked.contents]
    await database.write(_loosen(places, time.time() + SWEPT_AFTER_SECONDS))
    stopped = threading.Event()
    try:
        await _put_contents(file, storage, suffix)
        await database.write(_put_rows(file, suffix, checked.gone, stopped))
    except (FootnoteError, asyncio.CancelledError):
        stopped.set()
        await _roll_back(places, database, storage)
        raise
    return checked


def _place(content_hash: str, suffix: str) -> str:
    return f"{content_hash[:2]}/{content_hash}.{suffix}"


@script
def _loosen(places: Sequence[str], since: float) -> Steps[None]:
    for start in range(0, len(places), _LOOSEN_BATCH):
        yield db.insert_loose_places(places[start : start + _LOOSEN_BATCH], since)


async def _roll_back(places: list[str], database: Database, storage: Storage) -> None:
    """Removes what was put into the storage, unless all of it was kept in the end."""
    try:
        await database.write(db.expire_loose_places(places))
        await Blobs(database, storage).sweep()
    except FootnoteError as error:
        log.warning("Files that were copied already are not removed from the storage yet: %s", error.message)


# Contents --------------------------------------------------------------------------------------------------


async def _put_contents(file: Path, storage: Storage, suffix: str) -> None:
    """Several at a time, because a bucket has a high latency."""
    with tempfile.TemporaryDirectory(prefix="footnote-restore-") as folder, open_backup(file) as opened:
        contents = _contents(read_parts(opened), Path(folder))
        while some := await asyncio.to_thread(list, islice(contents, PUT_CONCURRENCY)):
            puts = (storage.put(_place(content_hash, suffix), content, content_hash) for content_hash, content in some)
            done = await asyncio.gather(*puts, return_exceptions=True)
            for failure in done:
                if failure is not None:
                    raise failure
            for _, content in some:
                if isinstance(content, Path):
                    content.unlink()


def _contents(every: Iterator[BackupPart], folder: Path) -> Iterator[tuple[str, bytes | Path]]:
    """The contents that are whole, with their hashes."""
    for part in every:
        if part.kind is BackupKind.CONTENT:
            about = decode(part.payload(), ContentPart)
            content = _read_content(every, about, folder)
            if content is not None:
                yield about.hash, content


def _read_content(every: Iterator[BackupPart], about: ContentPart, folder: Path) -> bytes | Path | None:
    """None: the content is not whole."""
    aside = folder / secrets.token_hex(8)
    with io.BytesIO() if about.size <= IN_MEMORY_BYTES else aside.open("xb") as target:
        for part in every:
            if part.kind is BackupKind.CLOSE:
                break
            target.write(part.payload())
        else:
            raise misplaced_part_error()
        whole = decode(part.payload(), ClosePart).state == "whole"
        content = target.getvalue() if isinstance(target, io.BytesIO) else aside
    return content if whole else None


# Rows ------------------------------------------------------------------------------------------------------


@script
def _put_rows(file: Path, suffix: str, gone: Sequence[str], stopped: threading.Event) -> Steps[None]:
    """One transaction of any size: uncommitted rows are on the disk of the database."""
    yield db.disable_idle_timeout()
    yield from db.check_empty()
    yield from db.clear_tables()
    tables = {table.name: table for table in db.TABLES}
    with open_backup(file) as opened:
        for name, columns, rows in _rows(read_parts(opened)):
            if name == db.BLOBS:
                yield db.delete_loose_places(
                    _place(content_hash, suffix) for content_hash in stored_hashes(columns, rows)
                )
                rows = [_relocate(columns, row, suffix) for row in rows]  # noqa: PLW2901 - the same rows at their new places
            yield db.insert(tables[name], columns, rows)
            if stopped.is_set():
                raise RestoreStopped("Nobody waits for it any more.")
    for content_hash in gone:
        yield from db.delete_content(content_hash)
    yield from db.finish_restore()


def _rows(every: Iterator[BackupPart]) -> Iterator[tuple[str, tuple[str, ...], Sequence[Row]]]:
    columns: dict[str, tuple[str, ...]] = {}
    for part in every:
        if part.kind is BackupKind.HEAD:
            columns = decode(part.payload(), Head).tables
        elif part.kind is BackupKind.ROWS:
            found = decode(part.payload(), RowsPart)
            yield found.table, columns[found.table], found.rows


def _relocate(columns: Sequence[str], row: Row, suffix: str) -> Row:
    """The row of a blob with its new place; the place in the backup is ignored."""
    values = dict(zip(columns, row, strict=True))
    if values["place"] is not None:
        values["place"] = _place(values["hash"], suffix)
    return tuple(values.values())
