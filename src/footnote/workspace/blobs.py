"""Contents, kept once each by their hash: small ones in the database, large ones in the storage.

Most files that an agent writes are small, and are read again and again: in the database they cost no journey to a
bucket, and are there exactly when their version is. A large content is written to a place of its own before anything
needs it; a place is never written twice, so that whoever deletes one can never take it from somebody else.
"""

import asyncio
import hashlib
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

from footnote.db import blobs as db
from footnote.db.blobs import BlobGone, StoredBlob
from footnote.db.engine import Database
from footnote.storage.base import Storage, StorageFailed
from footnote.workspace.files import FileMissing
from footnote.workspace.spool import Spooled

INLINE_BYTES = 64 * 1024
"""What is no larger lies in the database."""
LOOSE_SECONDS = 3600.0
"""How long a place may be loose before it is taken for what a crash left behind."""
RENDITION_SECONDS = 86_400.0
_SWEEP_BATCH = 500
_MAX_ATTEMPTS = 5

log = logging.getLogger(__name__)

T = TypeVar("T")


class Blobs:
    def __init__(self, database: Database, storage: Storage, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._storage = storage
        self._clock = clock

    @property
    def address(self) -> str:
        """What stands before the key of an upload."""
        return self._storage.address

    async def store_for(self, content: bytes | Spooled, settle: Callable[[StoredBlob], Awaitable[T]]) -> T:
        """Keeps the content and has `need` settle it, in a transaction of its own choice."""
        for _ in range(_MAX_ATTEMPTS):
            kept = await self._store(content)
            try:
                return await settle(kept)
            except BlobGone:  # its last need went between the two; the next try writes it anew
                continue
        raise StorageFailed(
            "A file could not be kept, because the same content was deleted again and again. Try again."
        )

    async def read(self, content_hash: str) -> bytes:
        """`FileMissing`: nothing needs it any more."""
        return b"".join([piece async for piece in self.stream(content_hash)])

    async def stream(self, content_hash: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """The bytes from `start` to before `end`, in pieces."""
        lying = await self._database.read(db.blob_location(content_hash))
        if lying is None:
            raise FileMissing("The file has just been deleted.")
        if lying.place is None:
            yield (lying.content or b"")[start:end]
            return
        async for piece in self._storage.read(lying.place, start, end):
            yield piece

    async def signed_url(self, content_hash: str, *, seconds: int, filename: str, media_type: str) -> str | None:
        """An address of the storage itself, where it has one."""
        lying = await self._database.read(db.blob_location(content_hash))
        if lying is None or lying.place is None:
            return None
        return self._storage.signed_url(lying.place, seconds=seconds, filename=filename, media_type=media_type)

    async def sweep(self) -> None:
        """Removes from the storage what nothing needs: deleted contents at once, what a crash left after a while."""
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
