"""`footnote backup`: all stored data as one file, whether the server runs or not."""

import argparse
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from footnote import __version__
from footnote.cli import Exit
from footnote.cli.output import print_note, run_interruptible
from footnote.cli.saving import already_exists_error, move_into_place, partial_file
from footnote.cli.terminal.clean import clean_line
from footnote.config.environment import process_environment
from footnote.config.load import load
from footnote.protocol.errors import FootnoteError, UsageError

if TYPE_CHECKING:
    from footnote.backup.format import BackupEnd
    from footnote.db.engine import Database
    from footnote.storage.base import Storage

STDIO = "-"
OVERWRITE_HINT = "name another file."
EPILOG = "Exit codes: 0 all is right, 1 something went wrong or is damaged, 2 it is not a backup."


class NotWritten(FootnoteError):
    """The backup could not be written, and there is no partial file."""

    type = "backup_not_written"


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "backup",
        help="write all stored data to one file",
        description="Writes all accounts, sessions, files and texts into one file, as they are at one moment. The "
        "server may run meanwhile. The file contains all of that: keep it safe.",
        epilog=EPILOG,
    )
    parser.add_argument("file", metavar="FILE", help="where to write it; - for stdout")
    parser.add_argument("--force", action="store_true", help="overwrite FILE, once the new one is complete")
    parser.add_argument("--verify", action="store_true", help="check the backup in FILE, and write nothing")
    parser.add_argument("--quiet", action="store_true", help="print only errors")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.verify:
        return _verify(arguments)
    return run_interruptible(lambda: _make(arguments), "Stopped. There is no backup.")


@asynccontextmanager
async def open_stores(arguments: argparse.Namespace) -> AsyncGenerator[tuple["Database", "Storage"], None]:
    """The database and the storage of the settings."""
    from footnote.db.engine import Database  # noqa: PLC0415 - slow to import, and Ctrl-C must work meanwhile
    from footnote.net.client import Net  # noqa: PLC0415 - see above
    from footnote.net.proxies import Proxies  # noqa: PLC0415 - see above
    from footnote.storage import open_storage  # noqa: PLC0415 - see above

    configuration = load(arguments.home, arguments.config_file)
    settings, home, environ = configuration.settings, configuration.home, process_environment()
    async with Net(Proxies.from_environment(environ)) as net, Database.open(settings.database.url, home) as database:
        storage = open_storage(settings.storage.url, home, environ, net)
        try:
            yield database, storage
        finally:
            await storage.close()


@contextmanager
def open_input(name: str) -> Generator[Path, None, None]:
    """A file that can be read more than once; stdin is copied to a temporary one."""
    if name != STDIO:
        yield Path(name)
        return
    if sys.stdin.isatty():
        raise UsageError("stdin is a terminal. Pipe a backup into it: age -d FILE | footnote restore -")
    with NamedTemporaryFile(prefix="footnote-backup-") as aside:
        shutil.copyfileobj(sys.stdin.buffer, aside)
        aside.flush()
        yield Path(aside.name)


def format_counts(end: "BackupEnd") -> str:
    """`3 accounts, 2,000 sessions, 512 files, 40 texts that were read`."""
    named = (
        (end.rows.get("account", 0), "account", "accounts"),
        (end.rows.get("session", 0), "session", "sessions"),
        (end.rows.get("workspace_file", 0), "file", "files"),
        (end.rows.get("snapshot", 0), "text that was read", "texts that were read"),
    )
    return ", ".join(f"{count:,} {one if count == 1 else more}" for count, one, more in named)


# Making ----------------------------------------------------------------------------------------------------


