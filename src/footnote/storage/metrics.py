"""A storage whose requests are measured, whatever it is."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from footnote.storage.base import Storage, StorageFailed
from footnote.tracing import EventCounter, HealthLog, Operation

REQUESTS = Operation(
    "storage_request",
    "Requests to the storage; reading: until its first piece.",
    "operation",
    span="storage",
    failures=(StorageFailed,),
    health=HealthLog("The storage"),
)
BYTES = EventCounter("storage_bytes", "Bytes that went into the storage and came out of it.", "direction")


class MeasuredStorage:
    """Around another one."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def address(self) -> str:
        return self._storage.address

    async def put(self, place: str, content: bytes | Path, sha256: str) -> None:
        with REQUESTS("put") as span:
            size = len(content) if isinstance(content, bytes) else await asyncio.to_thread(_size, content)
            span.set_attributes({"footnote.storage.bytes": size})
            await self._storage.put(place, content, sha256)
        BYTES.add(size, "in")

    async def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._storage.read(place, start, end)) as pieces:
            with REQUESTS("read"):
                piece = await anext(pieces, b"")
            while piece:
                BYTES.add(len(piece), "out")
                yield piece
                piece = await anext(pieces, b"")

    async def delete(self, place: str) -> None:
        with REQUESTS("delete"):
            await self._storage.delete(place)

    def signed_url(self, place: str, *, seconds: int, filename: str, media_type: str) -> str | None:
        return self._storage.signed_url(place, seconds=seconds, filename=filename, media_type=media_type)

    async def check(self) -> None:
        await self._storage.check()

    async def close(self) -> None:
        await self._storage.close()


def _size(file: Path) -> int:
    return file.stat().st_size
