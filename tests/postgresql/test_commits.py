"""A transaction is executed once, whatever happens to the connection."""

import asyncio
from pathlib import Path

import pytest

from footnote.db.engine import Database
from footnote.db.errors import DatabaseAway, DatabaseClosed, DatabaseFailed
from footnote.db.postgresql.driver import PostgresDriver
from footnote.db.script import Steps, script, sql
from postgresql.cutting_proxy import CuttingProxy, When


@script
def increment(name: str) -> Steps[int]:
    """How often the counter was incremented with this key."""
    rows = yield sql(
        """
        INSERT INTO secret (name, value) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET value = secret.value || excluded.value RETURNING length(value)
        """,
        name,
        b"x",
    )
    return rows[0][0]


@script
def length(name: str) -> Steps[int]:
    rows = yield sql("SELECT length(value) FROM secret WHERE name = ?", name)
    return rows[0][0] if rows else 0


@pytest.mark.parametrize("word", [b"BEGIN", b"INSERT INTO secret", b"pg_current_xact_id", b"COMMIT"])
@pytest.mark.parametrize("when", ["before", "meanwhile", "after"])
async def test_what_is_cut_off_happens_once(url: str, tmp_path: Path, word: bytes, when: When) -> None:
    async with Database.open(url, tmp_path) as whole:
        await whole.write(increment("a"))
        async with CuttingProxy(url, word, when, cuts=2) as line, Database.open(line.url, tmp_path) as database:
            assert await database.write(increment("a")) == 2
            assert await database.write(increment("a")) == 3
            assert line.cuts < 2
        assert await whole.read(length("a")) == 3


async def test_many_at_once_on_a_line_that_breaks(url: str, tmp_path: Path) -> None:
    async with CuttingProxy(url, b"COMMIT", "after", cuts=10) as line, Database.open(line.url, tmp_path) as database:
        found = await asyncio.gather(*(database.write(increment("a")) for _ in range(40)))
        assert sorted(found) == list(range(1, 41))
        assert line.cuts == 0


async def test_a_server_that_is_not_there_is_said_without_the_password() -> None:
    driver = PostgresDriver("postgresql://me:planted@127.0.0.1:1/footnote", retry_seconds=0.2)
    with pytest.raises(DatabaseAway) as found:
        await driver.read(length("a"))
    assert found.value.retryable
    assert "The database footnote at 127.0.0.1:1 does not answer" in found.value.message
    assert "planted" not in found.value.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda url: url.replace("://footnote:", "://footnote:wrong"), "refuses the user or the password"),
        (lambda url: url.replace("://footnote:", "://nobody_here:"), "refuses the user or the password"),
        (lambda url: url.rpartition("/")[0] + "/no_such", "no such database"),
    ],
)
async def test_what_an_operator_gets_wrong_is_said_at_once(url: str, change, message: str) -> None:
    driver = PostgresDriver(change(url))
    with pytest.raises(DatabaseClosed, match=message):
        await driver.read(length("a"))


async def test_an_error_of_the_server_quotes_nothing_of_what_was_written(database: Database) -> None:
    @script
    def twice() -> Steps[None]:
        for _ in range(2):
            yield sql("INSERT INTO secret (name, value) VALUES (?, ?)", "planted", b"planted too")

    with pytest.raises(DatabaseFailed) as found:
        await database.write(twice())
    assert "planted" not in found.value.message


async def test_what_has_no_place_in_a_text_does_not_lose_the_text(database: Database) -> None:
    @script
    def keep() -> Steps[str]:
        yield sql("INSERT INTO library_fact (name, value) VALUES (?, ?)", "a", "one\0two")
        ((value,),) = yield sql("SELECT value FROM library_fact WHERE name = ?", "a")
        return value

    assert await database.write(keep()) == "one\ufffdtwo"
