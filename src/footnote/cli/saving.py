"""What is fetched becomes a file on this machine: whole or not at all, and nothing is overwritten unasked."""

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
except ImportError:  # Windows: there a file that somebody writes cannot be deleted anyway
    fcntl = None

_PARTIAL = ".footnote-partial"


async def save(target: Path, chunks: AsyncGenerator[bytes, None], *, force: bool = False) -> None:
    """Written beside its place, and moved there when it is whole."""
    async with aclosing(chunks):
        with _atomic_file(target, force=force) as file:
            async for piece in chunks:
                try:
                    await asyncio.to_thread(file.write, piece)
                except OSError as error:
                    raise _write_error(target, error) from error


def check_readable(files: list[Path]) -> None:
    """Before anything is asked of anybody."""
    for file in files:
        if not file.is_file():
            reason = "it is not a file" if file.exists() else "there is no such file"
            raise UsageError(f"{file} cannot be sent: {reason}.")


@contextmanager
def _atomic_file(target: Path, *, force: bool) -> Generator[IO[bytes], None, None]:
    """A file in the same folder, which takes its place in the end."""
    if target.is_dir():
        raise UsageError(f"{target} is a folder. Name a file in it: --output FILE")
    if target.exists() and not force:
        raise already_exists_error(target)
    try:
        descriptor, aside = partial_file(target)
    except OSError as error:
        raise _write_error(target, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        _apply_umask(aside)
        move_into_place(aside, target, force=force)
    finally:
        with suppress(OSError):
            aside.unlink()


def partial_file(target: Path) -> tuple[int, Path]:
    """A new file beside `target`, hidden and for its owner alone, locked as long as its descriptor is open. Those in
    the same folder that a killed process left behind are removed first: nobody holds their lock any more."""
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
    """A temporary file is for its owner alone; what is saved is like any other file of theirs."""
    mask = os.umask(0)
    os.umask(mask)
    with suppress(OSError):
        temporary.chmod(0o666 & ~mask)


def move_into_place(temporary: Path, target: Path, *, force: bool, hint: str = "choose another: --output FILE") -> None:
    """A link is made or refused at once, so that nothing that came meanwhile is lost. `other`: the other way out."""
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
    return UsageError(f"{target} is there already, and is not overwritten. Give --force, or {hint}")


def _write_error(target: Path, error: OSError) -> UsageError:
    return UsageError(f"{target} cannot be written: {error.strerror}.")
