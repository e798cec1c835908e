"""Every table and column of a database, described once. The migrations create the tables, and say what each is for.

Backups take their tables and columns from here. A row type gets the SQL that reads and writes it from the names of its
fields: `SESSION.select(SessionRow, "WHERE id = ?", session_id)` and `SESSION.insert(row)`. A test compares this
description with the tables that the migrations of both engines create.
"""

import re
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from footnote.db.script import Statement, sql

Engine: TypeAlias = Literal["sqlite", "postgresql"]


class Column(Struct, frozen=True):
    """`key`: part of the key by which rows are told apart. `null`: may be NULL. `numbered`: the database assigns the
    next number. `only_in`: the engine that has the column, if the other has not. `no_backup`: why backups omit it."""

    name: str
    type: type[int] | type[float] | type[str] | type[bytes]
    key: bool = False
    null: bool = False
    numbered: bool = False
    only_in: Engine | None = None
    no_backup: str | None = None


class TableSchema(Struct, frozen=True):
    name: str
    columns: tuple[Column, ...]
    only_in: Engine | None = None
    no_backup: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.key)

    @property
    def backup_columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.no_backup is None)

    def select_list(self, row: type[Struct], alias: str | None = None) -> str:
        """The columns that fill a row type, in the order of its fields. `alias`: of the table in the statement."""
        return ", ".join(f"{alias or self.name}.{name}" for name in self._checked(row.__struct_fields__))

    def select(self, row: type[Struct], rest: str, *values: Any, also: str = "") -> Statement:
        """Selects the columns of a row type. `rest` follows the name of the table: joins, conditions, the order.
        `also`: more expressions to select, after those columns."""
        selected = f"{self.select_list(row)}, {also}" if also else self.select_list(row)
        return sql(f"SELECT {selected} FROM {self.name} {rest}", *values)  # noqa: S608 - names of the schema

    def insert(self, row: Struct, **other: Any) -> Statement:
        """A statement that inserts a row, with the columns `other` that are no fields of its type."""
        return self._insert(asdict(row) | other)

    def insert_missing(self, row: Struct, **other: Any) -> Statement:
        """The same; a row with the same key is left as it is."""
        return self._insert(asdict(row) | other, f"ON CONFLICT ({', '.join(self.key)}) DO NOTHING")

    def upsert(self, row: Struct, **other: Any) -> Statement:
        """The same; a row with the same key is replaced."""
        values = asdict(row) | other
        changes = ", ".join(f"{name} = excluded.{name}" for name in values if name not in self.key)
        return self._insert(values, f"ON CONFLICT ({', '.join(self.key)}) DO UPDATE SET {changes}")

    def _insert(self, values: dict[str, Any], on_conflict: str = "") -> Statement:
        names = self._checked(tuple(values))
        marks = ", ".join("?" for _ in names)
        text = f"INSERT INTO {self.name} ({', '.join(names)}) VALUES ({marks}) {on_conflict}"  # noqa: S608 - names of the schema
        return sql(text, *values.values())

    def _checked(self, names: tuple[str, ...]) -> tuple[str, ...]:
        unknown = set(names) - {column.name for column in self.columns}
        if unknown:
            raise ValueError(f"the table {self.name} has no columns {sorted(unknown)}")
        return names


def _table(name: str, *columns: Column, only_in: Engine | None = None, no_backup: str | None = None) -> TableSchema:
    return TableSchema(name, columns, only_in, no_backup)


# Accounts --------------------------------------------------------------------------------------------------

ACCOUNT = _table(
    "account",
    Column("id", str, key=True),
    Column("name", str),
    Column("name_key", str),
    Column("password", str, null=True),
    Column("role", str),
    Column("disabled", int),
    Column("created_at", str),
)
CREDENTIAL = _table(
    "credential",
    Column("id", str, key=True),
    Column("user_id", str),
    Column("kind", str),
    Column("name", str),
    Column("hash", str),
    Column("created_at", float),
    Column("used_at", float, null=True),
    Column("expires_at", float, null=True),
)
SECRET = _table("secret", Column("name", str, key=True), Column("value", bytes))
BUCKET = _table(
    "bucket",
    Column("key", str, key=True),
    Column("tokens", float),
    Column("at", float),
    only_in="postgresql",
    no_backup="rate limits of the last minutes",
)

# Library ---------------------------------------------------------------------------------------------------

