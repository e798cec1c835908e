"""Files in a local folder, renamed to their key as soon as their bytes are durable, and files in memory."""

import asyncio
import errno
import hashlib
import os
import secrets
import sys
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from pathlib import Path

from footnote.storage.base import CHUNK_BYTES, StorageFailed, StorageFull, check_place, read_chunk

INCOMING = "incoming"
"""The folder of partial files, which have random names."""
STALE_SECONDS = 3600
"""A partial file that has not grown for this long was left by a process that was killed."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class LocalStorage:
    """The folder is created with the first file. Several processes may share it."""

    address = "local://"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._swept_at = -float(STALE_SECONDS)

    async def put(self, place: str, content: bytes | Path, sha256: str) -> None:
        cancelled = threading.Event()
        writing = asyncio.create_task(asyncio.to_thread(self._put, self._path(place), content, sha256, cancelled))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            # The thread stops soon after the event is set; until then the file that it copies must exist.
            cancelled.set()
            await asyncio.wait((writing,))
            raise

    async def read(self, place: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        path = self._path(place)
        stop = sys.maxsize if end is None else end
        try:
            while chunk := await asyncio.to_thread(read_chunk, path, start, min(CHUNK_BYTES, stop - start)):
                start += len(chunk)
                yield chunk
        except OSError as error:
            raise self._translate(error, "read") from error

    async def delete(self, place: str) -> None:
        path = self._path(place)
        try:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        except NotADirectoryError:
            return
        except OSError as error:
            raise self._translate(error, "written") from error

    def signed_url(self, place: str, *, seconds: int, filename: str, media_type: str) -> str | None:  # noqa: ARG002 - the interface of all storages
        return None

    async def check(self) -> None:
        probe = self._folder / INCOMING / secrets.token_hex(16)
        await asyncio.to_thread(self._probe, probe)

    async def close(self) -> None: ...

    def _path(self, place: str) -> Path:
        return self._folder / check_place(place)

    def _put(self, path: Path, content: bytes | Path, sha256: str, cancelled: threading.Event) -> None:
        temporary = self._folder / INCOMING / secrets.token_hex(16)
        try:
            _make_folder(temporary.parent)
            if time.monotonic() - self._swept_at >= STALE_SECONDS:
                self._sweep()
            try:
                _write(temporary, content, sha256, cancelled)
                _make_folder(path.parent)
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            _fsync_folder(path.parent)
        except OSError as error:
            raise self._translate(error, "written") from error

    def _probe(self, probe: Path) -> None:
        try:
            _make_folder(probe.parent)
            try:
                _write(probe, b"Footnote", hashlib.sha256(b"Footnote").hexdigest(), threading.Event())
            finally:
                probe.unlink(missing_ok=True)
        except OSError as error:
            raise self._translate(error, "written") from error

    def _sweep(self) -> None:
        """Removes partial files of processes that were killed."""
        self._swept_at = time.monotonic()
        oldest = time.time() - STALE_SECONDS
        # Another process may remove the same files at the same time.
        with suppress(OSError):
            for partial in (self._folder / INCOMING).iterdir():
                with suppress(FileNotFoundError):
                    if partial.stat().st_mtime < oldest:
                        partial.unlink()

    def _translate(self, error: OSError, action: str) -> StorageFailed:
        if error.errno in _FULL:
            return StorageFull(
                f"There is no space left for the files in {self._folder}: {error.strerror}. Free some space, or choose "
                "another place with storage.url in config.json."
            )
        if isinstance(error, FileNotFoundError | NotADirectoryError) and action == "read":
            return StorageFailed(
                f"A file that the database knows of is not in {self._folder}. Bring the folder back that belongs to "
                "this database, or correct storage.url in config.json."
            )
        return StorageFailed(
            f"The folder {self._folder} cannot be {action}: {error.strerror or error}. Give yourself access to it, or "
            "choose another place with storage.url in config.json."
        )


def _write(path: Path, content: bytes | Path, sha256: str, cancelled: threading.Event) -> None:
    """Writes a new file, which is durable when this returns."""
    digest = hashlib.sha256()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        for chunk in _chunks(content):
            if cancelled.is_set():
                raise InterruptedError(errno.EINTR, "the write was cancelled")
            digest.update(chunk)
            _write_all(file.fileno(), chunk)
        os.fsync(file.fileno())
    if digest.hexdigest() != sha256:
        raise OSError(errno.EIO, "the content changed while it was copied")


def _chunks(content: bytes | Path) -> Iterator[bytes | memoryview]:
    if isinstance(content, bytes):
        view = memoryview(content)
        yield from (view[start : start + CHUNK_BYTES] for start in range(0, len(view), CHUNK_BYTES))
        return
    with content.open("rb", buffering=0) as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def _write_all(descriptor: int, chunk: bytes | memoryview) -> None:
    """Writes the whole chunk: one call may write only a part, as on a nearly full disk."""
    view = memoryview(chunk)
    while view:
        view = view[os.write(descriptor, view) :]


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        _fsync_folder(folder.parent)


def _fsync_folder(folder: Path) -> None:
    """Makes the entries of the folder durable. Not every file system supports that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class MemoryStorage:
    address = "local://"

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}

    async def put(self, place: str, content: bytes | Path, sha256: str) -> None:  # noqa: ARG002 - bytes in memory need no check
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

    def signed_url(self, place: str, *, seconds: int, filename: str, media_type: str) -> str | None:  # noqa: ARG002 - the interface of all storages
        return None

    async def check(self) -> None: ...

    async def close(self) -> None:
        self._contents.clear()
