"""The driver of SQLite: a file, or a database in memory.

One thread writes, because SQLite has one writer; scripts that wait at the same time are committed together, with one
wait for the disk. A few other threads read.
"""

import asyncio
import os
import queue
import shutil
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from footnote.db.errors import DatabaseFull
from footnote.db.script import Script
from footnote.db.sqlite.connection import BUSY_SECONDS, open_file, open_memory, roll_back, run_script, translate_errors

T = TypeVar("T")

READERS = 4
NO_CONNECTIONS = (0, 0)
"""A file has no connections to a server."""


# The reserve ------------------------------------------------------------------------------------------------

# SQLite writes every change to its log first, a deletion too, so that on a full disk nothing could be deleted to free
# space. While a disk is nearly full, a file of some megabytes therefore lies beside the database. It is removed for a
# deletion that finds no space, and allocated again before anything else is written.

RESERVE_BYTES = 16 * 1024 * 1024
_LOW_SPACE_BYTES = 256 * 1024 * 1024
"""Free bytes of a disk below which the reserve is allocated. Above four times as much it is removed again."""
_MARGIN_BYTES = 2 * 1024 * 1024
"""Bytes that the reserve leaves free: the pages that a deletion frees inside the database are written again, by way of
its log."""
_MIN_RESERVE_BYTES = 2 * 1024 * 1024
_OPENING_BYTES = 256 * 1024
"""With fewer free bytes a database cannot be opened, because SQLite creates files beside it."""


class Reserve:
    """Only the writer thread uses it. It raises no error of the disk: either there is a reserve, or there is none."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-reserve")

    def maintain(self) -> None:
        """Allocates or removes the reserve, depending on the free space. Called after each commit; takes a
        microsecond."""
        with suppress(OSError):
            free = shutil.disk_usage(self._path.parent).free
            if free > 4 * _LOW_SPACE_BYTES:
                self._path.unlink(missing_ok=True)
            elif free < _LOW_SPACE_BYTES and not self._path.exists():
                size = min(RESERVE_BYTES, free - _MARGIN_BYTES)
                if size >= _MIN_RESERVE_BYTES:
                    self._allocate(size)

    def release_to_open(self) -> bool:
        """Removes the reserve if the disk is too full to open the database. False: there is space, or no reserve."""
        with suppress(OSError):
            return shutil.disk_usage(self._path.parent).free < _OPENING_BYTES and self.release()
        return False

    def release(self) -> bool:
        """Removes the reserve. False: there was none."""
        with suppress(OSError):
            self._path.unlink()
            return True
        return False

    def _allocate(self, size: int) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            # Written, because not every system can allocate room without that.
            for _ in range(size // len(_CHUNK)):
                os.write(descriptor, _CHUNK)
        finally:
            os.close(descriptor)


_CHUNK = bytes(1024 * 1024)


# Writing ----------------------------------------------------------------------------------------------------


MAX_BATCH = 100
"""Scripts in one transaction. Between transactions other processes can lock the file."""


class _WriteJob:
    """A script and the future of its caller. `erase`: deleted data must not stay in the log beside the file."""

    __slots__ = ("_loop", "erase", "error", "future", "script", "value")

    def __init__(self, script: Script[Any], *, erase: bool) -> None:
        self.script = script
        self.erase = erase
        self.value: Any = None
        self.error: Exception | None = None
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()

    def resolve(self) -> None:
        """Sets the future in the thread of its event loop."""
        with suppress(RuntimeError):  # the event loop is closed, so that no caller waits
            self._loop.call_soon_threadsafe(self._set_future)

    def _set_future(self) -> None:
        if self.future.done():  # cancelled
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)


class Writer:
    """The writer thread. It starts, and opens the database, with the first script."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        translate_errors: Callable[[], AbstractContextManager[None]],
        reserve: Reserve | None = None,
    ) -> None:
        self._connect = connect
        self._reserve = reserve
        self._translate_errors = translate_errors
        self._connection: sqlite3.Connection | None = None
        self._jobs: queue.SimpleQueue[_WriteJob | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, script: Script[T], *, erase: bool = False) -> T:
        """Returns the result of the script once it is on the disk."""
        job = _WriteJob(script, erase=erase)
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run_loop, name="footnote-db-writer", daemon=True)
            self._thread.start()
        return await job.future

    def close(self) -> None:
        """Returns when all queued scripts are written."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _run_loop(self) -> None:
        more = True
        while more:
            batch, more = self._next_batch()
            jobs = [job for job in batch if not job.future.cancelled()]
            if jobs:
                self._write(jobs)
                self._retry_erasures(jobs)
            for job in jobs:
                job.resolve()
        self._disconnect()

    def _next_batch(self) -> tuple[list[_WriteJob], bool]:
        """The waiting jobs, at least one; False: the writer was closed."""
        batch: list[_WriteJob] = []
        while len(batch) < MAX_BATCH and not (batch and self._jobs.empty()):
            job = self._jobs.get()
            if job is None:
                return batch, False
            batch.append(job)
        return batch, True

    def _write(self, jobs: list[_WriteJob]) -> None:
        try:
            with self._translate_errors():
                connection = self._connection = self._connection or self._connect()
                connection.execute("BEGIN IMMEDIATE")
                for job in jobs:
                    self._run_job(job, connection)
                connection.execute("COMMIT")
            if any(job.erase for job in jobs):
                _truncate_wal(connection)
        except Exception as error:  # noqa: BLE001 - the callers get it, and the thread must go on
            for job in jobs:
                job.error = job.error or error
            # The state of the connection is unknown, so that the next batch opens a new one.
            self._disconnect()

    def _retry_erasures(self, jobs: list[_WriteJob]) -> None:
        """Retries deletions that found a full disk, in the space of the reserve."""
        if self._reserve is None:
            return
        refused = [job for job in jobs if job.erase and isinstance(job.error, DatabaseFull)]
        if refused and self._reserve.release():
            for job in refused:
                job.error = None
            self._write(refused)
        self._reserve.maintain()

    def _run_job(self, job: _WriteJob, connection: sqlite3.Connection) -> None:
        """A script that fails is rolled back to its savepoint, and the others of the batch are not."""
        connection.execute("SAVEPOINT job")
        try:
            with self._translate_errors():
                job.value = run_script(job.script, connection)
        except Exception as error:
            job.error = error
            if not connection.in_transaction:  # SQLite has rolled back the whole batch, for instance on a full disk
                raise
            connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")

    def _disconnect(self) -> None:
        if self._connection is not None:
            roll_back(self._connection)
            self._connection.close()
            self._connection = None


def _truncate_wal(connection: sqlite3.Connection) -> None:
    """Fails without consequence for what is committed, for instance while another process reads."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


