"""Several processes on one database: a server, and a few commands."""

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

import engines
from db.scripts import count_up, names
from footnote.db.engine import Database

COUNTS = """
import asyncio, pathlib, sys
from db.scripts import count_up
from footnote.db.engine import Database

async def main(url, home, times):
    async with Database.open(url, pathlib.Path(home)) as database:
        print("ready", flush=True)
        sys.stdin.readline()
        for _ in range(times):
            print(await database.write(count_up()), flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


async def _start_counter(home: Path, times: int) -> asyncio.subprocess.Process:
    """A process that waits for a line on its stdin, and then counts."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        COUNTS,
        engines.database_url(home),
        str(home),
        str(times),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.embedded
@pytest.mark.slow
async def test_processes_that_make_the_same_file_at_once_lose_no_write(tmp_path: Path) -> None:
    """A lock holds all processes until each has seen the file empty; then each tries to create the tables."""
    processes = [await _start_counter(tmp_path, 20) for _ in range(6)]
    held = sqlite3.connect(tmp_path / "footnote.db", isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    asyncio.get_running_loop().call_later(1, held.close)
    outputs = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    assert [process.returncode for process in processes] == [0] * 6
    numbers = sorted(int(line) for output, _ in outputs for line in output.splitlines())
    assert numbers == list(range(1, 121))


async def test_a_process_that_is_killed_takes_nothing_with_it_that_it_was_told_is_kept(tmp_path: Path) -> None:
    process = await _start_counter(tmp_path, 1_000_000)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n")
    confirmed = 0
    while confirmed < 50:
        confirmed = int(await process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest, _ = await process.communicate()
    confirmed = max([confirmed, *(int(line) for line in rest.splitlines()[:-1])])
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        assert await database.read(names()) == ["count"]
        assert await database.write(count_up()) > confirmed
    if (tmp_path / "footnote.db").exists():
        assert engines.rows(tmp_path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.slow
async def test_processes_that_count_together_lose_no_number(tmp_path: Path) -> None:
    processes = [await _start_counter(tmp_path, 30) for _ in range(4)]
    outputs = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    assert [process.returncode for process in processes] == [0] * 4
    numbers = sorted(int(line) for output, _ in outputs for line in output.splitlines())
    assert numbers == list(range(1, 121))


@pytest.mark.embedded
async def test_a_command_that_comes_and_goes_does_not_take_the_log_from_under_a_server(tmp_path: Path) -> None:
    """The process that closes the file last removes the WAL; SQLite decides by locks that a process can lose
    unnoticed."""
    async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
        assert await database.write(count_up()) == 1
        await asyncio.gather(*(database.read(names()) for _ in range(8)))
        for expected in (2, 4, 6):
            command = await _start_counter(tmp_path, 1)
            output, _ = await command.communicate(b"\n")
            assert int(output) == expected
            assert (tmp_path / "footnote.db-wal").exists()
            assert await database.write(count_up()) == expected + 1
