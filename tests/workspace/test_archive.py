"""A workspace as one zip file that is built while it is sent."""

import io
import secrets
import tracemalloc
import zipfile
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from itertools import repeat
from pathlib import PurePosixPath
from typing import cast

import pytest

from footnote.protocol.files import FileRecord, FileVersion
from footnote.storage.base import StorageFailed
from footnote.workspace.export import zip_workspace
from footnote.workspace.files import FileMissing, OpenedFile, Workspace
from footnote.workspace.stored import record_of
from workspace.hostile import HOSTILE_NAMES
from workspace.in_memory import FilesInMemory, in_memory_workspace

MOMENT = "2024-03-17T10:20:30Z"
Pieces = Callable[[], AsyncGenerator[bytes, None]]


class _ArchivedFiles:
    """The part of a workspace that the archive reads: files by path, each with its pieces."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[FileRecord, FileVersion, Pieces]] = {}

    def add(self, key: str, pieces: Pieces, *, record: FileRecord | None = None) -> None:
        record = record or _record(key)
        version = FileVersion(1, "0" * 64, 0, MOMENT, "agent")
        self._files[record.path] = (record, version, pieces)

    def forget(self, path: str) -> None:
        """The file stays in the listing."""
        record, version, _ = self._files[path]
        self._files[path] = (record, version, cast("Pieces", None))

    async def list_visible(self) -> tuple[FileRecord, ...]:
        return tuple(record for record, _, _ in self._files.values())

    async def open(self, path: str) -> OpenedFile:
        record, version, pieces = self._files[path]
        if pieces is None:
            raise FileMissing(f"There is no file {path} in the workspace.")
        return OpenedFile(record, version, lambda _start, _end: pieces())

    @property
    def workspace(self) -> Workspace:
        return cast("Workspace", self)


def _record(key: str, **changes: str) -> FileRecord:
    is_upload = key.startswith("uploads/")
    return record_of(
        "user",
        "session",
        key,
        file_id=changes.get("file_id", key),
        source="upload" if is_upload else "generated",
        created_at=MOMENT,
        message_id=None,
        address="local://",
    )


def _pieces_of(*pieces: bytes) -> Pieces:
    async def read() -> AsyncGenerator[bytes, None]:
        for piece in pieces:
            yield piece

    return read


async def _zip_archive(workspace: Workspace) -> zipfile.ZipFile:
    async with aclosing(zip_workspace(workspace)) as pieces:
        return zipfile.ZipFile(io.BytesIO(b"".join([piece async for piece in pieces])))


async def _contents(workspace: Workspace) -> dict[str, bytes]:
    with await _zip_archive(workspace) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


async def test_the_files_are_in_it_byte_for_byte_with_their_folders_and_times():
    workspace = Workspace(FilesInMemory(), clock=lambda: datetime(2024, 3, 17, 10, 20, 30, tzinfo=UTC))
    await workspace.write("/report.md", "# Report\r\n", message_id=None)
    await workspace.write("/data/numbers.csv", "a,b\n1,2\n", message_id=None)
    await workspace.write("/data/báo cáo 报告 🎉.txt", "chữ", message_id=None)

    with await _zip_archive(workspace) as archive:
        found = {entry.filename: (archive.read(entry), entry.date_time) for entry in archive.infolist()}

    moment = (2024, 3, 17, 10, 20, 30)
    assert found == {
        "report.md": (b"# Report\r\n", moment),
        "data/numbers.csv": (b"a,b\n1,2\n", moment),
        "data/báo cáo 报告 _.txt": ("chữ".encode(), moment),
    }


async def test_large_results_stay_out():
    workspace = in_memory_workspace()
    await workspace.write("/large_tool_results/search.txt", "not asked for", message_id=None)
    await workspace.write("/report.md", "asked for", message_id=None)
    packed = b"".join([piece async for piece in zip_workspace(workspace)])
    assert zipfile.ZipFile(io.BytesIO(packed)).namelist() == ["report.md"]


async def test_uploads_stand_in_a_folder_of_their_own():
    archived = _ArchivedFiles()
    archived.add("/paper.pdf", _pieces_of(b"made"))
    archived.add("uploads/user/1/paper.pdf", _pieces_of(b"brought"))
    archived.add("uploads/user/2/paper.pdf", _pieces_of(b"brought ", b"too"))
    assert await _contents(archived.workspace) == {
        "paper.pdf": b"made",
        "uploads/paper.pdf": b"brought",
        "uploads/paper-2.pdf": b"brought too",
    }


async def test_names_that_some_system_takes_for_the_same_are_numbered():
    archived = _ArchivedFiles()
    for key in ("/a.md", "/A.md", "/a:.md", "/a?.md", "/a", "/a/b", "/A/b", "/folder/x", "/folder", "/Folder/x"):
        archived.add(key, _pieces_of(key.encode()))
    assert await _contents(archived.workspace) == {
        "a.md": b"/a.md",
        "A-2.md": b"/A.md",
        "a_.md": b"/a:.md",
        "a_-2.md": b"/a?.md",
        "a": b"/a",
        "a-2/b": b"/a/b",
        "A-2/b-2": b"/A/b",
        "folder/x": b"/folder/x",
        "folder-2": b"/folder",
        "Folder/x-2": b"/Folder/x",
    }


async def test_no_name_leads_out_of_the_folder_that_it_is_unpacked_in():
    archived = _ArchivedFiles()
    for number, name in enumerate(HOSTILE_NAMES):
        record = FileRecord(f"{number}", f"/{name}/{number}", name, "file", "generated", MOMENT, "")
        archived.add("", _pieces_of(b"x"), record=record)
        upload = FileRecord(f"u{number}", f"local://{name}/{number}", name, "file", "upload", MOMENT, "")
        archived.add("", _pieces_of(b"y"), record=upload)
    with await _zip_archive(archived.workspace) as archive:
        names = archive.namelist()
    assert len(names) == len({name.casefold() for name in names}) == 2 * len(HOSTILE_NAMES)
    odd = [name for name in names if "\\" in name or ":" in name or name.startswith(("/", "~"))]
    assert odd == []
    assert [name for name in names if {"..", ".", ""} & set(PurePosixPath(name).parts)] == []


async def test_a_workspace_without_files_is_an_empty_archive():
    assert await _contents(in_memory_workspace()) == {}


async def test_a_file_that_was_deleted_meanwhile_is_left_out():
    archived = _ArchivedFiles()
    archived.add("/gone.md", _pieces_of(b"x"))
    archived.add("/here.md", _pieces_of(b"y"))
    archived.forget("/gone.md")
    assert await _contents(archived.workspace) == {"here.md": b"y"}


async def test_a_storage_that_fails_in_the_middle_ends_the_archive_with_its_error():
    async def failing() -> AsyncGenerator[bytes, None]:
        yield b"some"
        raise StorageFailed("The disk is gone.")

    archived = _ArchivedFiles()
    archived.add("/a.md", failing)
    with pytest.raises(StorageFailed, match="The disk is gone"):
        await _contents(archived.workspace)


async def test_a_client_that_goes_in_the_middle_closes_what_was_being_read():
    closed: list[str] = []

    async def endless() -> AsyncGenerator[bytes, None]:
        try:
            for piece in repeat(secrets.token_bytes(100_000)):
                yield piece
        finally:
            closed.append("closed")

    archived = _ArchivedFiles()
    archived.add("/a.bin", endless)
    async with aclosing(zip_workspace(archived.workspace)) as pieces:
        assert (await anext(pieces)).startswith(b"PK")
    assert closed == ["closed"]


async def test_a_large_archive_is_never_whole_in_memory():
    block = secrets.token_bytes(250_000)

    async def large() -> AsyncGenerator[bytes, None]:
        for _ in range(80):
            yield block

    archived = _ArchivedFiles()
    for number in range(3):
        archived.add(f"/{number}.bin", large)
    size = 0
    tracemalloc.start()
    async with aclosing(zip_workspace(archived.workspace)) as pieces:
        async for piece in pieces:
            size += len(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 60_000_000
    assert peak < 3_000_000
