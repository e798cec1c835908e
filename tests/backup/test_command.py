"""`footnote backup` and `footnote restore` in processes of their own."""

import asyncio
import random
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from backup.conftest import NewPlace
from backup.places import EMBEDDED, SERVICES, Place, add_sample_session, run_program, without_places
from cli.process import environment
from footnote.cli import COMMANDS, CommandParser
from footnote.cli import backup as cli_backup
from footnote.cli import restore as cli_restore

pytestmark = pytest.mark.embedded  # both kinds are named here, whatever the others run on

DOCS = Path(__file__).parents[2] / "docs"
HOLDS = "2 accounts, 1 session, 4 files, 1 text that was read"


async def footnote(place: Place, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
    env = environment(place.home, **place.environ, FOOTNOTE_HOME=str(place.home))
    return await run_program(sys.executable, "-m", "footnote", *arguments, env=env, stdin=stdin)


async def run_shell(place: Place, script: str) -> tuple[int, bytes, str]:
    env = environment(place.home, **place.environ, FOOTNOTE_HOME=str(place.home), PYTHON=sys.executable)
    return await run_program("bash", "-c", script, env=env)


@pytest.fixture
async def filled(here: Place) -> Place:
    await add_sample_session(here)
    return here


PARTIAL = """
import pathlib, sys, time
from footnote.cli.saving import partial_file
print(partial_file(pathlib.Path(sys.argv[1]))[1], flush=True)
time.sleep(60)
"""


async def test_what_a_killed_backup_left_is_removed_by_the_next_one(filled: Place) -> None:
    writers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PARTIAL, str(filled.home / name)), stdout=asyncio.subprocess.PIPE
        )
        for name in ("monday.backup", "tuesday.backup")
    ]
    killed, living = [Path((await writer.stdout.readline()).decode().strip()) for writer in writers if writer.stdout]
    try:
        writers[0].kill()
        await writers[0].wait()
        assert killed.exists()
        code, _, said = await footnote(filled, "backup", str(filled.home / "wednesday.backup"))
        assert code == 0, said
        assert not killed.exists()
        assert living.exists()
    finally:
        writers[1].kill()
        await writers[1].wait()


@pytest.mark.slow
async def test_a_backup_is_a_file_of_its_owner_that_is_verified_and_restored(filled: Place, there: Place) -> None:
    file = filled.home / "all.backup"
    code, out, said = await footnote(filled, "backup", str(file))
    assert (code, out) == (0, b"")
    assert re.fullmatch(rf"Backed up {HOLDS}: [\d,]+ bytes\.\n", said)
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(filled.home.glob(".all.backup-*")) == []
    code, out, said = await footnote(filled, "backup", "--verify", str(file))
    assert (code, said) == (0, "")
    assert re.fullmatch(rf"Made     \S+ by Footnote \S+\nHolds    {HOLDS}\nAll is right\.\n", out.decode())
    code, out, said = await footnote(there, "restore", str(file))
    assert (code, out) == (0, b"")
    assert said.startswith(f"Restored {HOLDS}, as of ")
    assert without_places(await there.rows()) == without_places(await filled.rows())
    code, _, said = await footnote(there, "restore", str(file))
    assert code == 2
    assert "a backup is restored into an empty Footnote alone" in said


@pytest.mark.slow
async def test_it_goes_through_pipes(filled: Place, there: Place) -> None:
    code, data, _ = await footnote(filled, "backup", "-")
    assert (code, data[:16]) == (0, b"Footnote backup ")
    assert (await footnote(filled, "backup", "--verify", "-", stdin=data))[0] == 0
    code, _, said = await footnote(there, "restore", "-", stdin=data[:-1])
    assert (code, said) == (1, "footnote: The backup is cut off: its end is missing.\n")
    code, _, said = await footnote(there, "restore", "-", stdin=b"something else")
    assert (code, said) == (2, "footnote: It is not a backup of Footnote, or its beginning is missing.\n")
    assert (await footnote(there, "restore", "-", stdin=data))[0] == 0
    assert without_places(await there.rows()) == without_places(await filled.rows())


@pytest.mark.slow
async def test_nothing_is_overwritten_unasked(filled: Place) -> None:
    file = filled.home / "all.backup"
    file.write_text("dear to me")
    code, _, said = await footnote(filled, "backup", str(file))
    assert (code, file.read_text()) == (2, "dear to me")
    assert said == f"footnote: {file} is there already, and is not overwritten. Give --force, or name another file.\n"
    assert (await footnote(filled, "backup", "--force", str(file)))[0] == 0
    assert file.read_bytes().startswith(b"Footnote backup 1\n")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
