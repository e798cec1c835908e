"""The transactions of backups: every table is read in batches of rows, and inserted into an empty database."""

from collections.abc import Iterable, Iterator, Sequence

from footnote.db import schema
from footnote.db.schema import TableSchema
from footnote.db.script import Either, Row, Rows, Statement, Steps, script, sql, sql_many
from footnote.protocol.errors import Conflict

BATCH_ROWS = 500
BATCH_BYTES = 1024 * 1024
"""About how much of a table is in memory at once; a single row may be larger."""


TABLES = tuple(table for table in schema.TABLES if table.no_backup is None)
"""The tables of a backup; of each the columns `backup_columns`."""

BLOBS = schema.BLOB.name


class NotEmpty(Conflict):
    """The database has data that a restore would replace."""

    type = "not_empty"

    def __init__(self) -> None:
        super().__init__(
            "There are accounts, sessions, tokens or pages already, and a backup is restored into an empty Footnote "
            "alone. Choose an empty home folder with --home, or an empty database with database.url in config.json."
        )


def disable_idle_timeout() -> Either:
    """The first statement of a transaction that waits for a disk or a pipe between its statements."""
    return Either(None, sql("SET LOCAL idle_in_transaction_session_timeout = 0"))


# Reading ---------------------------------------------------------------------------------------------------


@script
def batch_sizes(table: TableSchema, after: Row | None) -> Steps[list[int]]:
    """The sizes of the next batches, in rows. Empty: there are no more rows."""
    where, values = _keyset(table, after)
    # Neither engine reads a value of bytes to know its length.
    large = [column.name for column in table.columns if column.type is bytes]
    size = " + ".join(f"coalesce(length({name}), 0)" for name in large) or "0"
    sizes = yield sql(f"SELECT {size} FROM {table.name} {where}", *values, BATCH_ROWS)  # noqa: S608 - our own names
    return list(_split_batches(size for (size,) in sizes))


@script
def rows(table: TableSchema, after: Row | None, count: int) -> Steps[Rows]:
    """The next rows in the order of their key."""
    where, values = _keyset(table, after)
    columns = ", ".join(table.backup_columns)
    return (yield sql(f"SELECT {columns} FROM {table.name} {where}", *values, count))  # noqa: S608 - our own names


def key_of(table: TableSchema, row: Row) -> Row:
    """The key of a row that `rows` returned."""
    return tuple(row[table.backup_columns.index(name)] for name in table.key)


def _keyset(table: TableSchema, after: Row | None) -> tuple[str, Row]:
    key = ", ".join(table.key)
    if after is None:
        return f"ORDER BY {key} LIMIT ?", ()
    marks = ", ".join("?" for _ in table.key)
    return f"WHERE ({key}) > ({marks}) ORDER BY {key} LIMIT ?", after


def _split_batches(sizes: Iterable[int]) -> Iterator[int]:
    count = total = 0
    for size in sizes:
        if count and total + size > BATCH_BYTES:
            yield count
            count = total = 0
        count += 1
        total += size
    if count:
        yield count


# Writing ---------------------------------------------------------------------------------------------------


@script
def check_empty() -> Steps[None]:
    """Raises `NotEmpty` if there are sessions, accounts, tokens or pages. Rows that a server creates by itself do not
    count."""
    ((found,),) = yield sql(
        """
        SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM account WHERE id <> 'local')
            + (SELECT count(*) FROM credential WHERE kind = 'token')
            + (SELECT count(*) FROM page WHERE kind <> 'documentation')
        """
    )
    if found:
        raise NotEmpty


@script
def clear_tables() -> Steps[None]:
    """Deletes the rows that a server creates by itself. Loose places stay, so that the sweep removes their objects."""
    for table in (schema.PAGE_CACHE, schema.SEARCH_CACHE, *reversed(TABLES)):
        yield sql(f"DELETE FROM {table.name}")  # noqa: S608 - our own names


def insert(table: TableSchema, columns: Sequence[str], rows: Sequence[Row]) -> Statement:
    """`columns` are some of the table's; the others get their default values."""
    marks = ", ".join("?" for _ in columns)
    return sql_many(f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608 - our own names


def delete_loose_places(places: Iterable[str]) -> Statement:
    """The places are referenced by blobs now."""
    return sql_many("DELETE FROM loose_place WHERE place = ?", [(place,) for place in places])


def insert_loose_places(places: Iterable[str], since: float) -> Statement:
    return sql_many("INSERT INTO loose_place (place, since) VALUES (?, ?)", [(place, since) for place in places])


@script
def expire_loose_places(places: Sequence[str]) -> Steps[None]:
    """The next sweep removes those of the places that are still loose."""
    yield sql_many("UPDATE loose_place SET since = 0 WHERE place = ?", [(place,) for place in places])


@script
def delete_content(content_hash: str) -> Steps[None]:
    """Deletes the files that have this content; the content itself is deleted with the last of them."""
    yield sql("DELETE FROM rendition WHERE hash = ?", content_hash)
    yield sql("DELETE FROM workspace_file WHERE id IN (SELECT file_id FROM file_version WHERE hash = ?)", content_hash)


@script
def finish_restore() -> Steps[None]:
    """Sequences continue after the highest number. Unfinished runs get no owner, so that any process adopts them."""
    for table in TABLES:
        for column in table.columns:
            if column.numbered:
                yield _reset_sequence(table.name, column.name)
    yield sql("UPDATE run SET owner = NULL, attempts = 0 WHERE state IN ('queued', 'running', 'waiting')")


def _reset_sequence(table: str, column: str) -> Either:
    """SQLite itself continues after the highest number."""
    sequence = f"pg_get_serial_sequence('{table}', '{column}')"
    highest = f"(SELECT max({column}) FROM {table})"  # noqa: S608 - our own names
    return Either(None, sql(f"SELECT setval({sequence}, coalesce({highest}, 1), {highest} IS NOT NULL)"))
