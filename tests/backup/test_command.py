"""`footnote backup` and `footnote restore` in processes of their own."""

import asyncio
import random
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from backup.conftest import NewInstallation
from backup.installations import (
    EMBEDDED,
    SERVICES,
    Installation,
    add_sample_session,
    run_program,
    without_storage_places,
)
from cli.process import environment
from footnote.cli import COMMANDS, CommandParser
from footnote.cli import backup as cli_backup
from footnote.cli import restore as cli_restore

pytestmark = pytest.mark.embedded  # these tests name both kinds of engine themselves

DOCS = Path(__file__).parents[2] / "docs"
HOLDS = "2 accounts, 1 session, 4 files, 1 text that was read"


async def footnote(installation: Installation, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
    env = environment(installation.home, **installation.environ, FOOTNOTE_HOME=str(installation.home))
    return await run_program(sys.executable, "-m", "footnote", *arguments, env=env, stdin=stdin)


async def run_shell(installation: Installation, script: str) -> tuple[int, bytes, str]:
    env = environment(
        installation.home, **installation.environ, FOOTNOTE_HOME=str(installation.home), PYTHON=sys.executable
    )
    return await run_program("bash", "-c", script, env=env)


@pytest.fixture
async def filled(source: Installation) -> Installation:
    await add_sample_session(source)
    return source


PARTIAL = """
import pathlib, sys, time
from footnote.cli.saving import partial_file
print(partial_file(pathlib.Path(sys.argv[1]))[1], flush=True)
time.sleep(60)
"""


async def test_what_a_killed_backup_left_is_removed_by_the_next_one(filled: Installation) -> None:
    writers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PARTIAL, str(filled.home / name)), stdout=asyncio.subprocess.PIPE
        )
        for name in ("monday.backup", "tuesday.backup")
    ]
    killed, alive = [Path((await writer.stdout.readline()).decode().strip()) for writer in writers if writer.stdout]
    try:
        writers[0].kill()
        await writers[0].wait()
        assert killed.exists()
        code, _, err = await footnote(filled, "backup", str(filled.home / "wednesday.backup"))
        assert code == 0, err
        assert not killed.exists()
        assert alive.exists()
    finally:
        writers[1].kill()
        await writers[1].wait()


@pytest.mark.slow
async def test_a_backup_is_a_file_of_its_owner_that_is_verified_and_restored(
    filled: Installation, target: Installation
) -> None:
    file = filled.home / "all.backup"
    code, out, err = await footnote(filled, "backup", str(file))
    assert (code, out) == (0, b"")
    assert re.fullmatch(rf"Backed up {HOLDS}: [\d,]+ bytes\.\n", err)
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(filled.home.glob(".all.backup-*")) == []
    code, out, err = await footnote(filled, "backup", "--verify", str(file))
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"Made     \S+ by Footnote \S+\nHolds    {HOLDS}\nAll is right\.\n", out.decode())
    code, out, err = await footnote(target, "restore", str(file))
    assert (code, out) == (0, b"")
    assert err.startswith(f"Restored {HOLDS}, as of ")
    assert without_storage_places(await target.rows()) == without_storage_places(await filled.rows())
    code, _, err = await footnote(target, "restore", str(file))
    assert code == 2
    assert "a backup is restored into an empty Footnote alone" in err


@pytest.mark.slow
async def test_it_goes_through_pipes(filled: Installation, target: Installation) -> None:
    code, data, _ = await footnote(filled, "backup", "-")
    assert (code, data[:16]) == (0, b"Footnote backup ")
    assert (await footnote(filled, "backup", "--verify", "-", stdin=data))[0] == 0
    code, _, err = await footnote(target, "restore", "-", stdin=data[:-1])
    assert (code, err) == (1, "footnote: The backup is cut off: its end is missing.\n")
    code, _, err = await footnote(target, "restore", "-", stdin=b"something else")
    assert (code, err) == (2, "footnote: It is not a backup of Footnote, or its beginning is missing.\n")
    assert (await footnote(target, "restore", "-", stdin=data))[0] == 0
    assert without_storage_places(await target.rows()) == without_storage_places(await filled.rows())


@pytest.mark.slow
async def test_nothing_is_overwritten_unasked(filled: Installation) -> None:
    file = filled.home / "all.backup"
    file.write_text("dear to me")
    code, _, err = await footnote(filled, "backup", str(file))
    assert (code, file.read_text()) == (2, "dear to me")
    assert err == f"footnote: {file} already exists. Give --force to overwrite it, or name another file.\n"
    assert (await footnote(filled, "backup", "--force", str(file)))[0] == 0
    assert file.read_bytes().startswith(b"Footnote backup 1\n")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
