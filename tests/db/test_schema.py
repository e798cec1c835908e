"""The table descriptions match the tables that the migrations of each engine create."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from msgspec import Struct
from service_kinds import Postgres

from bus.buses import running_service
from footnote.db import accounts, bundles, files, library, runs, sessions
from footnote.db.engine import Database
from footnote.db.schema import TABLES, Column, TableSchema
from footnote.db.script import Either, Steps, script, sql

pytestmark = pytest.mark.embedded  # these tests name both engines themselves

TYPES = {
    **dict.fromkeys(("TEXT", "text", "tsvector", "timestamp with time zone"), str),
    **dict.fromkeys(("INTEGER", "integer", "bigint"), int),
    **dict.fromkeys(("REAL", "double precision"), float),
    **dict.fromkeys(("BLOB", "bytea"), bytes),
}
PARTS_OF_AN_INDEX = ("_data", "_idx", "_content", "_docsize", "_config")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
async def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def database(engine: str, tmp_path: Path) -> AsyncIterator[Database]:
    if engine == "sqlite":
        async with Database.open("sqlite:footnote.db", tmp_path) as database:
            yield database
        return
    with running_service(Postgres) as server:
        assert isinstance(server, Postgres)
        async with Database.open(server.url(), tmp_path) as database:
            yield database


@script
def _columns() -> Steps[list[tuple[str, str, str, bool]]]:
    """Table, name, type and nullability of every column, in the order of the table."""
    indexes = " OR ".join(f"tables.name = other.name || '{part}'" for part in PARTS_OF_AN_INDEX)
    rows = yield Either(
        sql(
            'SELECT tables.name, columns.name, columns.type, columns."notnull" = 0 AND columns.pk = 0 '
            "FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns "
            "WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' AND NOT EXISTS ("
            f"SELECT 1 FROM sqlite_schema AS other WHERE other.sql LIKE 'CREATE VIRTUAL%' AND ({indexes})) "
            "ORDER BY tables.name, columns.cid"
        ),
        sql(
            "SELECT c.table_name::text, c.column_name::text, c.data_type::text, c.is_nullable = 'YES' "
            "FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name) "
            "WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' "
            "ORDER BY c.table_name, c.ordinal_position"
        ),
    )
    return [(table, name, type_, bool(null)) for table, name, type_, null in rows]


async def test_every_column_of_a_database_is_described(database: Database, engine: str) -> None:
    await database.write(_columns())  # the first transaction creates the tables
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for table, *column in await database.read(_columns()):
        found.setdefault(table, []).append((column[0], column[1], column[2]))
    described = {table.name: table for table in TABLES if table.only_in in (None, engine)}
    assert found.keys() == described.keys(), "describe the table in db/schema.py"
    for name, table in described.items():
        # A full-text index of SQLite has no types, and its `rowid` is not listed.
        is_virtual = engine == "sqlite" and all(type_ in ("", "TEXT") and null for _, type_, null in found[name])
        expected = [column for column in table.columns if column.only_in in (None, engine)]
        if engine == "sqlite":
            expected = [column for column in expected if column.name != "rowid"]
        assert [column for column, *_ in found[name]] == [column.name for column in expected], name
        if not is_virtual:
            types = [(TYPES[type_], null) for _, type_, null in found[name]]
            assert types == [(column.type, column.null) for column in expected], name


def test_what_no_backup_has_is_left_out_for_a_reason() -> None:
    for table in TABLES:
        assert table.no_backup != ""
        assert all(column.no_backup != "" for column in table.columns)
        assert set(table.key) <= set(table.backup_columns)
        assert table.only_in is None or table.no_backup, f"{table.name} cannot be restored on the other engine"


ROW_TYPES: tuple[tuple[str, type[Struct]], ...] = (
    ("account", accounts.AccountRow),
    ("credential", accounts.CredentialRow),
    ("session", sessions.SessionRow),
    ("question", bundles.QuestionRow),
    ("run", runs.RunRow),
    ("run_message", runs.StoredMessage),
    ("digest", runs.SummaryRow),
    ("reading", library.SnapshotRow),
    ("page_cache", library.Freshness),
    ("workspace_file", files.FileRow),
    ("file_version", files.VersionRow),
    ("upload_text", files.UploadText),
)


@pytest.mark.parametrize(("name", "row"), ROW_TYPES)
def test_a_row_type_has_the_types_of_its_columns(name: str, row: type[Struct]) -> None:
    columns = {column.name: column for table in TABLES if table.name == name for column in table.columns}
    for field, hint in get_type_hints(row).items():
        assert _type_of(hint) == (columns[field].type, columns[field].null), f"{name}.{field}"


def _type_of(hint: object) -> tuple[type, bool]:
    """The type of a field as the database stores it, and whether it may be None."""
    options = get_args(hint)
    kinds = {option if isinstance(option, type) else type(option) for option in options} or {hint}
    kind = next(iter(kinds - {type(None)}))
    return int if kind is bool else kind, type(None) in kinds


class _Pair(Struct):
    name: str
    value: int


PAIRS = TableSchema("pair", (Column("name", str, key=True), Column("value", int), Column("since", float)))


def test_statements_name_the_fields_of_a_row() -> None:
    row = _Pair("a", 1)
    assert PAIRS.select(_Pair, "WHERE name = ?", "a", also="count(*)") == sql(
        "SELECT pair.name, pair.value, count(*) FROM pair WHERE name = ?", "a"
    )
    inserted = PAIRS.insert(row, since=2.0)
    assert inserted.text.strip() == "INSERT INTO pair (name, value, since) VALUES (?, ?, ?)"
    assert inserted.values == ("a", 1, 2.0)
    assert PAIRS.insert_missing(row).text.endswith("ON CONFLICT (name) DO NOTHING")
    assert PAIRS.upsert(row).text.endswith("ON CONFLICT (name) DO UPDATE SET value = excluded.value")


def test_a_field_that_is_no_column_is_refused() -> None:
    with pytest.raises(ValueError, match="no columns"):
        PAIRS.insert(_Pair("a", 1), until=3.0)