# Drivers ---------------------------------------------------------------------------------------------------


class SqliteFile:
    """A database file. The first script that writes creates it; until then scripts read an empty database."""

    connections = NO_CONNECTIONS

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self._path = path
        self._translate_errors = partial(translate_errors, path, busy_seconds)
        self._busy_seconds = busy_seconds
        self._reserve = Reserve(path)
        self._was_opened = False
        self._writer = Writer(self._open, self._translate_errors, self._reserve)
        self._readers = ThreadPoolExecutor(READERS, "footnote-db-reader")
        self._thread_local = threading.local()
        self._connections: list[sqlite3.Connection] = []

    async def read(self, script: Script[T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, script)

    async def write(self, script: Script[T], *, erase: bool) -> T:
        return await self._writer.run(script, erase=erase)

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._readers.shutdown()
        for connection in self._connections:
            connection.close()

    def _read(self, script: Script[T]) -> T:
        with self._translate_errors():
            connection = self._thread_connection()
            connection.execute("BEGIN")
            try:
                return run_script(script, connection)
            finally:
                roll_back(connection)

    def _open(self) -> sqlite3.Connection:
        # Only the first time: a connection that is opened after a failed write would use up the space for a deletion.
        if self._was_opened or not self._reserve.release_to_open():
            self._was_opened = True
            return open_file(self._path, self._busy_seconds)
        self._was_opened = True
        connection = open_file(self._path, self._busy_seconds)
        self._reserve.maintain()
        return connection

    def _thread_connection(self) -> sqlite3.Connection:
        """The connection of this thread."""
        mine: sqlite3.Connection | None = getattr(self._thread_local, "file", None)
        if mine is not None:
            return mine
        if not self._path.exists():
            return self._empty_connection()
        self._thread_local.file = connection = self._open()
        self._connections.append(connection)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _empty_connection(self) -> sqlite3.Connection:
        """An empty database in memory, to read from while there is no file."""
        empty: sqlite3.Connection | None = getattr(self._thread_local, "empty", None)
        if empty is None:
            self._thread_local.empty = empty = open_memory()
            self._connections.append(empty)
        return empty


class SqliteMemory:
    """A database in memory. It has one connection, so that reads are queued with the writes."""

    connections = NO_CONNECTIONS

    def __init__(self) -> None:
        self._writer = Writer(open_memory, partial(translate_errors, Path("the database in memory"), BUSY_SECONDS))

    async def read(self, script: Script[T]) -> T:
        return await self._writer.run(script)

    async def write(self, script: Script[T], *, erase: bool) -> T:
        return await self._writer.run(script, erase=erase)

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.close)
