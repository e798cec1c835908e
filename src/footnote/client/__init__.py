"""A client of the server's API, over `footnote.net`. What is defined here is quick to import."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from msgspec import Struct

CHUNK_BYTES = 256 * 1024


class DownloadableDocument(Struct, frozen=True):
    """The result of a conversion. `notes`: what could not be shown as it was written."""

    filename: str
    notes: tuple[str, ...]
    chunks: AsyncGenerator[bytes, None]


async def read_chunks(file: Path) -> AsyncGenerator[bytes, None]:
    with await asyncio.to_thread(file.open, "rb") as opened:
        while chunk := await asyncio.to_thread(opened.read, CHUNK_BYTES):
            yield chunk
