"""Brings a database up to the newest format, forward from any earlier one."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import suppress

from footnote.db.errors import DatabaseForeign
from footnote.db.migrations import load_migrations

APPLICATION_ID = 0x466F6F74
"""`Foot`, in the header of the file: a database with another mark, or with none and tables in it, is not ours."""


def format_of(connection: sqlite3.Connection, name: str) -> int:
    """The number of the last migration. Looked at before anything is changed: the file may be somebody else's."""
    # On one state of the file: another connection may be making its tables at this moment.
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
    """Applies what is missing after step `number`, all or nothing; of several processes, one does it and the others
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
    """Ends the transaction, if SQLite has not done so already, as it does when the disk is full."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _statements(text: str) -> Iterator[str]:
    """One by one: sqlite3's own way to run several at once commits first."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
