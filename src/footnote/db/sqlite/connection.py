"""Connections to SQLite, scripts played on them, and its errors in our words."""

import errno
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from footnote.db.errors import DatabaseBroken, DatabaseFailed, DatabaseFull, DatabaseLocked, DatabaseUnwritable
from footnote.db.script import Either, Rows, Script, Statement
from footnote.db.sqlite.migrate import format_of, migrate

T = TypeVar("T")

BUSY_SECONDS = 5.0
"""How long a process waits for another one that writes."""
_WAL_BYTES = 16 * 1024 * 1024
_WAL_INDEX_BYTES = 64 * 1024
"""More than SQLite's log and its index need at their beginning."""
# FULL: a commit is on the disk before it counts as done. With NORMAL, a power cut takes the last ones away.
_PRAGMAS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA journal_size_limit = {_WAL_BYTES}",
)
_RETRY_SECONDS = 0.02
_create_lock = threading.Lock()


def open_file(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """A connection to the file, which is made if there is none, in the newest format."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _create_file(path)
    connection = _connect(path, busy_seconds)
    try:
        number = format_of(connection, str(path))
        _enable_wal(connection, busy_seconds)
        for setting in _PRAGMAS:
            connection.execute(setting)
        migrate(connection, number, str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def _create_file(path: Path) -> None:
    """Nobody else's from its first moment; SQLite gives the files beside it the same mode.

    Only where there is none: to close any descriptor of a file gives up every lock that this process has on it, and
    another one would then take away the log from under those that still write to it.
    """
    with _create_lock:
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def open_memory() -> sqlite3.Connection:
    """A database of this connection alone, gone with it."""
    connection = _connect(":memory:", BUSY_SECONDS)
    connection.execute("PRAGMA foreign_keys = ON")
    migrate(connection, 0, "the database in memory")
    return connection


def run_script(script: Script[T], connection: sqlite3.Connection) -> T:
    """Runs the statements of a script, inside whatever transaction there is."""
    steps = iter(script)
    try:
        statement = next(steps)
        while True:
            statement = steps.send(_rows(statement, connection))
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


@contextmanager
def translate_errors(path: Path, busy_seconds: float) -> Generator[None, None, None]:
    """Neither an error of sqlite3 nor a bare OSError leaves this package."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path, busy_seconds) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DatabaseFull(str(path)) from error
        raise DatabaseUnwritable(str(path), error.strerror or type(error).__name__) from error


def _translate(error: sqlite3.Error, path: Path, busy_seconds: float) -> DatabaseFailed:
    name = str(path)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the higher bits are details
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return DatabaseLocked(name, busy_seconds)
        case sqlite3.SQLITE_FULL:
            return DatabaseFull(name)
        case sqlite3.SQLITE_IOERR if _is_disk_full(path):
            return DatabaseFull(name)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_AUTH:
            return DatabaseUnwritable(name, str(error))
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return DatabaseBroken(name, str(error))
        case _:
            return DatabaseFailed(f"{name} could not be used: {error}. `footnote doctor` looks at disk and folder.")


def _is_disk_full(path: Path) -> bool:
    """Where SQLite finds no room for the index of its log, it tells of an error of the disk and no more."""
    try:
        return shutil.disk_usage(path.parent).free < _WAL_INDEX_BYTES
    except OSError:
        return False


def _connect(where: Path | str, busy_seconds: float) -> sqlite3.Connection:
    # Handed from the thread that uses it to the one that closes it, never used by two at once.
    return sqlite3.connect(where, timeout=busy_seconds, isolation_level=None, check_same_thread=False)


def _rows(statement: Statement | Either | None, connection: sqlite3.Connection) -> Rows:
    if isinstance(statement, Either):
        statement = statement.sqlite
    if statement is None:
        return []
    if statement.many is not None:
        return connection.executemany(statement.text, statement.many).fetchall()
    return connection.execute(statement.text, statement.values).fetchall()


def _enable_wal(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """Readers and the writer do not wait for each other then. Where a file system cannot do it, all else works."""
    last = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # Two processes with the same new file: SQLite does not wait for this lock by itself.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > last:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return
