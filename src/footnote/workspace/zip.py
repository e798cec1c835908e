"""A zip file that is made while it is sent: it is never whole anywhere on this side. And the names in it."""

import asyncio
import zipfile
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime
from typing import Any, TypeAlias
from urllib.parse import unquote

from footnote.protocol.files import FileVersion
from footnote.workspace.export import safe_name
from footnote.workspace.files import FileMissing, Workspace
from footnote.workspace.paths import UPLOADS, upload_name

Moment: TypeAlias = tuple[int, int, int, int, int, int]
ZIP_EPOCH: Moment = (1980, 1, 1, 0, 0, 0)
"""The first that a zip file knows. Where it stands on every entry, the same contents make the same file."""
_PLAIN_FILE = 0o100644 << 16
_UNIX = 3
_MAX_FOLDERS = 4


class OutgoingZip:
    """`add` each file and send what it yields, then what `end` returns."""

    def __init__(self) -> None:
        self._sink = _ChunkSink()
        self._zip = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED)

    async def add(
        self, name: str, pieces: AsyncGenerator[bytes, None], *, timestamp: Moment = ZIP_EPOCH, large: bool = False
    ) -> AsyncGenerator[bytes, None]:
        """`large`: it may have more than 2 GB, which has to be known beforehand."""
        entry = zipfile.ZipInfo(name, timestamp)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = _UNIX
        entry.external_attr = _PLAIN_FILE
        file = self._zip.open(entry, "w", force_zip64=large)
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    await _in_thread(file.write, piece)
                    if packed := self._sink.drain():
                        yield packed
        finally:
            await _in_thread(file.close)
        yield self._sink.drain()

    async def finish(self) -> bytes:
        """The list of what is in it, which comes last."""
        await _in_thread(self._zip.close)
        return self._sink.drain()


class _ChunkSink:
    """Takes what is written, until it is fetched. It cannot be gone back in: it is sent already."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """What is left is fetched after that."""

    def drain(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


class HarmlessNames:
    """Each file gets a path of its own that is harmless on any system, also where capitals do not count, and none that
    a folder has."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def unique_path(self, key: str) -> str:
        path = f"uploads/{upload_name(key)}" if key.startswith(UPLOADS) else key.strip("/")
        *folders, filename = path.split("/")
        folder = ""
        for name in folders[:_MAX_FOLDERS]:
            folder = self._first(folder, safe_name(name), lambda path: path not in self._files) + "/"
            self._folders.add(folder[:-1].casefold())
        path = self._first(
            folder, safe_name(filename), lambda path: path not in self._files and path not in self._folders
        )
        self._files.add(path.casefold())
        return path

    def _first(self, folder: str, name: str, is_free: Callable[[str], bool]) -> str:
        """The first of `report.md`, `report-2.md`, `report-3.md`, … that is free."""
        stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
        number, path = 1, f"{folder}{name}"
        while not is_free(path.casefold()):
            number += 1
            path = f"{folder}{stem}-{number}{dot}{suffix}"
        return path


async def _in_thread(work: Callable[..., Any], *arguments: Any) -> None:
    """Also when cancelled it waits for the thread: nothing may be closed while it is written to."""
    working = asyncio.create_task(asyncio.to_thread(work, *arguments))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait((working,))
        raise


# All files of a workspace as one zip file.


async def zip_workspace(workspace: Workspace) -> AsyncGenerator[bytes, None]:
    """What the agent made and what was uploaded, under `uploads/`; not large tool results, which nobody asked for."""
    archive, names = OutgoingZip(), HarmlessNames()
    for record in await workspace.list_visible():
        try:
            opened = await workspace.open(record.path)
        except FileMissing:  # deleted meanwhile
            continue
        large = opened.version.size > zipfile.ZIP64_LIMIT
        name = names.unique_path(unquote(record.url) if record.source == "upload" else record.path)
        adding = archive.add(name, opened.read(0, None), timestamp=_zip_timestamp(opened.version), large=large)
        async with aclosing(adding) as pieces:
            async for piece in pieces:
                yield piece
    yield await archive.finish()


def _zip_timestamp(version: FileVersion) -> Moment:
    return max(ZIP_EPOCH, datetime.fromisoformat(version.created_at).timetuple()[:6])
