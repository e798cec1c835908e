"""Every table and every column is in a backup, or left out by name with a reason."""

import pytest

from backup.conftest import NewPlace
from backup.places import EMBEDDED, SERVICES, Place
from footnote.db.backup import EXCLUDED, TABLES
from footnote.db.script import Either, Steps, script, sql

pytestmark = pytest.mark.embedded  # both kinds are named here, whatever the others run on

PARTS_OF_AN_INDEX = ("_data", "_idx", "_content", "_docsize", "_config")
ADVICE = "add it to TABLES in db/backup.py, or to LEFT_OUT with the reason"


@script
def _columns() -> Steps[set[str]]:
    """`TABLE.COLUMN` of all that the database has."""
    indexes = " OR ".join(f"schema.name = other.name || '{part}'" for part in PARTS_OF_AN_INDEX)
    rows = yield Either(
        sql(
            "SELECT schema.name, columns.name FROM sqlite_schema AS schema, pragma_table_info(schema.name) AS columns "
            "WHERE schema.type = 'table' AND schema.name NOT LIKE 'sqlite_%' AND NOT EXISTS ("
            f"SELECT 1 FROM sqlite_schema AS other WHERE other.sql LIKE 'CREATE VIRTUAL%' AND ({indexes}))"
        ),
        sql(
            "SELECT c.table_name::text, c.column_name::text FROM information_schema.columns AS c "
            "JOIN information_schema.tables AS t USING (table_schema, table_name) "
            "WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE'"
        ),
    )
    return {f"{table}.{column}" for table, column in rows}


async def columns_of(place: Place) -> set[str]:
    async with place.open_stores() as (database, _):
        await database.write(_columns())  # the first transaction makes the tables
        found = await database.read(_columns())
    return {name for name in found if name.partition(".")[0] not in EXCLUDED} - set(EXCLUDED)


@pytest.mark.parametrize("kind", [EMBEDDED, pytest.param(SERVICES, marks=pytest.mark.slow)])
async def test_every_column_of_a_database_is_listed(place_of: NewPlace, kind: str) -> None:
    listed = {f"{table.name}.{column}" for table in TABLES for column in table.columns if column != "rowid"}
    there = {name for name in await columns_of(await place_of(kind, "a")) if not name.endswith(".rowid")}
    assert there - listed == set(), ADVICE
    assert listed - there == set(), "there is no such column any more"


def test_rows_are_read_by_columns_that_they_have() -> None:
    for table in TABLES:
        assert {*table.key, *table.large, *filter(None, [table.numbered])} <= set(table.columns), table.name
        assert table.name not in EXCLUDED
    assert all(EXCLUDED.values())
