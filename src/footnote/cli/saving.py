"""What is fetched becomes a file on this machine: whole or not at all, and nothing is overwritten unasked."""

import asyncio
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from footnote.protocol.errors import UsageError


async def save(target: Path, pieces: AsyncGenerator[bytes, None], *, force: bool = False) -> None:
    """Written beside its place, and moved there when it is whole."""
    async with aclosing(pieces):
        with _beside(target, force=force) as aside, aside.open("wb") as file:
            async for piece in pieces:
                try:
                    await asyncio.to_thread(file.write, piece)
                except OSError as error:
                    raise _unwritable(target, error) from error


def check_readable(files: list[Path]) -> None:
    """Before anything is asked of anybody."""
    for file in files:
        if not file.is_file():
            reason = "it is not a file" if file.exists() else "there is no such file"
            raise UsageError(f"{file} cannot be sent: {reason}.")


@contextmanager
def _beside(target: Path, *, force: bool) -> Generator[Path, None, None]:
    """A file in the same folder, which takes its place in the end."""
    if target.is_dir():
        raise UsageError(f"{target} is a folder. Name a file in it: --output FILE")
    if target.exists() and not force:
        raise taken(target)
    try:
        with NamedTemporaryFile(prefix=f".{target.name[:40]}-", dir=target.parent, delete=False) as made:
            aside = Path(made.name)
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield aside
        _give_mode(aside)
        put_in_place(aside, target, force=force)
    finally:
        with suppress(OSError):
            aside.unlink()


def _give_mode(aside: Path) -> None:
    """A temporary file is for its owner alone; what is saved is like any other file of theirs."""
    mask = os.umask(0)
    os.umask(mask)
    with suppress(OSError):
        aside.chmod(0o666 & ~mask)


def put_in_place(aside: Path, target: Path, *, force: bool, other: str = "choose another: --output FILE") -> None:
    """A link is made or refused at once, so that nothing that came meanwhile is lost. `other`: the other way out."""
    try:
        if force:
            aside.replace(target)
        else:
            os.link(aside, target)
    except FileExistsError:
        raise taken(target, other) from None
    except OSError:  # a file system without links
        aside.rename(target)


def taken(target: Path, other: str = "choose another: --output FILE") -> UsageError:
    return UsageError(f"{target} is there already, and is not overwritten. Give --force, or {other}")


def _unwritable(target: Path, error: OSError) -> UsageError:
    return UsageError(f"{target} cannot be written: {error.strerror}.")
