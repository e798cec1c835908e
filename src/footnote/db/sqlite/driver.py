"""What `Database` drives: a file, or a database in memory."""

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from footnote.db.script import Script
from footnote.db.sqlite.connection import BUSY_SECONDS, open_file, open_memory, run_script, translate_errors
from footnote.db.sqlite.migrate import roll_back
from footnote.db.sqlite.reserve import Reserve
from footnote.db.sqlite.writer import Writer

T = TypeVar("T")

READERS = 4
NO_CONNECTIONS = (0, 0)
"""To a server: a file has none."""


class SqliteFile:
    """One file. It is made by the first script that writes; until then a script that reads finds nothing."""

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
        # The first time alone: a connection that is made anew after a write failed would take the room of a deletion.
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
        """An empty database, to read from while there is no file."""
        empty: sqlite3.Connection | None = getattr(self._thread_local, "empty", None)
        if empty is None:
            self._thread_local.empty = empty = open_memory()
            self._connections.append(empty)
        return empty


class SqliteMemory:
    """A database in memory. It has one connection, so what reads waits its turn as well."""

    connections = NO_CONNECTIONS

    def __init__(self) -> None:
        self._writer = Writer(open_memory, partial(translate_errors, Path("the database in memory"), BUSY_SECONDS))

    async def read(self, script: Script[T]) -> T:
        return await self._writer.run(script)

    async def write(self, script: Script[T], *, erase: bool) -> T:
        return await self._writer.run(script, erase=erase)

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.close)
