"""What can go wrong with the database file: each failure has its message, and no data is lost."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from db.scripts import names, note
from footnote.db.engine import Database
from footnote.db.errors import (
    DatabaseBroken,
    DatabaseFailed,
    DatabaseForeign,
    DatabaseFull,
    DatabaseLocked,
    DatabaseUnwritable,
)
from footnote.db.script import Steps, script, sql
from footnote.db.sqlite.driver import SqliteFile

pytestmark = pytest.mark.embedded

OTHER_PLACE = "or choose another place with FOOTNOTE_HOME or with database.url in config.json."


async def test_a_file_that_another_program_holds_is_waited_for_and_then_named(tmp_path: Path) -> None:
    path = tmp_path / "footnote.db"
    driver = SqliteFile(path, busy_seconds=0.1)
    try:
        await driver.write(note("a"), erase=False)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseLocked) as failed:
            await driver.write(note("b"), erase=False)
        assert failed.value.retryable
        assert failed.value.message == (
            f"{path} was held by another program for more than 0.1 seconds, so nothing was written. Try again when "
            "that program is done, or end it."
        )
        assert await driver.read(names()) == ["a"]
        other.execute("ROLLBACK")
        other.close()
        await driver.write(note("b"), erase=False)
        assert await driver.read(names()) == ["a", "b"]
    finally:
        await driver.close()


async def test_a_full_disk_costs_the_last_change_alone(tmp_path: Path) -> None:
    @script
    def limit(pages: int) -> Steps[None]:
        yield sql(f"PRAGMA max_page_count = {pages}")

    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        await database.write(note("a"))
        await database.write(limit(1))
        with pytest.raises(DatabaseFull) as failed:
            await database.write(note("b", "x" * 1_000_000))
        assert failed.value.message == (
            f"There is no space left for {tmp_path}/footnote.db, so the last change was not written; all before it is "
            f"kept. Free some space, {OTHER_PLACE}"
        )
        await database.write(note("c"))
        assert await database.read(names()) == ["a", "c"]


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
def test_a_file_that_may_not_grow_is_an_error_of_ours_and_stays_whole(tmp_path: Path) -> None:
    """The kernel refuses the write, as on a full disk or over a quota."""
    program = """
import asyncio, pathlib, resource, signal, sys
from db.scripts import names, note
from footnote.db.engine import Database
from footnote.protocol.errors import FootnoteError

async def main():
    async with Database.open("sqlite:footnote.db", pathlib.Path(sys.argv[1])) as database:
        await database.write(note("a"))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        try:
            await database.write(note("b", "x" * 1_000_000))
        except FootnoteError as error:
            print(error.type)
        print(await database.read(names()))

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    kind, size = done.stdout.splitlines()
    assert kind in ("database_error", "database_full")
    assert size == "['a']"