SNAPSHOT = _table("snapshot", Column("id", str, key=True), Column("text", bytes), Column("characters", int))
READING = _table(
    "reading",
    Column("url", str, key=True),
    Column("snapshot_id", str, key=True),
    Column("title", str),
    Column("author", str, null=True),
    Column("published", str, null=True),
    Column("language", str, null=True),
    Column("site_name", str, null=True),
    Column("canonical_url", str, null=True),
    Column("media_type", str),
    Column("fetched_at", str),
    Column("links", bytes),
    Column("pages", bytes),
    Column("kept_at", float),
    Column("icon", str, null=True),
)
PAGE = _table(
    "page",
    Column("url", str, key=True),
    Column("snapshot_id", str),
    Column("kind", str),
    Column("origin", str, null=True),
)
PASSAGE = _table(
    "passage",
    Column("id", int, key=True, numbered=True),
    Column("snapshot_id", str),
    Column("start_offset", int),
    Column("end_offset", int),
)
PASSAGE_TERMS = _table(
    "passage_terms",
    Column("rowid", int, key=True),
    Column("title", str),
    Column("text", str),
    Column("forms", str),
    Column("lexemes", str, only_in="postgresql", no_backup="generated from the other columns"),
)
PASSAGE_VOCABULARY = _table(
    "passage_vocabulary",
    Column("term", str, key=True),
    Column("doc", int),
    Column("cnt", int),
    only_in="sqlite",
    no_backup="a view of the index passage_terms",
)
LIBRARY_FACT = _table("library_fact", Column("name", str, key=True), Column("value", str))
SHELF = _table("shelf", Column("user_id", str, key=True), Column("url", str, key=True))
PAGE_CACHE = _table(
    "page_cache",
    Column("url", str, key=True),
    Column("final_url", str),
    Column("etag", str, null=True),
    Column("last_modified", str, null=True),
    Column("fetched_at", float),
    Column("fresh_until", float),
    Column("snapshot_url", str),
    Column("snapshot_id", str),
    no_backup="a cache: the page is requested again",
)
SEARCH_CACHE = _table(
    "search_cache",
    Column("key", str, key=True),
    Column("results", bytes),
    Column("expires", float),
    no_backup="a cache: the provider is queried again",
)

# Sessions and runs -----------------------------------------------------------------------------------------

SESSION = _table(
    "session",
    Column("id", str, key=True),
    Column("user_id", str),
    Column("agent_id", str),
    Column("title", str),
    Column("titled", int),
    Column("origin", str),
    Column("head", str, null=True),
    Column("created_at", str),
    Column("changed_at", float),
)
SESSION_ENTRY = _table(
    "session_entry", Column("id", int, key=True, numbered=True), Column("session_id", str), Column("part", str)
)
SESSION_TERMS = _table(
    "session_terms",
    Column("rowid", int, key=True),
    Column("text", str),
    Column("lexemes", str, only_in="postgresql", no_backup="generated from the text"),
)
QUESTION = _table(
    "question",
    Column("id", str, key=True),
    Column("session_id", str),
    Column("after_run", str, null=True),
    Column("body", bytes),
    Column("attachments", bytes),
    Column("created_at", str),
)
RUN = _table(
    "run",
    Column("number", int, key=True, numbered=True),
    Column("id", str),
    Column("session_id", str),
    Column("user_id", str),
    Column("question_id", str),
    Column("message_id", str),
    Column("state", str),
    Column("asked", bytes),
    Column("ending", bytes, null=True),
    Column("owner", str, null=True),
    Column("fence", int),
    Column("attempts", int),
    Column("cancel_wanted", int),
    Column("pruned_to", int),
    Column("created_at", float),
    Column("ended_at", float, null=True),
    Column("client_id", str, null=True),
)
OWNER = _table(
    "owner",
    Column("name", str, key=True),
    Column("lease_until", float),
    no_backup="leases of processes that run now",
)
RUN_MESSAGE = _table(
    "run_message",
    Column("run_id", str, key=True),
    Column("ordinal", int, key=True),
    Column("blocks", int),
    Column("body", bytes),
)
RUN_PROGRESS = _table(
    "run_progress",
    Column("run_id", str, key=True),
    Column("plan", bytes, null=True),
    Column("progress", bytes, null=True),
    Column("spent", bytes, null=True),
)
RUN_CALL = _table(
    "run_call", Column("run_id", str, key=True), Column("call_id", str, key=True), Column("result", bytes, null=True)
)
APPROVAL = _table(
    "approval",
    Column("run_id", str, key=True),
    Column("call_id", str, key=True),
    Column("tool", str),
    Column("asked_at", float),
    Column("decision", str, null=True),
    Column("note", str, null=True),
    Column("decided_at", float, null=True),
)
STANDING_APPROVAL = _table(
    "standing_approval",
    Column("user_id", str, key=True),
    Column("agent_id", str, key=True),
    Column("tool", str, key=True),
    Column("created_at", float),
)
RUN_EVENTS = _table(
    "run_events",
    Column("id", int, key=True, numbered=True),
    Column("run", int),
    Column("first_id", int),
    Column("last_id", int),
    Column("frames", bytes),
)
DIGEST = _table("digest", Column("run_id", str, key=True), Column("messages", int), Column("text", str))

