"""The one thread that writes. What waits when it comes round is committed together: one wait for the disk for all."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, TypeVar

from footnote.db.errors import DatabaseFull
from footnote.db.script import Script
from footnote.db.sqlite.connection import run_script
from footnote.db.sqlite.migrate import roll_back
from footnote.db.sqlite.reserve import Reserve

T = TypeVar("T")

MAX_BATCH = 100
"""Scripts in one transaction: the lock on the file is given up in between."""


class _WriteJob:
    """A script and who waits for it. `erase`: what it deletes must not outlive it in the log beside the file."""

    __slots__ = ("_loop", "erase", "error", "future", "script", "value")

    def __init__(self, script: Script[Any], *, erase: bool) -> None:
        self.script = script
        self.erase = erase
        self.value: Any = None
        self.error: Exception | None = None
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()

    def resolve(self) -> None:
        """Tells the one who waits, in the thread where that is."""
        with suppress(RuntimeError):  # the event loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._set_future)

    def _set_future(self) -> None:
        if self.future.done():  # cancelled
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)


class Writer:
    """Begins with its first script, and opens the database then."""

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
        """What the script returns, once it is on the disk."""
        job = _WriteJob(script, erase=erase)
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run_loop, name="footnote-db-writer", daemon=True)
            self._thread.start()
        return await job.future

    def close(self) -> None:
        """Returns when all that was handed over is written."""
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
        """What waits, at least one job; False: nothing comes after it."""
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
        except Exception as error:  # noqa: BLE001 - it belongs to those who wait, and the thread must live on
            for job in jobs:
                job.error = job.error or error
            # In whatever state the connection is, the next attempt begins afresh.
            self._disconnect()

    def _retry_erasures(self, jobs: list[_WriteJob]) -> None:
        """Deletions that found a full disk are tried once more in the room of the reserve."""
        if self._reserve is None:
            return
        refused = [job for job in jobs if job.erase and isinstance(job.error, DatabaseFull)]
        if refused and self._reserve.release():
            for job in refused:
                job.error = None
            self._write(refused)
        self._reserve.maintain()

    def _run_job(self, job: _WriteJob, connection: sqlite3.Connection) -> None:
        """A script that fails takes back what it did, and nothing of the others."""
        connection.execute("SAVEPOINT job")
        try:
            with self._translate_errors():
                job.value = run_script(job.script, connection)
        except Exception as error:
            job.error = error
            if not connection.in_transaction:  # SQLite has taken back all of it, for instance on a full disk
                raise
            connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")

    def _disconnect(self) -> None:
        if self._connection is not None:
            roll_back(self._connection)
            self._connection.close()
            self._connection = None


def _truncate_wal(connection: sqlite3.Connection) -> None:
    """What was committed stays so if this cannot be done now, for instance because another process reads."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