FULL_DISK = """
import asyncio, pathlib, subprocess, sys
from db.scripts import names, note
from footnote.db.engine import Database
from footnote.db.script import script, sql
from footnote.protocol.errors import FootnoteError

@script
def forget(name):
    yield sql("DELETE FROM library_fact WHERE name = ?", name)

def fill(home):
    "Somebody else takes what is free, to the last byte."
    with open(home / "filler", "ab", buffering=0) as filler:
        for size in (100_000, 1):
            try:
                while filler.write(bytes(size)) == size:
                    pass
            except OSError:
                pass

async def fill_database(database, why=""):
    try:
        for round in range(100):
            await database.write(note(f"more {why}{round}", "x" * 1_000_000))
    except FootnoteError as error:
        print(error.type)

async def kept(database):
    print([name for name in await database.read(names()) if len(name) == 1])

def opened(home):
    return Database.open("sqlite:footnote.db", home)

async def main(home):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120m", "none", home], check=True)
    async with opened(home) as database:
        for name in "abcd":
            await database.write(note(name, "x" * 1_000_000))
__BODY__

asyncio.run(main(pathlib.Path(sys.argv[1])))
"""
DELETING = """
        fill(home)
        await fill_database(database)
        await database.write(forget("a"), erase=True)
        await database.write(forget("b"), erase=True)
        await database.write(note("e", "x" * 1_000_000))
        await kept(database)
"""
DELETING_AGAIN = """
        for name in "abc":
            fill(home)
            await fill_database(database, name)
            await database.write(forget(name), erase=True)
        await kept(database)
"""
DELETING_AFTER_A_START = """
    fill(home)
    async with opened(home) as database:
        await kept(database)
        fill(home)
        await database.write(forget("a"), erase=True)
    fill(home)
    async with opened(home) as database:
        await database.write(forget("b"), erase=True)
        await kept(database)
"""


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        (DELETING, ["database_full", "['c', 'd', 'e']"]),
        (DELETING_AGAIN, [*["database_full"] * 3, "['d']"]),
        (DELETING_AFTER_A_START, ["['a', 'b', 'c', 'd']", "['c', 'd']"]),
    ],
    ids=["once", "again and again", "after a start"],
)
def test_on_a_full_disk_room_is_made_by_deleting(tmp_path: Path, body: str, reported: list[str]) -> None:
    """On a small file system of its own, which Linux allows to users who can create namespaces."""
    own_mounts = ("unshare", "--user", "--map-root-user", "--mount")
    try:
        subprocess.run([*own_mounts, "mount", "-t", "tmpfs", "none", tmp_path], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted in a namespace here")
    done = subprocess.run(
        [*own_mounts, sys.executable, "-c", FULL_DISK.replace("__BODY__", body), tmp_path],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.splitlines() == reported, done.stderr


@pytest.mark.parametrize("content", [b"This is no database.\n" * 100, b"{}"])
async def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "footnote.db"
    path.write_bytes(content)
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        for attempt in (database.read(names()), database.write(note("a"))):
            with pytest.raises(DatabaseBroken) as failed:
                await attempt
            assert failed.value.message == (
                f"{path} cannot be read (file is not a database), and was left as it is. Bring back a copy of it, or "
                "move it away: Footnote then begins a new one."
            )
    assert path.read_bytes() == content


async def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        await database.write(note("a"))
    path = tmp_path / "footnote.db"
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        with pytest.raises(DatabaseBroken, match="malformed"):
            await database.read(names())


async def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "footnote.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    content = path.read_bytes()
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        with pytest.raises(DatabaseForeign) as failed:
            await database.write(note("a"))
    assert failed.value.message == (
        f"{path} is a database of another program, and was left as it is. Choose another file with database.url in "
        "config.json."
    )
    assert path.read_bytes() == content


async def test_a_database_of_a_newer_footnote_is_left_as_it_is(tmp_path: Path) -> None:
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        await database.write(note("a"))
    path = tmp_path / "footnote.db"
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 999")
    newer.close()
    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        with pytest.raises(
            DatabaseForeign, match=r"newer Footnote \(format 999; this one knows \d+\). Upgrade Footnote"
        ):
            await database.read(names())


@pytest.mark.parametrize(
    ("blocker", "url", "reason"),
    [
        ("file", "sqlite:footnote.db", "{0} is not a folder"),
        ("folder", "sqlite:", "it is a folder"),
    ],
)
async def test_a_place_that_cannot_be_written_is_refused_at_once(
    tmp_path: Path, blocker: str, url: str, reason: str
) -> None:
    home = tmp_path / "home"
    if blocker == "file":
        home.write_text("in the way")
    else:
        home.mkdir()
    path = home / url.partition(":")[2]
    with pytest.raises(DatabaseUnwritable) as failed:
        async with Database.open(url, home):
            pass
    assert failed.value.message == (
        f"{path} cannot be written ({reason.format(home)}). Give yourself write access to it and its folder, "
        f"{OTHER_PLACE}"
    )


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("missing", ["to the folder", "to the file"])
def test_without_the_right_to_write_it_is_refused_at_once(tmp_path: Path, missing: str) -> None:
    program = """
import asyncio, os, pathlib
from footnote.db.engine import Database
from footnote.db.errors import DatabaseUnwritable

async def main():
    try:
        async with Database.open("sqlite:footnote.db", pathlib.Path()):
            print("opened")
    except DatabaseUnwritable as error:
        print(error.message)

if os.getuid() == 0:  # who may write everywhere
    os.setuid(65534)
asyncio.run(main())
"""
    home = tmp_path / "home"
    home.mkdir()
    file = home / "footnote.db"
    file.touch()
    file.chmod(0o444 if missing == "to the file" else 0o666)
    home.chmod(0o555 if missing == "to the folder" else 0o777)
    done = subprocess.run([sys.executable, "-c", program], cwd=home, capture_output=True, text=True, check=True)
    home.chmod(0o755)
    guarded = "footnote.db" if missing == "to the file" else "."
    assert done.stdout == (
        f"footnote.db cannot be written (no write access to {guarded}). Give yourself write access to it and its "
        f"folder, {OTHER_PLACE}\n"
    )


async def test_no_error_of_the_driver_comes_through_as_it_is(tmp_path: Path) -> None:
    @script
    def nonsense() -> Steps[None]:
        yield sql("SELECT * FROM nowhere")

    async with Database.open("sqlite:footnote.db", tmp_path) as database:
        for attempt in (database.write(nonsense()), database.read(nonsense())):
            with pytest.raises(DatabaseFailed, match="could not be used: no such table: nowhere"):
                await attempt
