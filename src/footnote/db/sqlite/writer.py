"""The one thread that writes. What waits when it comes round is committed together: one wait for the disk for all."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, TypeVar

from footnote.db.failures import DatabaseFull
from footnote.db.script import Script
from footnote.db.sqlite.connection import play
from footnote.db.sqlite.migrate import roll_back
from footnote.db.sqlite.reserve import Reserve

T = TypeVar("T")

MOST_AT_ONCE = 100
"""Scripts in one transaction: the lock on the file is given up in between."""


class _Job:
    """A script and who waits for it. `erase`: what it deletes must not outlive it in the log beside the file."""

    __slots__ = ("_loop", "erase", "error", "future", "script", "value")

    def __init__(self, script: Script[Any], *, erase: bool) -> None:
        self.script = script
        self.erase = erase
        self.value: Any = None
        self.error: Exception | None = None
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()

    def settle(self) -> None:
        """Tells the one who waits, in the thread where that is."""
        with suppress(RuntimeError):  # the event loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._set)

    def _set(self) -> None:
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
        in_our_words: Callable[[], AbstractContextManager[None]],
        reserve: Reserve | None = None,
    ) -> None:
        self._connect = connect
        self._reserve = reserve
        self._in_our_words = in_our_words
        self._connection: sqlite3.Connection | None = None
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, script: Script[T], *, erase: bool = False) -> T:
        """What the script returns, once it is on the disk."""
        job = _Job(script, erase=erase)
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="footnote-db-writer", daemon=True)
            self._thread.start()
        return await job.future

    def close(self) -> None:
        """Returns when all that was handed over is written."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        more = True
        while more:
            batch, more = self._next()
            jobs = [job for job in batch if not job.future.cancelled()]
            if jobs:
                self._write(jobs)
                self._make_room(jobs)
            for job in jobs:
                job.settle()
        self._disconnect()

    def _next(self) -> tuple[list[_Job], bool]:
        """What waits, at least one job; False: nothing comes after it."""
        batch: list[_Job] = []
        while len(batch) < MOST_AT_ONCE and not (batch and self._jobs.empty()):
            job = self._jobs.get()
            if job is None:
                return batch, False
            batch.append(job)
        return batch, True

    def _write(self, jobs: list[_Job]) -> None:
        try:
            with self._in_our_words():
                connection = self._connection = self._connection or self._connect()
                connection.execute("BEGIN IMMEDIATE")
                for job in jobs:
                    self._play(job, connection)
                connection.execute("COMMIT")
            if any(job.erase for job in jobs):
                _empty_log(connection)
        except Exception as error:  # noqa: BLE001 - it belongs to those who wait, and the thread must live on
            for job in jobs:
                job.error = job.error or error
            # In whatever state the connection is, the next attempt begins afresh.
            self._disconnect()

    def _make_room(self, jobs: list[_Job]) -> None:
        """Deletions that found a full disk are tried once more in the room of the reserve."""
        if self._reserve is None:
            return
        refused = [job for job in jobs if job.erase and isinstance(job.error, DatabaseFull)]
        if refused and self._reserve.give_up():
            for job in refused:
                job.error = None
            self._write(refused)
        self._reserve.keep()

    def _play(self, job: _Job, connection: sqlite3.Connection) -> None:
        """A script that fails takes back what it did, and nothing of the others."""
        connection.execute("SAVEPOINT job")
        try:
            with self._in_our_words():
                job.value = play(job.script, connection)
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


def _empty_log(connection: sqlite3.Connection) -> None:
    """What was committed stays so if this cannot be done now, for instance because another process reads."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
