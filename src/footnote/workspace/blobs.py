"""Contents, stored once each by their hash: small ones in the database, large ones in the storage.

Most files that an agent writes are small and are read again and again: in the database they need no request to a
bucket, and exist exactly as long as their version. A large content is written to a storage key of its own before a
version refers to it; a key is never written twice, so that deleting one cannot remove the content of another file.
"""

import asyncio
import errno
import hashlib
import logging
import secrets
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar

from msgspec import Struct

from footnote.db import blobs as db
from footnote.db.blobs import BlobGone, StoredBlob
from footnote.db.engine import Database
from footnote.protocol.errors import TooLarge
from footnote.storage.base import Storage, StorageFailed, StorageFull
from footnote.workspace.files import FileMissing

INLINE_BYTES = 64 * 1024
"""Contents up to this size are stored in the database."""
LOOSE_SECONDS = 3600.0
"""How long a storage key may have no reference before it counts as left over from a crash."""
RENDITION_SECONDS = 86_400.0
_SWEEP_BATCH = 500
_MAX_ATTEMPTS = 5

log = logging.getLogger(__name__)

T = TypeVar("T")


class Spooled(Struct, frozen=True):
    path: Path
    size: int
    sha256: str


class Blobs:
    def __init__(self, database: Database, storage: Storage, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._storage = storage
        self._clock = clock

    @property
    def address(self) -> str:
        """The prefix of an upload's key."""
        return self._storage.address

    async def store_for(self, content: bytes | Spooled, settle: Callable[[StoredBlob], Awaitable[T]]) -> T:
        """Stores the content and calls `settle` with it, in a transaction that `settle` chooses."""
        for _ in range(_MAX_ATTEMPTS):
            blob = await self._store(content)
            try:
                return await settle(blob)
            except BlobGone:  # its last reference was removed between the two; the next attempt writes it again
                continue
        raise StorageFailed(
            "A file could not be kept, because the same content was deleted again and again. Try again."
        )

    async def read(self, content_hash: str) -> bytes:
        """`FileMissing`: the content has no reference any more."""
        return b"".join([piece async for piece in self.stream(content_hash)])

    async def stream(self, content_hash: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """Streams the bytes from `start` to before `end`."""
        lying = await self._database.read(db.blob_location(content_hash))
        if lying is None:
            raise FileMissing("The file has just been deleted.", code="file_deleted")
        if lying.place is None:
            yield (lying.content or b"")[start:end]
            return
        async for piece in self._storage.read(lying.place, start, end):
            yield piece

    async def signed_url(self, content_hash: str, *, seconds: int, filename: str, media_type: str) -> str | None:
        """A URL of the storage itself, where it has one."""
        lying = await self._database.read(db.blob_location(content_hash))
        if lying is None or lying.place is None:
            return None
        return self._storage.signed_url(lying.place, seconds=seconds, filename=filename, media_type=media_type)

    async def sweep(self) -> None:
        """Removes unreferenced objects from the storage: deleted contents at once, those of a crash after a while."""
        await self._database.write(db.delete_renditions(self._clock() - RENDITION_SECONDS))
        while places := await self._database.write(db.claim_loose_places(LOOSE_SECONDS, self._clock(), _SWEEP_BATCH)):
            try:
                for place in places:
                    await self._storage.delete(place)
            except StorageFailed as error:
                log.warning("Deleted files cannot be removed from the storage yet: %s", error.message)
                return
            await self._database.write(db.delete_loose_places(places))

    async def _store(self, content: bytes | Spooled) -> StoredBlob:
        if isinstance(content, bytes):
            size, sha256 = len(content), await _hash(content)
        else:
            size, sha256 = content.size, content.sha256
        if size <= INLINE_BYTES:
            data = content if isinstance(content, bytes) else await asyncio.to_thread(content.path.read_bytes)
            return StoredBlob(sha256, size, content=data)
        if await self._database.read(db.has_blob(sha256)):
            return StoredBlob(sha256, size)
        place = f"{sha256[:2]}/{sha256}.{secrets.token_hex(4)}"
        await self._database.write(db.add_loose_place(place, self._clock()))
        await self._storage.put(place, content if isinstance(content, bytes) else content.path, sha256)
        return StoredBlob(sha256, size, place=place)


async def _hash(content: bytes) -> str:
    if len(content) <= INLINE_BYTES:
        return hashlib.sha256(content).hexdigest()
    return (await asyncio.to_thread(hashlib.sha256, content)).hexdigest()


# Incoming data, before it has a place --------------------------------------------------------------------


STALE_SECONDS = 3600.0
"""Temporary files that are older were left by a process that was killed."""
_PREFIX = "footnote-"


class Spool:
    """The folder of temporary files; None: that of the system, which may lie in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @asynccontextmanager
    async def receive(self, pieces: AsyncIterator[bytes], *, max_bytes: int) -> AsyncGenerator[Spooled, None]:
        """Writes all chunks to a temporary file that only this system user can read, and that is deleted at the end.
        `TooLarge`: there are more than `max_bytes`."""
        file = await asyncio.to_thread(self._open)
        try:
            hashed, size = hashlib.sha256(), 0
            async for piece in pieces:
                size += len(piece)
                if size > max_bytes:
                    raise TooLarge(
                        f"The file is larger than {max_bytes:,} bytes, the most that is taken here. "
                        "Send a smaller one.",
                        code="upload_too_large",
                        max=max_bytes,
                    )
                hashed.update(piece)
                await asyncio.to_thread(_write, file, piece)
            await asyncio.to_thread(_flush, file)
            yield Spooled(Path(file.name), size, hashed.hexdigest())
        finally:
            await asyncio.to_thread(file.close)

    def remove_stale(self) -> None:
        """Removes the temporary files of processes that were killed."""
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
