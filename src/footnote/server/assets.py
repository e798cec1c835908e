"""The static files of the page: a table of their names, built once, so that no other file of the disk can be served.

A file is read at its first request, and compressed at the first request that accepts gzip.
"""

import asyncio
import gzip
import hashlib
from collections.abc import Iterator
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

HTML = "text/html"
_COMPRESSIBLE_TYPES = {
    "css": "text/css",
    "html": HTML,
    "js": "text/javascript",
    "json": "application/json",
    "map": "application/json",
    "mjs": "text/javascript",
    "svg": "image/svg+xml",
    "ttf": "font/ttf",
    "txt": "text/plain",
    "wasm": "application/wasm",
    "webmanifest": "application/manifest+json",
}
"""Types that are worth compressing."""
_INCOMPRESSIBLE_TYPES = {
    "bcmap": "application/octet-stream",
    "ico": "image/x-icon",
    "jpg": "image/jpeg",
    "pfb": "application/octet-stream",
    "png": "image/png",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
}
_TYPES = {**_COMPRESSIBLE_TYPES, **_INCOMPRESSIBLE_TYPES}


class Asset:
    """One file. `is_immutable`: its name changes with its content, so that it may be cached for ever."""

    def __init__(self, name: str, file: Traversable) -> None:
        suffix = name.rpartition(".")[2].lower()
        self.media_type = _TYPES.get(suffix, "application/octet-stream")
        self.is_immutable = name.startswith("assets/")
        self.is_compressible = suffix in _COMPRESSIBLE_TYPES
        self._file = file

    @cached_property
    def content(self) -> bytes:
        return self._file.read_bytes()

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.content, 9, mtime=0)

    @cached_property
    def etag(self) -> str:
        """The same for both forms, compressed or not."""
        return f'W/"{hashlib.sha256(self.content).hexdigest()[:32]}"'

    async def body(self, *, compressed: bool) -> bytes:
        """In a thread, because some files have megabytes."""
        await asyncio.to_thread(lambda: self.etag)
        return await asyncio.to_thread(lambda: self.compressed) if compressed else self.content


class Assets:
    """The files by name: `index.html`, `assets/index-8f3a.js`."""

    def __init__(self, folder: Traversable | None = None) -> None:
        self._folder = folder if folder is not None else files("footnote.server").joinpath("static")

    @cached_property
    def _table(self) -> dict[str, Asset]:
        return {name: Asset(name, file) for name, file in _walk(self._folder)}

    def find(self, name: str) -> Asset | None:
        return self._table.get(name)


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry
