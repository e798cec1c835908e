"""Files of a workspace for the user: below a folder of the host, and as a zip file that is made while it is sent.

A model chose the names, so none of them becomes a path unchanged: each part is rebuilt from characters that are
harmless on every system. A file is only ever created exclusively, never opened, so no existing file is replaced and no
link is followed.
"""

import asyncio
import stat
import unicodedata
import zipfile
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from footnote.protocol.errors import UsageError
from footnote.protocol.files import FileRecord, FileVersion
from footnote.workspace.files import FileMissing, Workspace
from footnote.workspace.paths import LARGE_RESULTS, UPLOADS, upload_name

_MAX_NAME_BYTES = 120
_MAX_FOLDERS = 4
_HARMLESS = frozenset(" ._-()+,")
_LETTERS = frozenset("LMN")
"""The first letter of the Unicode categories of letters, the marks upon them, and digits."""
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{device}{number}" for device in ("com", "lpt") for number in range(10)}
)


async def save_to(
    directory: Path, workspace: Workspace, *, message_id: str | None = None
) -> list[tuple[FileRecord, Path]]:
    """Writes the generated files below `directory`; returns each record with the path that it got.

    `message_id`: only files that this message created or changed. If there are none, no folder is created.
    """
    records = await (workspace.list() if message_id is None else workspace.changed_files(message_id))
    wanted = [record for record in records if is_user_facing(record)]
    files = [(record, await workspace.read(record.path)) for record in wanted]
    return await asyncio.to_thread(_save_all, directory, files) if files else []


def is_user_facing(record: FileRecord) -> bool:
    """True of files that the agent wrote on purpose, not of uploads and large tool results."""
    return record.source == "generated" and not record.path.startswith(LARGE_RESULTS)


def safe_name(part: str) -> str:
    """A name for the host, made from one part of a workspace path."""
    text = "".join(character if _is_harmless(character) else "_" for character in unicodedata.normalize("NFC", part))
    # Leading dots and dashes make hidden files and command-line options; Windows drops trailing dots and spaces.
    text = text.lstrip(" .-").rstrip(" .")
    stem, dot, suffix = text.rpartition(".") if "." in text else (text, "", "")
    stem = _shorten(stem, _MAX_NAME_BYTES - len((dot + suffix).encode())) if len(suffix) <= 16 else ""
    text = stem + dot + suffix if stem else _shorten(text, _MAX_NAME_BYTES)
    # A Windows device name is reserved whatever follows its first dot, and in its compatibility forms too (COM¹).
    first = unicodedata.normalize("NFKC", text.partition(".")[0]).strip().casefold()
    return f"_{text}" if first in _DEVICES or not text else text


def _is_harmless(character: str) -> bool:
    return character in _HARMLESS or unicodedata.category(character)[0] in _LETTERS


def _shorten(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore").rstrip(" .")


def _save_all(directory: Path, files: list[tuple[FileRecord, bytes]]) -> list[tuple[FileRecord, Path]]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return [(record, _save(directory, record.path, content)) for record, content in files]
    except OSError as error:
        raise UsageError(f"The files could not be saved in {directory}: {error.strerror}.") from error


def _save(directory: Path, key: str, content: bytes) -> Path:
    *folders, filename = key.strip("/").split("/")
    folder = directory
    for name in folders[:_MAX_FOLDERS]:
        folder = _first(folder, safe_name(name), _ensure_folder)
    return _first(folder, safe_name(filename), partial(_create_file, content=content))


def _first(folder: Path, name: str, is_free: Callable[[Path], bool]) -> Path:
    """The first of `report.md`, `report-2.md`, `report-3.md`, … that fits."""
    stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
    numbered = (f"{stem}-{number}{dot}{suffix}" for number in count(2))
    return next(path for path in (folder / candidate for candidate in chain([name], numbered)) if is_free(path))


def _ensure_folder(path: Path) -> bool:
    """True if the folder was created just now, or exists and is no link."""
    try:
        path.mkdir()
    except FileExistsError:
        return stat.S_ISDIR(path.lstat().st_mode)
    return True


def _create_file(path: Path, content: bytes) -> bool:
    """True if the file was created just now; exclusive creation replaces nothing and follows no link."""
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return False
    return True


Moment: TypeAlias = tuple[int, int, int, int, int, int]
ZIP_EPOCH: Moment = (1980, 1, 1, 0, 0, 0)
"""The earliest date of the zip format, used for every entry, so that the same contents give the same file."""
_PLAIN_FILE = 0o100644 << 16
_UNIX = 3


class OutgoingZip:
    """`add` each file and send what it yields, then the bytes of `end`."""

    def __init__(self) -> None:
        self._sink = _ChunkSink()
        self._zip = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED)

    async def add(
        self, name: str, pieces: AsyncGenerator[bytes, None], *, timestamp: Moment = ZIP_EPOCH, large: bool = False
    ) -> AsyncGenerator[bytes, None]:
        """`large`: the file may exceed 2 GB, which zip must know beforehand."""
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
        """The central directory, which comes last."""
        await _in_thread(self._zip.close)
        return self._sink.drain()


class _ChunkSink:
    """Buffers written bytes until they are fetched. It cannot seek, because earlier bytes have been sent."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """There is no buffer below."""

    def close(self) -> None:
        """The rest is fetched afterwards."""

    def drain(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


class HarmlessNames:
    """Each file gets a unique path that is harmless on any system, unique also without regard to case, and not the path
    of a folder."""

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
    """Waits for the thread also when cancelled: the file may not be closed during a write."""
    working = asyncio.create_task(asyncio.to_thread(work, *arguments))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait((working,))
        raise


# All files of a workspace as one zip file.


async def zip_workspace(workspace: Workspace) -> AsyncGenerator[bytes, None]:
    """Generated files, and uploads below `uploads/`; without large tool results, which are no files of the user."""
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
