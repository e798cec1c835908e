"""Reading and writing: what a script sees, what is committed, and when the database is opened."""

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import engines
from db.scripts import count_up, names, note, note_all
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.library import cache_search, cached_search
from footnote.db.script import Either, Steps, script, sql


async def test_what_was_written_is_read_by_the_next_process_to_open_the_file(tmp_path: Path) -> None:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        await database.write(note("a"))
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        assert await database.read(names()) == ["a"]


@pytest.mark.embedded
async def test_no_file_is_made_until_something_is_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with Database.open(engines.database_url(home), home) as database:
        assert await database.read(names()) == []
        assert not home.exists()
        await database.write(note("a"))
        assert await database.read(names()) == ["a"]
    assert [path.name for path in home.iterdir()] == ["footnote.db"]


@pytest.mark.embedded
async def test_the_file_is_nobody_elses(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        async with Database.open(engines.database_url(tmp_path / "home"), tmp_path / "home") as database:
            await database.write(note("a"))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "home").iterdir()}
    finally:
        os.umask(before)
    assert modes == {"footnote.db": 0o600, "footnote.db-shm": 0o600, "footnote.db-wal": 0o600}
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


@pytest.mark.embedded
async def test_a_commit_is_on_the_disk_before_it_counts_as_done(database: Database) -> None:
    @script
    def settings() -> Steps[list[object]]:
        names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        found: list[object] = []
        for name in names:
            rows = yield sql(f"PRAGMA {name}")
            found.append(rows[0][0])
        return found

    assert await database.write(settings()) == ["wal", 2, 1, 1]


async def test_a_script_that_fails_takes_back_all_that_it_did(database: Database) -> None:
    @script
    def fails() -> Steps[None]:
        yield from note("a")
        yield from note("b")
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        await database.write(fails())
    assert await database.read(names()) == []


async def test_a_script_that_fails_takes_nothing_of_the_others_with_it(database: Database) -> None:
    writes = [database.write(note(name)) for name in ("a", "b", "a", "c")]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    # One of the two with the same name fails; with one writer it is the second.
    assert [type(outcome) for outcome in (outcomes[1], outcomes[3])] == [type(None)] * 2
    assert sorted(isinstance(outcomes[index], DatabaseFailed) for index in (0, 2)) == [False, True]
    assert await database.read(names()) == ["a", "b", "c"]


@pytest.mark.embedded
async def test_writes_that_wait_share_a_commit(tmp_path: Path) -> None:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        await database.write(note("first"))
        log = tmp_path / "footnote.db-wal"
        before = log.stat().st_size
        await database.write(note("one"))
        one = log.stat().st_size - before
        await asyncio.gather(*(database.write(note(f"n{number}")) for number in range(100)))
        many = log.stat().st_size - before - one
        assert len(await database.read(names())) == 102
    assert many < 25 * one


async def test_writes_that_come_at_once_see_each_other(database: Database) -> None:
    numbers = await asyncio.gather(*(database.write(count_up()) for _ in range(250)))
    assert sorted(numbers) == list(range(1, 251))


@pytest.mark.embedded
async def test_writes_that_are_handed_over_at_once_do_not_overtake_each_other(database: Database) -> None:
    numbers = await asyncio.gather(*(database.write(count_up()) for _ in range(250)))
    assert numbers == list(range(1, 251))


