"""Saves downloads as files: completely or not at all, and existing files are overwritten only with --force."""

import asyncio
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import IO

from footnote.protocol.errors import UsageError

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be deleted anyway
    fcntl = None

_PARTIAL = ".footnote-partial"


async def save(target: Path, chunks: AsyncGenerator[bytes, None], *, force: bool = False) -> None:
    """Writes a temporary file beside `target`, and moves it there when it is complete."""
    async with aclosing(chunks):
        with _atomic_file(target, force=force) as file:
            async for chunk in chunks:
                try:
                    await asyncio.to_thread(file.write, chunk)
                except OSError as error:
                    raise _write_error(target, error) from error


def check_readable(files: list[Path]) -> None:
    """Checks files before anything is opened or sent."""
    for file in files:
        if not file.is_file():
            reason = "it is not a file" if file.exists() else "there is no such file"
            raise UsageError(f"{file} cannot be sent: {reason}.")


@contextmanager
def _atomic_file(target: Path, *, force: bool) -> Generator[IO[bytes], None, None]:
    """A temporary file in the same folder, which replaces `target` at the end."""
    if target.is_dir():
        raise UsageError(f"{target} is a folder. Name a file in it: --output FILE")
    if target.exists() and not force:
        raise already_exists_error(target)
    try:
        descriptor, temporary = partial_file(target)
    except OSError as error:
        raise _write_error(target, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        _apply_umask(temporary)
        move_into_place(temporary, target, force=force)
    finally:
        with suppress(OSError):
            temporary.unlink()


def partial_file(target: Path) -> tuple[int, Path]:
    """A new hidden file beside `target` with mode 0600, locked as long as its descriptor is open. Partial files in the
    same folder that a killed process left behind are removed first: they are no longer locked."""
    for abandoned in target.parent.glob(f".*{_PARTIAL}"):
        _remove_unlocked(abandoned)
    descriptor, name = mkstemp(prefix=f".{target.name[:40]}-", suffix=_PARTIAL, dir=target.parent)
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor, Path(name)


def _remove_unlocked(path: Path) -> None:
    with suppress(OSError):
        if fcntl is not None:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)
        else:
            path.unlink()


def _apply_umask(temporary: Path) -> None:
    """Temporary files have mode 0600; a saved file has the usual mode of the user's files."""
    mask = os.umask(0)
    os.umask(mask)
    with suppress(OSError):
        temporary.chmod(0o666 & ~mask)


def move_into_place(temporary: Path, target: Path, *, force: bool, hint: str = "choose another: --output FILE") -> None:
    """A hard link is created or refused atomically, so that a file that was created meanwhile is not overwritten.
    `hint`: the alternative to --force, for the error message."""
    try:
        if force:
            temporary.replace(target)
        else:
            os.link(temporary, target)
    except FileExistsError:
        raise already_exists_error(target, hint) from None
    except OSError:  # a file system without links
        temporary.rename(target)


def already_exists_error(target: Path, hint: str = "choose another: --output FILE") -> UsageError:
    return UsageError(f"{target} already exists. Give --force to overwrite it, or {hint}")


def _write_error(target: Path, error: OSError) -> UsageError:
    return UsageError(f"{target} cannot be written: {error.strerror}.")
