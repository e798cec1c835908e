"""Files in memory, for a process that forgets."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from footnote.storage.base import CHUNK_BYTES, StorageFailed, check_place


class MemoryStorage:
    address = "local://"

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}

    async def put(self, place: str, content: bytes | Path, sha256: str) -> None:  # noqa: ARG002 - nothing is lost on the way
        check_place(place)
        self._contents[place] = content if isinstance(content, bytes) else await asyncio.to_thread(content.read_bytes)

    async def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        check_place(place)
        if place not in self._contents:
            raise StorageFailed("A file that the database knows of is not in memory.")
        content = self._contents[place][start : len(self._contents[place]) if end is None else max(end, start)]
        for begin in range(0, len(content), CHUNK_BYTES):
            yield content[begin : begin + CHUNK_BYTES]

    async def delete(self, place: str) -> None:
        check_place(place)
        self._contents.pop(place, None)

    def signed_url(self, place: str, *, seconds: int, filename: str, media_type: str) -> str | None:  # noqa: ARG002 - as every storage
        return None

    async def check(self) -> None:
        """It can always be used."""

    async def close(self) -> None:
        self._contents.clear()
