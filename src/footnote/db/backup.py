"""What a backup is made of: tables and columns by name, each after those that it refers to. How they are read in
portions, and written into a database that has nothing yet."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from footnote.db.script import Either, Row, Rows, Statement, Steps, script, sql, sql_many
from footnote.protocol.errors import Conflict

BATCH_ROWS = 500
BATCH_BYTES = 1024 * 1024
"""About how much of a table is in memory at once; a single row may be larger."""


class BackupTable(Struct, frozen=True):
    """`key` tells its rows apart, and is what they are read by. `large`: columns of bytes, of any size. `numbered`: the
    database itself gives this column the next number."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    large: tuple[str, ...] = ()
    numbered: str | None = None

    def key_of(self, row: Row) -> Row:
        return tuple(row[self.columns.index(name)] for name in self.key)


def _table(name: str, columns: str, key: str, large: str = "", numbered: str | None = None) -> BackupTable:
    return BackupTable(name, tuple(columns.split()), tuple(key.split()), tuple(large.split()), numbered)


TABLES = (
    _table("account", "id name name_key password role disabled created_at", "id"),
    _table("credential", "id user_id kind name hash created_at used_at expires_at", "id"),
    _table("secret", "name value", "name"),
    _table("snapshot", "id text characters", "id", large="text"),
    _table(
        "reading",
        "url snapshot_id title author published language site_name canonical_url media_type fetched_at links pages "
        "icon kept_at",
        "url snapshot_id",
        large="links pages",
    ),
    _table("page", "url snapshot_id kind origin", "url"),
    _table("passage", "id snapshot_id start_offset end_offset", "id", numbered="id"),
    _table("passage_terms", "rowid title text forms", "rowid"),
    _table("library_fact", "name value", "name"),
    _table("shelf", "user_id url", "user_id url"),
    _table("session", "id user_id agent_id title titled origin head created_at changed_at", "id"),
    _table("session_entry", "id session_id part", "id", numbered="id"),
    _table("session_terms", "rowid text", "rowid"),
    _table("question", "id session_id after_run body attachments created_at", "id", large="body attachments"),
    _table(
        "run",
        "number id session_id user_id question_id message_id state asked ending owner fence attempts cancel_wanted "
        "pruned_to created_at ended_at",
        "number",
        large="asked ending",
        numbered="number",
    ),
    _table("run_message", "run_id ordinal blocks body", "run_id ordinal", large="body"),
    _table("run_call", "run_id call_id result", "run_id call_id", large="result"),
    _table("approval", "run_id call_id tool asked_at decision note decided_at", "run_id call_id"),
    _table("standing_approval", "user_id agent_id tool created_at", "user_id agent_id tool"),
    _table("run_events", "id run first_id last_id frames", "id", large="frames", numbered="id"),
    _table("digest", "run_id messages text", "run_id"),
    _table("blob", "hash size place content", "hash", large="content"),
    _table("workspace_file", "session_id path id source created_at message_id current seen plain_url", "id"),
    _table("file_version", "file_id number hash author message_id call_id note created_at run_id", "file_id number"),
    _table("upload_text", "file_id text reason library_url", "file_id", large="text"),
    _table("rendition", "session_id key file_id hash notes created_at", "session_id key", large="notes"),
)

EXCLUDED = {
    "page_cache": "a cache: a page is asked for once more",
    "search_cache": "a cache: a provider is asked once more",
    "passage_vocabulary": "made from passage_terms",
    "loose_place": "what lies in one storage, and nothing needs",
    "owner": "processes that live now",
    "bucket": "how often somebody asked in the last minutes",
    "footnote_format": "which format the database itself has",
    "passage_terms.lexemes": "made from the terms",
    "session_terms.lexemes": "made from the terms",
}
"""Tables and columns that no backup has, each with the reason."""

BLOBS = "blob"


class NotEmpty(Conflict):
    """There is something in the database that somebody may want to keep."""

    type = "not_empty"

    def __init__(self) -> None:
        super().__init__(
            "There are accounts, sessions, tokens or pages already, and a backup is restored into an empty Footnote "
            "alone. Choose an empty home folder with --home, or an empty database with database.url in config.json."
        )


def disable_idle_timeout() -> Either:
    """At the beginning of a transaction in which a disk or a pipe is waited for between its statements."""
    return Either(None, sql("SET LOCAL idle_in_transaction_session_timeout = 0"))


# Reading ---------------------------------------------------------------------------------------------------


@script
def batch_sizes(table: BackupTable, after: Row | None) -> Steps[list[int]]:
    """How many of the next rows to read at once, and then how many, for some of them. Nothing: there are no more."""
    where, values = _keyset(table, after)
    # The length of bytes stands beside them: neither engine reads them for it.
    size = " + ".join(f"coalesce(length({name}), 0)" for name in table.large) or "0"
    sizes = yield sql(f"SELECT {size} FROM {table.name} {where}", *values, BATCH_ROWS)  # noqa: S608 - our own names
    return list(_split_batches(size for (size,) in sizes))


@script
def rows(table: BackupTable, after: Row | None, count: int) -> Steps[Rows]:
    """In the order of their key."""
    where, values = _keyset(table, after)
    columns = ", ".join(table.columns)
    return (yield sql(f"SELECT {columns} FROM {table.name} {where}", *values, count))  # noqa: S608 - our own names


def _keyset(table: BackupTable, after: Row | None) -> tuple[str, Row]:
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
    """`NotEmpty`: there are sessions, accounts, tokens or pages. What a server makes by itself does not count."""
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
    """Removes what a server makes by itself. Places of the storage that are loose stay known."""
    for name in ("page_cache", "search_cache", *(table.name for table in reversed(TABLES))):
        yield sql(f"DELETE FROM {name}")  # noqa: S608 - our own names


def insert(table: BackupTable, columns: Sequence[str], rows: Sequence[Row]) -> Statement:
    """`columns` are some of the table's; the others get what they are without being named."""
    marks = ", ".join("?" for _ in columns)
    return sql_many(f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608 - our own names


def delete_loose_places(places: Iterable[str]) -> Statement:
    """These places have their contents now."""
    return sql_many("DELETE FROM loose_place WHERE place = ?", [(place,) for place in places])


def insert_loose_places(places: Iterable[str], since: float) -> Statement:
    return sql_many("INSERT INTO loose_place (place, since) VALUES (?, ?)", [(place, since) for place in places])


@script
def expire_loose_places(places: Sequence[str]) -> Steps[None]:
    """What is still loose of these may be swept at once."""
    yield sql_many("UPDATE loose_place SET since = 0 WHERE place = ?", [(place,) for place in places])


@script
def delete_content(content_hash: str) -> Steps[None]:
    """Removes the files that had this content, and with the last of them the content."""
    yield sql("DELETE FROM rendition WHERE hash = ?", content_hash)
    yield sql("DELETE FROM workspace_file WHERE id IN (SELECT file_id FROM file_version WHERE hash = ?)", content_hash)


@script
def finish_restore() -> Steps[None]:
    """Numbers go on after those that were taken, and runs that were not finished are anybody's to go on with."""
    for table in TABLES:
        if table.numbered is not None:
            yield _reset_sequence(table.name, table.numbered)
    yield sql("UPDATE run SET owner = NULL, attempts = 0 WHERE state IN ('queued', 'running', 'waiting')")


def _reset_sequence(table: str, column: str) -> Either:
    """SQLite looks for the highest number itself."""
    sequence = f"pg_get_serial_sequence('{table}', '{column}')"
    highest = f"(SELECT max({column}) FROM {table})"  # noqa: S608 - our own names
    return Either(None, sql(f"SELECT setval({sequence}, coalesce({highest}, 1), {highest} IS NOT NULL)"))