async def test_a_full_disk_leaves_no_file_and_says_so(filled: Installation) -> None:
    script = 'ulimit -f 1000; exec "$PYTHON" -m footnote backup "$FOOTNOTE_HOME/all.backup"'
    code, _, err = await run_shell(filled, script)
    assert code == 1
    assert err == f"footnote: {filled.home}/all.backup cannot be written: File too large. There is no backup.\n"
    assert [file for file in filled.home.iterdir() if "backup" in file.name] == []
    code, _, err = await run_shell(filled, 'exec "$PYTHON" -m footnote backup - > /dev/full')
    assert (code, err) == (1, "footnote: stdout cannot be written: No space left on device. There is no backup.\n")


@pytest.mark.slow
async def test_a_reader_who_leaves_has_no_backup_and_the_exit_code_says_so(filled: Installation) -> None:
    script = '"$PYTHON" -m footnote backup - | head -c 1 > /dev/null; exit ${PIPESTATUS[0]}'
    code, _, err = await run_shell(filled, script)
    assert (code, err) == (1, "footnote: stdout cannot be written: Broken pipe. There is no backup.\n")


@pytest.mark.slow
async def test_a_home_without_a_database_is_not_backed_up_as_an_empty_one(target: Installation) -> None:
    code, _, err = await footnote(target, "backup", str(target.home / "all.backup"))
    assert code == 2
    assert err.startswith(f"footnote: There is nothing to back up: {target.home}/footnote.db does not exist.")
    assert list(target.home.iterdir()) == []


@pytest.mark.slow
async def test_sigterm_ends_it_without_a_trace(filled: Installation) -> None:
    """Waits for a pipe without a reader, so that the signal arrives before the end."""
    env = environment(filled.home, **filled.environ, FOOTNOTE_HOME=str(filled.home))
    command = (sys.executable, "-m", "footnote", "backup", "-")
    process = await asyncio.create_subprocess_exec(
        *command, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert await process.stdout.readexactly(1) == b"F"
    process.send_signal(signal.SIGTERM)
    await asyncio.sleep(1)  # it receives the signal while it still waits
    async with asyncio.timeout(60):
        data = await process.stdout.read()
        err = await process.stderr.read()
        code = await process.wait()
    assert (code, err) == (130, b"Stopped. There is no backup.\n")
    assert len(data) < 3_000_000, "what came is without an end"


@pytest.mark.slow
async def test_a_restore_that_is_killed_anywhere_is_all_or_nothing_and_can_be_done_again(
    filled: Installation, new_installation: NewInstallation
) -> None:
    file = str(filled.home / "all.backup")
    assert (await footnote(filled, "backup", "--quiet", file)) == (0, b"", "")
    whole = without_storage_places(await filled.rows())
    rng = random.Random(5)
    for kill in range(6):
        target = await new_installation(EMBEDDED, f"target{kill}")
        env = environment(target.home, **target.environ, FOOTNOTE_HOME=str(target.home))
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "footnote", "restore", file, env=env)
        with suppress(TimeoutError):
            async with asyncio.timeout(rng.uniform(0.2, 1.5)):
                await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()
        rows = await target.rows()
        if rows["session"]:
            assert without_storage_places(rows) == whole
        else:
            assert [row[0] for row in rows["account"]] == ["local"]
            assert (await footnote(target, "restore", file))[0] == 0
            assert without_storage_places(await target.rows()) == whole


@pytest.mark.slow
async def test_from_one_machine_to_several(filled: Installation, new_installation: NewInstallation) -> None:
    """Moving to other engines with the two commands of the documentation."""
    grown = await new_installation(SERVICES, "grown")
    file = str(filled.home / "all.backup")
    assert (await footnote(filled, "backup", file))[0] == 0
    assert (await footnote(grown, "restore", file))[0] == 0
    assert without_storage_places(await grown.rows()) == without_storage_places(await filled.rows())


@pytest.mark.parametrize(("name", "module"), [("backup", cli_backup), ("restore", cli_restore)])
def test_every_option_is_on_the_pages(name: str, module: object) -> None:
    parser = CommandParser(prog="footnote")
    commands = parser.add_subparsers()
    module.register(commands)  # pyright: ignore[reportAttributeAccessIssue] - what every command module has
    options = [option for action in commands.choices[name]._actions for option in action.option_strings]
    section = (DOCS / "cli.md").read_text(encoding="utf-8").partition(f"## footnote {name}")[2].partition("\n## ")[0]
    documented = [option for option in options if option not in ("-h", "--help", "--home", "--config")]
    assert [option for option in documented if f"`{option}" not in section] == []
    assert name in COMMANDS
