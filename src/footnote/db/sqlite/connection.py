"""Connections to SQLite: opens a file, migrates it, runs scripts, and translates errors."""

import errno
import hashlib
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from footnote.db.errors import (
    DatabaseBroken,
    DatabaseFailed,
    DatabaseForeign,
    DatabaseFull,
    DatabaseLocked,
    DatabaseUnwritable,
)
from footnote.db.schema import load_migrations
from footnote.db.script import Either, Rows, Script, Statement

T = TypeVar("T")

BUSY_SECONDS = 5.0
"""How long a process waits for the write lock of another."""
_WAL_BYTES = 16 * 1024 * 1024
_WAL_INDEX_BYTES = 64 * 1024
"""More than SQLite's log and its index need when they are created."""
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
    """A connection to the file, which is created or migrated to the newest format if need be."""
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
    """Creates the file with the mode 0600; SQLite gives the files beside it the same mode.

    An existing file is not opened: closing any descriptor of a file releases every lock that this process has on it,
    and another process would then remove the log while it is still written.
    """
    with _create_lock:
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def open_memory() -> sqlite3.Connection:
    """A database that belongs to this connection and is lost with it."""
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
    """Raises `DatabaseFailed` for every error of sqlite3 and every OSError."""
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
    """SQLite reports an I/O error if there is no space for the index of its log."""
    try:
        return shutil.disk_usage(path.parent).free < _WAL_INDEX_BYTES
    except OSError:
        return False


def _connect(where: Path | str, busy_seconds: float) -> sqlite3.Connection:
    # Another thread closes the connection than uses it, but never two at once.
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
    """With WAL, readers and the writer do not wait for each other. Some file systems do not support it: there, they
    do."""
    last = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # Two processes create the same file: for this lock SQLite itself does not wait.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > last:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


# Migrations -------------------------------------------------------------------------------------------------


APPLICATION_ID = 0x466F6F74
"""`Foot`, in the header of the file. A database that has tables and another id belongs to another program."""


def format_of(connection: sqlite3.Connection, name: str) -> int:
    """The number of the last migration. Raises `DatabaseForeign`, before anything is changed, if the file belongs to
    another program."""
    # In one transaction, because another connection may be creating the tables.
    connection.execute("BEGIN")
    try:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        (number,) = connection.execute("PRAGMA user_version").fetchone()
    finally:
        roll_back(connection)
    if tables and mark != APPLICATION_ID:
        raise DatabaseForeign(
            f"{name} is a database of another program, and was left as it is. Choose another file with database.url "
            "in config.json."
        )
    return number


def migrate(connection: sqlite3.Connection, number: int, name: str) -> None:
    """Applies the migrations after `number` in one transaction. Of several processes, one does it and the others
    wait."""
    known = load_migrations("sqlite")
    if number == len(known):
        return
    connection.create_function("sha256_hex", 1, _sha256, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    try:
        (number,) = connection.execute("PRAGMA user_version").fetchone()
        if number > len(known):
            raise DatabaseForeign(
                f"{name} was written by a newer Footnote (format {number}; this one knows {len(known)}). Upgrade "
                "Footnote, or choose another file with database.url in config.json."
            )
        for step in known[number:]:
            for statement in _statements(step.text):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(known)}")
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def roll_back(connection: sqlite3.Connection) -> None:
    """Ends the transaction, unless SQLite has already done so, as on a full disk."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _statements(text: str) -> Iterator[str]:
    """The single statements of a migration: `executescript` would commit before it runs them."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