async def test_a_full_disk_leaves_no_file_and_says_so(filled: Place) -> None:
    script = 'ulimit -f 1000; exec "$PYTHON" -m footnote backup "$FOOTNOTE_HOME/all.backup"'
    code, _, said = await run_shell(filled, script)
    assert code == 1
    assert said == f"footnote: {filled.home}/all.backup cannot be written: File too large. There is no backup.\n"
    assert [file for file in filled.home.iterdir() if "backup" in file.name] == []
    code, _, said = await run_shell(filled, 'exec "$PYTHON" -m footnote backup - > /dev/full')
    assert (code, said) == (1, "footnote: stdout cannot be written: No space left on device. There is no backup.\n")


@pytest.mark.slow
async def test_a_reader_who_leaves_has_no_backup_and_the_exit_code_says_so(filled: Place) -> None:
    script = '"$PYTHON" -m footnote backup - | head -c 1 > /dev/null; exit ${PIPESTATUS[0]}'
    code, _, said = await run_shell(filled, script)
    assert (code, said) == (1, "footnote: stdout cannot be written: Broken pipe. There is no backup.\n")


@pytest.mark.slow
async def test_a_home_without_a_database_is_not_backed_up_as_an_empty_one(there: Place) -> None:
    code, _, said = await footnote(there, "backup", str(there.home / "all.backup"))
    assert code == 2
    assert said.startswith(f"footnote: There is nothing to back up: {there.home}/footnote.db does not exist.")
    assert list(there.home.iterdir()) == []


@pytest.mark.slow
async def test_sigterm_ends_it_without_a_trace(filled: Place) -> None:
    """It waits for a pipe that nobody reads, so that there is time for it."""
    env = environment(filled.home, **filled.environ, FOOTNOTE_HOME=str(filled.home))
    command = (sys.executable, "-m", "footnote", "backup", "-")
    process = await asyncio.create_subprocess_exec(
        *command, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert await process.stdout.readexactly(1) == b"F"
    process.send_signal(signal.SIGTERM)
    await asyncio.sleep(1)  # it hears of it while it still waits
    async with asyncio.timeout(60):
        data = await process.stdout.read()
        said = await process.stderr.read()
        code = await process.wait()
    assert (code, said) == (130, b"Stopped. There is no backup.\n")
    assert len(data) < 3_000_000, "what came is without an end"


@pytest.mark.slow
async def test_a_restore_that_is_killed_anywhere_is_all_or_nothing_and_can_be_done_again(
    filled: Place, place_of: NewPlace
) -> None:
    file = str(filled.home / "all.backup")
    assert (await footnote(filled, "backup", "--quiet", file)) == (0, b"", "")
    whole = without_places(await filled.rows())
    chance = random.Random(5)
    for kill in range(6):
        there = await place_of(EMBEDDED, f"there{kill}")
        env = environment(there.home, **there.environ, FOOTNOTE_HOME=str(there.home))
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "footnote", "restore", file, env=env)
        with suppress(TimeoutError):
            async with asyncio.timeout(chance.uniform(0.2, 1.5)):
                await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()
        rows = await there.rows()
        if rows["session"]:
            assert without_places(rows) == whole
        else:
            assert [row[0] for row in rows["account"]] == ["local"]
            assert (await footnote(there, "restore", file))[0] == 0
            assert without_places(await there.rows()) == whole


@pytest.mark.slow
async def test_from_one_machine_to_several(filled: Place, place_of: NewPlace) -> None:
    """The way of a team that has outgrown one process: the two lines of the documentation."""
    grown = await place_of(SERVICES, "grown")
    file = str(filled.home / "all.backup")
    assert (await footnote(filled, "backup", file))[0] == 0
    assert (await footnote(grown, "restore", file))[0] == 0
    assert without_places(await grown.rows()) == without_places(await filled.rows())


@pytest.mark.parametrize(("name", "module"), [("backup", cli_backup), ("restore", cli_restore)])
def test_every_option_is_on_the_pages(name: str, module: object) -> None:
    parser = CommandParser(prog="footnote")
    commands = parser.add_subparsers()
    module.register(commands)  # pyright: ignore[reportAttributeAccessIssue] - what every command module has
    options = [option for action in commands.choices[name]._actions for option in action.option_strings]
    section = (DOCS / "cli.md").read_text(encoding="utf-8").partition(f"## footnote {name}")[2].partition("\n## ")[0]
    wanted = [option for option in options if option not in ("-h", "--help", "--home", "--config")]
    assert [option for option in wanted if f"`{option}" not in section] == []
    assert name in COMMANDS
