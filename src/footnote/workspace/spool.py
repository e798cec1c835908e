"""What somebody sends, as a file of ours until it is known what becomes of it."""

import asyncio
import errno
import hashlib
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

from msgspec import Struct

from footnote.protocol.errors import TooLarge
from footnote.storage.base import StorageFailed, StorageFull

STALE_SECONDS = 3600.0
"""What is older was left behind by a process that was killed."""
_PREFIX = "footnote-"


class Spooled(Struct, frozen=True):
    path: Path
    size: int
    sha256: str


class Spool:
    """A folder for such files; None: that of the system, which may lie in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @asynccontextmanager
    async def receive(self, pieces: AsyncIterator[bytes], *, max_bytes: int) -> AsyncGenerator[Spooled, None]:
        """All pieces, as a file that only this user of the machine can read, and that is gone at the end.
        `TooLarge`: they are more than `most` bytes."""
        file = await asyncio.to_thread(self._open)
        try:
            hashed, size = hashlib.sha256(), 0
            async for piece in pieces:
                size += len(piece)
                if size > max_bytes:
                    raise TooLarge(
                        f"The file is larger than {max_bytes:,} bytes, the most that is taken here. Send a smaller one."
                    )
                hashed.update(piece)
                await asyncio.to_thread(_write, file, piece)
            await asyncio.to_thread(_flush, file)
            yield Spooled(Path(file.name), size, hashed.hexdigest())
        finally:
            await asyncio.to_thread(file.close)

    def remove_stale(self) -> None:
        """Removes what a process that was killed left behind."""
        before = time.time() - STALE_SECONDS
        for left in self._folder.glob(f"{_PREFIX}*") if self._folder is not None else ():
            with suppress(OSError):
                if left.stat().st_mtime < before:
                    left.unlink()

    def _open(self) -> IO[bytes]:
        try:
            if self._folder is not None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self.remove_stale()
            return tempfile.NamedTemporaryFile(prefix=_PREFIX, dir=self._folder)
        except OSError as error:
            raise _storage_error(error) from error


def _write(file: IO[bytes], piece: bytes) -> None:
    try:
        file.write(piece)
    except OSError as error:
        raise _storage_error(error) from error


def _flush(file: IO[bytes]) -> None:
    try:
        file.flush()
    except OSError as error:
        raise _storage_error(error) from error


def _storage_error(error: OSError) -> StorageFailed:
    kind = StorageFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageFailed
    return kind(f"What is sent cannot be written to {error.filename or 'the disk'}: {error.strerror}.")
