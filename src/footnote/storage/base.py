"""The interface of a storage, whose objects are written once and never changed, and the header of a download."""

import asyncio
import re
import unicodedata
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from footnote.protocol.errors import FootnoteError
from footnote.tracing import EventCounter, HealthLog, Operation


class StorageFailed(FootnoteError):
    type = "storage_failed"
    retryable = True
    public = "The files of the server cannot be reached now. Try again later; who runs it finds out why in its log."


class StorageFull(StorageFailed):
    """The storage is full."""

    type = "storage_full"
    public = "There is no room for more files on the server. Who runs it finds out more in its log."


PLACE = r"[0-9a-f]{2}/[0-9a-f]{64}\.[0-9a-f]{8}"
"""The format of a place, the key of an object; any other format is a programming error."""
CHUNK_BYTES = 256 * 1024
_place_pattern = re.compile(PLACE)


def check_place(place: str) -> str:
    if not _place_pattern.fullmatch(place):
        raise AssertionError(f"{place!r} is no place")
    return place


def read_chunk(file: Path, start: int, size: int = CHUNK_BYTES) -> bytes:
    """Reads a chunk of a file. The file is opened for each chunk, so that a slow client holds no file descriptor."""
    with file.open("rb", buffering=0) as opened:
        opened.seek(start)
        return opened.read(max(size, 0))


class Storage(Protocol):
    """A storage raises `StorageFailed`, or `StorageFull` if there is no space left, and no other error."""

    @property
    def address(self) -> str:
        """The prefix of an upload's key: `local://`, or `s3://BUCKET/`."""
        ...

    async def put(self, place: str, content: bytes | Path, sha256: str) -> None:
        """Stores bytes, or those of a file, which have this hash. When it returns, either all of them are durable or
        none is stored."""
        ...

    def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """Streams the bytes from `start` to before `end`. `StorageFailed`: there is no such object."""
        ...

    async def delete(self, place: str) -> None:
        """Deletes an object; a missing one is ignored."""
        ...

    def signed_url(self, place: str, *, seconds: int, filename: str, media_type: str) -> str | None:
        """A URL at which anyone may download the object for `seconds`, to be saved as `filename`; None: this storage
        has no URLs, and the server streams the object itself."""
        ...

    async def check(self) -> None:
        """`StorageFailed` says why the storage is not usable; for `doctor`."""
        ...

    async def close(self) -> None: ...


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
    """Records the duration, size and outcome of every request to another storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @property
    def address(self) -> str:
        return self._storage.address

    async def put(self, place: str, content: bytes | Path, sha256: str) -> None:
        with REQUESTS("put") as span:
            size = len(content) if isinstance(content, bytes) else await asyncio.to_thread(_file_size, content)
            span.set_attributes({"footnote.storage.bytes": size})
            await self._storage.put(place, content, sha256)
        BYTES.add(size, "in")

    async def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._storage.read(place, start, end)) as chunks:
            with REQUESTS("read"):
                chunk = await anext(chunks, b"")
            while chunk:
                BYTES.add(len(chunk), "out")
                yield chunk
                chunk = await anext(chunks, b"")

    async def delete(self, place: str) -> None:
        with REQUESTS("delete"):
            await self._storage.delete(place)

    def signed_url(self, place: str, *, seconds: int, filename: str, media_type: str) -> str | None:
        return self._storage.signed_url(place, seconds=seconds, filename=filename, media_type=media_type)

    async def check(self) -> None:
        await self._storage.check()

    async def close(self) -> None:
        await self._storage.close()


def _file_size(file: Path) -> int:
    return file.stat().st_size


# Downloads --------------------------------------------------------------------------------------------------


_ASCII_SAFE = frozenset("!#$&+-.^_`|~ ()[]{}@=',;abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Bidi controls can make a name that ends in `.exe` look like one that ends in `.png`."""


def content_disposition(filename: str) -> str:
    """The file name in both forms: UTF-8, and ASCII for the few programs that know no other."""
    name = "".join("_" if _is_unsafe(character) else character for character in filename)
    plain = "".join(character if character in _ASCII_SAFE else "_" for character in name)
    exact = quote(name, safe="!#$&+-.^_`|~")
    return f'attachment; filename="{plain}"' + ("" if plain == name else f"; filename*=UTF-8''{exact}")


def _is_unsafe(character: str) -> bool:
    return character in "/\\" or character in _BIDI_CONTROLS or unicodedata.category(character) in ("Cc", "Cs")
