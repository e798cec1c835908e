"""Writes the zip of a bundle while it goes out, and the list of what is in it."""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing

from footnote.bundles.form import MANIFEST, MOST_ENTRIES, ManifestEntry
from footnote.protocol.errors import LimitReached
from footnote.workspace.zip import OutgoingZip


class BundleWriter:
    """`listed` is what is in it so far."""

    def __init__(self) -> None:
        self.listed: list[ManifestEntry] = []
        self._zip = OutgoingZip()

    async def add(self, name: str, content: bytes) -> bytes:
        """What goes out with it."""
        return b"".join([piece async for piece in self.add_pieces(name, _one(content))])

    async def add_pieces(self, name: str, pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        if len(self.listed) >= MOST_ENTRIES:
            raise LimitReached(
                f"The session has more than {MOST_ENTRIES:,} things in it, which is more than a bundle holds."
            )
        counted = _Counted(pieces)
        async with aclosing(self._zip.add(name, counted.pieces())) as packed:
            async for piece in packed:
                yield piece
        self.listed.append(ManifestEntry(name, counted.size, counted.digest.hexdigest()))

    async def end(self, manifest: bytes) -> bytes:
        """The list of all entries comes last, because it has their hashes."""
        last = [piece async for piece in self._zip.add(MANIFEST, _one(manifest))]
        return b"".join((*last, await self._zip.finish()))


class _Counted:
    """Pieces on their way, and what they come to."""

    def __init__(self, pieces: AsyncGenerator[bytes, None]) -> None:
        self.digest, self.size = hashlib.sha256(), 0
        self._pieces = pieces

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._pieces) as pieces:
            async for piece in pieces:
                self.digest.update(piece)
                self.size += len(piece)
                yield piece


async def _one(content: bytes) -> AsyncGenerator[bytes, None]:
    yield content