async def _make(arguments: argparse.Namespace) -> int:
    from footnote.backup.create import create_backup  # noqa: PLC0415 - slow to import, and Ctrl-C must work meanwhile

    _check_database_exists(arguments)
    async with open_stores(arguments) as (database, storage):
        with _open_output(arguments.file, force=arguments.force) as write:
            made = await create_backup(database, storage, write, __version__)
    if not arguments.quiet:
        print_note(f"Backed up {format_counts(made.end)}: {made.bytes:,} bytes.")
    if made.end.gone and not arguments.quiet:
        print_note(f"Left out, because they were deleted meanwhile: {_files(made.end.gone)}.")
    if made.end.lost:
        print_note(
            f"Missing or damaged in the storage, and so in the backup: {_files(made.end.lost)}. All else is in it."
        )
        return Exit.FAILURE
    return Exit.OK


def _files(count: int) -> str:
    return f"the content of {count:,} {'file' if count == 1 else 'files'}"


def _check_database_exists(arguments: argparse.Namespace) -> None:
    """A nightly job with the wrong home folder would otherwise write empty backups without an error."""
    configuration = load(arguments.home, arguments.config_file)
    scheme, _, rest = configuration.settings.database.url.partition(":")
    path = configuration.home / Path(rest).expanduser()
    if scheme == "sqlite" and not path.exists():
        raise UsageError(f"There is nothing to back up: {path} does not exist. Name the home folder with --home DIR.")


Write: TypeAlias = Callable[[bytes], object]


@contextmanager
def _open_output(target: str, *, force: bool) -> Generator[Write, None, None]:
    """A function that writes to `target`, which appears when the backup is complete, or not at all."""
    if target != STDIO:
        with _atomic_file(Path(target), force=force) as write:
            yield write
        return
    if sys.stdout.isatty():
        raise UsageError("stdout is a terminal. Pipe the backup on: footnote backup - | age -r KEY > FILE")
    try:
        yield _translating_writer(sys.stdout.buffer, "stdout")
        with _translate_errors("stdout"):
            sys.stdout.buffer.flush()
    except NotWritten:
        # Python would try to flush the buffer again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


@contextmanager
def _atomic_file(target: Path, *, force: bool) -> Generator[Write, None, None]:
    """A temporary file with mode 0600 in the same folder, renamed when it is complete and synced to the disk."""
    if target.is_dir():
        raise UsageError(f"{target} is a folder. Name a file in it.")
    if target.exists() and not force:
        raise already_exists_error(target, OVERWRITE_HINT)
    with _translate_errors(str(target)):
        descriptor, temporary = partial_file(target)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as made:
            yield _translating_writer(made, str(target))
            with _translate_errors(str(target)):
                os.fsync(made.fileno())
                move_into_place(temporary, target, force=force, hint=OVERWRITE_HINT)
                _sync_folder(target.parent)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _translating_writer(file: IO[bytes], name: str) -> Write:
    """Turns an OSError of the output into NotWritten, so that it is not taken for an error of the storage."""

    def write(data: bytes) -> None:
        view = memoryview(data)
        with _translate_errors(name):
            while view:
                view = view[file.write(view) :]

    return write


@contextmanager
def _translate_errors(name: str) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        raise NotWritten(f"{name} cannot be written: {error.strerror}. There is no backup.") from error


def _sync_folder(folder: Path) -> None:
    """The name of a file survives a power failure only when its folder is synced too."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# Verifying -------------------------------------------------------------------------------------------------


def _verify(arguments: argparse.Namespace) -> int:
    from footnote.backup.verify import verify_backup  # noqa: PLC0415 - slow to import, and Ctrl-C must work meanwhile

    with open_input(arguments.file) as file:
        checked = verify_backup(file)
    print(clean_line(f"Made     {checked.head.made_at} by Footnote {checked.head.footnote}"))
    print(f"Holds    {format_counts(checked.end)}")
    if checked.end.gone:
        print(f"Without  {_files(checked.end.gone)}, deleted while it was made")
    if checked.end.lost:
        print(f"Without  {_files(checked.end.lost)}, missing or damaged when it was made")
    print("All is right.")
    return Exit.OK