@pytest.mark.embedded
async def test_a_script_that_writes_has_the_file_to_itself_from_its_first_statement(
    database: Database, tmp_path: Path
) -> None:
    """Otherwise two processes would both read, and the second one could not write any more."""
    await database.write(note("a"))

    @script
    def reads_first() -> Steps[str]:
        yield from names()
        other = sqlite3.connect(tmp_path / "footnote.db", timeout=0, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            return str(error)
        finally:
            other.close()
        return "came in between"

    assert await database.write(reads_first()) == "database is locked"


async def test_a_commit_that_fails_is_told_and_the_next_one_works(database: Database) -> None:
    @script
    def breaks_a_rule_at_the_end() -> Steps[None]:
        yield Either(sql("PRAGMA defer_foreign_keys = ON"), None)
        yield sql("INSERT INTO page (url, snapshot_id, kind) VALUES ('https://a.example', 'none', 'web')")

    with pytest.raises(DatabaseFailed, match=r"(?i)foreign key constraint"):
        await database.write(breaks_a_rule_at_the_end())
    await database.write(note("a"))
    assert await database.read(names()) == ["a"]


async def test_a_script_that_reads_sees_one_state_from_beginning_to_end(database: Database, tmp_path: Path) -> None:
    await database.write(note("a"))

    @script
    def reads_twice() -> Steps[tuple[list[str], list[str], str]]:
        """A script may be restarted."""
        first = yield from names()
        # By another connection, between the two statements.
        new = f"b{len(first)}"
        engines.rows(tmp_path, f"INSERT INTO library_fact (name, value) VALUES ('{new}', '') RETURNING name")
        second = yield from names()
        return first, second, new

    first, second, new = await database.read(reads_twice())
    assert first == second
    assert new not in first
    assert await database.read(names()) == [*first, new]


async def test_a_script_that_reads_cannot_write(database: Database) -> None:
    await database.write(note("a"))
    with pytest.raises(DatabaseFailed):
        await database.read(note("b"))
    assert await database.read(names()) == ["a"]


async def test_one_statement_can_run_for_many_rows(database: Database) -> None:
    await database.write(note_all(["a", "b", "c"]))
    assert await database.read(names()) == ["a", "b", "c"]


async def test_closing_waits_for_what_was_handed_over(tmp_path: Path) -> None:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        writing = [asyncio.ensure_future(database.write(note(f"n{number}"))) for number in range(300)]
        await asyncio.sleep(0)
    await asyncio.gather(*writing)
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        assert len(await database.read(names())) == 300


async def test_a_write_whose_caller_has_left_does_not_stop_the_others(database: Database) -> None:
    await database.write(note("a"))
    leaving = asyncio.ensure_future(database.write(note("b")))
    staying = asyncio.ensure_future(database.write(note("c")))
    await asyncio.sleep(0)
    leaving.cancel()
    await staying
    assert leaving.cancelled()
    assert "c" in await database.read(names())


async def test_a_database_in_memory_keeps_until_it_is_closed(tmp_path: Path) -> None:
    async with Database.in_memory() as database:
        await asyncio.gather(*(database.write(note(name)) for name in "ab"))
        assert await database.read(names()) == ["a", "b"]
    async with Database.in_memory() as database:
        assert await database.read(names()) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("url", "place"),
    [("sqlite:other.db", "home/other.db"), ("sqlite:../up.db", "up.db"), ("sqlite:{0}/abs.db", "abs.db")],
)
async def test_the_address_is_a_file_relative_to_the_home_folder(tmp_path: Path, url: str, place: str) -> None:
    (tmp_path / "home").mkdir()
    async with Database.open(url.format(tmp_path), tmp_path / "home") as database:
        await database.write(note("a"))
    assert (tmp_path / place).is_file()


@pytest.mark.embedded
def test_opening_imports_no_driver_and_starts_no_thread(tmp_path: Path) -> None:
    program = """
import asyncio, pathlib, sys, threading
from footnote.db.engine import Database

async def main():
    async with Database.open("sqlite:footnote.db", pathlib.Path(sys.argv[1])):
        print("sqlite3" in sys.modules, threading.active_count())

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "False 1\n"


@pytest.mark.embedded
async def test_erasing_leaves_no_trace_of_what_was_deleted(tmp_path: Path) -> None:
    @script
    def forget() -> Steps[None]:
        yield sql("DELETE FROM library_fact")

    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        await database.write(note("secret", "planted" * 100))
        await database.write(forget(), erase=True)
        assert _files_containing(tmp_path, b"planted") == []


def _files_containing(folder: Path, words: bytes) -> list[str]:
    return [path.name for path in folder.iterdir() if words in path.read_bytes()]


@pytest.mark.embedded
async def test_other_programs_can_read_the_file_meanwhile(tmp_path: Path) -> None:
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        await database.write(note("a"))
        other = sqlite3.connect(tmp_path / "footnote.db")
        assert other.execute("SELECT name FROM library_fact").fetchall() == [("a",)]
        other.close()


@pytest.mark.embedded
async def test_a_new_file_is_never_taken_for_somebody_elses_while_it_is_made(tmp_path: Path):
    for round_ in range(20):
        async with Database.open(f"sqlite:{round_}.db", tmp_path) as database:
            await asyncio.gather(
                *(database.write(cache_search(f"key {n}", b"{}", 9.0, 1.0)) for n in range(4)),
                *(database.read(cached_search("key", 1.0)) for _ in range(8)),
            )