# Files -----------------------------------------------------------------------------------------------------

BLOB = _table(
    "blob",
    Column("hash", str, key=True),
    Column("size", int),
    Column("place", str, null=True),
    Column("content", bytes, null=True),
)
LOOSE_PLACE = _table(
    "loose_place",
    Column("place", str, key=True),
    Column("since", float),
    no_backup="unreferenced objects of one storage",
)
WORKSPACE_FILE = _table(
    "workspace_file",
    Column("session_id", str),
    Column("path", str),
    Column("id", str, key=True),
    Column("source", str),
    Column("created_at", str),
    Column("message_id", str, null=True),
    Column("current", int),
    Column("seen", int),
    Column("plain_url", int),
)
FILE_VERSION = _table(
    "file_version",
    Column("file_id", str, key=True),
    Column("number", int, key=True),
    Column("hash", str),
    Column("author", str),
    Column("message_id", str, null=True),
    Column("call_id", str, null=True),
    Column("note", str),
    Column("created_at", str),
    Column("run_id", str, null=True),
)
FILE_PROOF = _table(
    "file_proof",
    Column("file_id", str, key=True),
    Column("number", int, key=True),
    Column("basis", str),
    Column("proof", bytes),
)
UPLOAD_TEXT = _table(
    "upload_text",
    Column("file_id", str, key=True),
    Column("text", bytes, null=True),
    Column("reason", str),
    Column("library_url", str, null=True),
)
RENDITION = _table(
    "rendition",
    Column("session_id", str, key=True),
    Column("key", str, key=True),
    Column("hash", str),
    Column("notes", bytes),
    Column("created_at", float),
    Column("file_id", str, null=True),
)

FOOTNOTE_FORMAT = _table(
    "footnote_format",
    Column("number", int, key=True),
    Column("works_with", int),
    Column("applied_at", str),
    only_in="postgresql",
    no_backup="the format of this database",
)

TABLES = (
    *(ACCOUNT, CREDENTIAL, SECRET, BUCKET),
    *(SNAPSHOT, READING, PAGE, PASSAGE, PASSAGE_TERMS, PASSAGE_VOCABULARY, LIBRARY_FACT, SHELF),
    *(PAGE_CACHE, SEARCH_CACHE),
    *(SESSION, SESSION_ENTRY, SESSION_TERMS, QUESTION, RUN, OWNER, RUN_MESSAGE, RUN_PROGRESS, RUN_CALL),
    *(APPROVAL, STANDING_APPROVAL, RUN_EVENTS, DIGEST),
    *(BLOB, LOOSE_PLACE, WORKSPACE_FILE, FILE_VERSION, FILE_PROOF, UPLOAD_TEXT, RENDITION),
    FOOTNOTE_FORMAT,
)
"""Every table after those that its foreign keys refer to."""

# Migrations -------------------------------------------------------------------------------------------------


_WORKS_WITH = re.compile(r"^-- works with: (\d+)$", re.MULTILINE)


class Step(Struct, frozen=True):
    """`works_with`: the oldest format whose programs can go on beside it. None: only programs of the newest format."""

    number: int
    text: str
    works_with: int | None


def load_migrations(engine: Literal["sqlite", "postgresql"]) -> list[Step]:
    """In order: `0001_….sql` is the first."""
    folder = files("footnote.db") / "migrations" / engine
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [
        _parse_migration(number, (folder / name).read_text(encoding="utf-8")) for number, name in enumerate(names, 1)
    ]


def _parse_migration(number: int, text: str) -> Step:
    declared = _WORKS_WITH.search(text)
    return Step(number, text, int(declared[1]) if declared else None)
