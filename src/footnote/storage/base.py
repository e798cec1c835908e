"""What a storage can do. A place is written once and never changed."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Protocol

from footnote.protocol.errors import FootnoteError


class StorageFailed(FootnoteError):
    type = "storage_failed"
    retryable = True
    public = "The files of the server cannot be reached now. Try again later; who runs it finds out why in its log."


class StorageFull(StorageFailed):
    """No room is left."""

    type = "storage_full"
    public = "There is no room for more files on the server. Who runs it finds out more in its log."


PLACE = r"[0-9a-f]{2}/[0-9a-f]{64}\.[0-9a-f]{8}"
"""What a place looks like; anything else is a mistake of ours."""
CHUNK_BYTES = 256 * 1024
_place_pattern = re.compile(PLACE)


def check_place(place: str) -> str:
    if not _place_pattern.fullmatch(place):
        raise AssertionError(f"{place!r} is no place")
    return place


def read_chunk(file: Path, start: int, size: int = CHUNK_BYTES) -> bytes:
    """Opens it anew for each piece: who takes their time holds nothing meanwhile."""
    with file.open("rb", buffering=0) as opened:
        opened.seek(start)
        return opened.read(max(size, 0))


class Storage(Protocol):
    """Raises `StorageFailed` (`StorageFull` where there is no room) and nothing else."""

    @property
    def address(self) -> str:
        """What stands before the key of an upload: `local://`, or `s3://BUCKET/`."""
        ...

    async def put(self, place: str, content: bytes | Path, sha256: str) -> None:
        """Keeps the bytes, or those of a file, which have this hash. All of them are there when it returns, safe from
        a loss of power, or none."""
        ...

    def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """The bytes from `start` to before `end`, in pieces. `StorageFailed`: there is no such place."""
        ...

    async def delete(self, place: str) -> None:
        """Nothing happens where there is no such place."""
        ...

    def signed_url(self, place: str, *, seconds: int, filename: str, media_type: str) -> str | None:
        """An address where anybody may fetch it for so long, to be saved as `filename`; None: this storage has none,
        and the server hands it out itself."""
        ...

    async def check(self) -> None:
        """`StorageFailed` says what keeps it from being used; for `doctor`."""
        ...

    async def close(self) -> None: ...
