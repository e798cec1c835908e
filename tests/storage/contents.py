"""Contents, and the places where a storage keeps them."""

import hashlib
import secrets
from contextlib import aclosing

from footnote.storage.base import Storage


def hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def place_of(content: bytes) -> str:
    """A new place each time, as the product generates it."""
    sha256 = hash_of(content)
    return f"{sha256[:2]}/{sha256}.{secrets.token_hex(4)}"


async def put(storage: Storage, content: bytes) -> str:
    """Stores the content, and returns its place."""
    place = place_of(content)
    await storage.put(place, content, hash_of(content))
    return place


async def read_all(storage: Storage, place: str, start: int = 0, end: int | None = None) -> bytes:
    async with aclosing(storage.read(place, start, end)) as pieces:
        return b"".join([piece async for piece in pieces])
