"""Replicas of two versions on the same tables, during a rolling upgrade."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from footnote.db.engine import Database
from footnote.db.errors import DatabaseForeign
from footnote.db.schema import load_migrations
from postgresql.test_commits import increment, length

NEWEST = len(load_migrations("postgresql"))


async def _newer(url: str, works_with: int) -> None:
    """A newer version adds to the schema when it starts, and removes nothing."""
    connection = await asyncpg.connect(url)
    await connection.execute("ALTER TABLE secret ADD COLUMN since TIMESTAMPTZ DEFAULT now()")
    await connection.execute("INSERT INTO footnote_format VALUES ($1, $2)", NEWEST + 1, works_with)
    await connection.close()


async def test_one_of_many_makes_the_tables(url: str, tmp_path: Path) -> None:
    async def replica(number: int) -> None:
        async with Database.open(url, tmp_path) as database:
            await database.write(increment(f"name {number}"))

    await asyncio.gather(*map(replica, range(8)))
    connection = await asyncpg.connect(url)
    assert await connection.fetch("SELECT number FROM footnote_format ORDER BY number") == [
        (step.number,) for step in load_migrations("postgresql")
    ]
    await connection.close()


async def test_an_old_one_goes_on_while_a_newer_one_comes(url: str, tmp_path: Path) -> None:
    async with Database.open(url, tmp_path) as old:
        await old.write(increment("a"))
        going = asyncio.gather(*(old.write(increment("a")) for _ in range(30)))
        await _newer(url, works_with=NEWEST)
        assert sorted(await going) == list(range(2, 32))
        assert await old.read(length("a")) == 31
    # An older replica that is restarted before its own upgrade.
    async with Database.open(url, tmp_path) as again:
        assert await again.write(increment("a")) == 32


async def test_an_old_one_that_the_newer_format_does_not_suit_is_refused(url: str, tmp_path: Path) -> None:
    async with Database.open(url, tmp_path) as old:
        await old.write(increment("a"))
    await _newer(url, works_with=NEWEST + 1)
    async with Database.open(url, tmp_path) as again:
        with pytest.raises(DatabaseForeign, match="written by a newer Footnote"):
            await again.write(increment("a"))


async def test_tables_of_another_program_are_left_alone(url: str, tmp_path: Path) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE TABLE theirs (id INTEGER)")
    async with Database.open(url, tmp_path) as database:
        with pytest.raises(DatabaseForeign, match="another program"):
            await database.write(increment("a"))
    assert await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 1
    await connection.close()


def test_every_step_says_beside_whom_it_works() -> None:
    """A migration without that line would stop every replica that was not upgraded yet."""
    assert [step.number for step in load_migrations("postgresql") if step.works_with is None] == []
