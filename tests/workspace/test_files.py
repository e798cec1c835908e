from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from footnote.protocol.errors import LimitReached
from footnote.protocol.files import FileRecord
from footnote.workspace.files import MAX_FILE_BYTES, FileMissing, NotText, Workspace
from footnote.workspace.paths import PathRefused
from workspace.in_memory import FilesInMemory


@pytest.fixture
def hours() -> Iterator[datetime]:
    return (datetime(2024, 3, 17, 10, tzinfo=UTC) + timedelta(hours=passed) for passed in range(100))


@pytest.fixture
def workspace(hours: Iterator[datetime]) -> Workspace:
    return Workspace(FilesInMemory("user123"), clock=lambda: next(hours))


async def test_a_written_file_has_the_record_of_the_contract(workspace: Workspace) -> None:
    record = await workspace.write("report.md", "text", message_id="msg-uuid")
    assert record == FileRecord(
        id=str(UUID(record.id)),
        path="/report.md",
        filename="report.md",
        icon_type="md",
        source="generated",
        created_at="2024-03-17T10:00:00Z",
        url="workspace/user123/report.md",
        message_id="msg-uuid",
    )


async def test_writing_a_path_again_keeps_its_id_and_its_creation_time(workspace: Workspace) -> None:
    first = await workspace.write("/a/b.md", "one", message_id="m1")
    second = await workspace.write("a//b.md", "two", message_id="m2")
    assert second == first
    newest, oldest = await workspace.versions("/a/b.md")
    assert (oldest.message_id, newest.message_id) == ("m1", "m2")
    assert await workspace.read("/a/b.md") == b"two"
    assert await workspace.list() == (second,)


async def test_files_are_listed_by_path(workspace: Workspace) -> None:
    for path in ("/b", "/a/z", "/C"):
        await workspace.write(path, "", message_id=None)
    assert [record.path for record in await workspace.list()] == ["/C", "/a/z", "/b"]


async def test_a_name_and_its_other_unicode_form_are_one_file(workspace: Workspace) -> None:
    await workspace.write("ca\u0301.md", "x", message_id=None)
    assert await workspace.exists("c\u00e1.md")
    assert not await workspace.exists("ca.md")


async def test_bytes_and_text_come_back_as_they_went_in(workspace: Workspace) -> None:
    await workspace.write("/t", "\ufeffa\r\nb", message_id=None)
    await workspace.write("/b", b"\xff\xfe", message_id=None)
    assert await workspace.read_text("/t") == "\ufeffa\r\nb"
    assert await workspace.read("/b") == b"\xff\xfe"
    assert await workspace.size("/t") == 7


async def test_text_that_no_encoding_has_is_kept_readable(workspace: Workspace) -> None:
    await workspace.write("/t", "a\ud800b", message_id=None)
    assert await workspace.read_text("/t") == "a?b"


async def test_a_binary_file_is_not_read_as_text(workspace: Workspace) -> None:
    await workspace.write("/b.bin", b"\xff", message_id=None)
    with pytest.raises(NotText, match=r"/b.bin is not a text file"):
        await workspace.read_text("/b.bin")


async def test_a_missing_file_is_an_error_that_names_the_nearest(workspace: Workspace) -> None:
    await workspace.write("/report.md", "", message_id=None)
    with pytest.raises(FileMissing) as missing:
        await workspace.read("/reprot.md")
    assert missing.value.message == "There is no file /reprot.md in the workspace. Did you mean /report.md?"
    with pytest.raises(FileMissing) as missing:
        await workspace.record("/x")
    assert missing.value.message == "There is no file /x in the workspace."


async def test_a_path_that_leaves_the_workspace_is_refused_everywhere(workspace: Workspace) -> None:
    for use in (workspace.read, workspace.read_text, workspace.record, workspace.size, workspace.exists):
        with pytest.raises(PathRefused):
            await use("../x")
    with pytest.raises(PathRefused):
        await workspace.write("../x", "", message_id=None)


async def test_a_file_has_a_largest_size(workspace: Workspace) -> None:
    await workspace.write("/full", bytes(MAX_FILE_BYTES), message_id=None)
    with pytest.raises(LimitReached, match=r"20,000,001 bytes; a file may have 20,000,000"):
        await workspace.write("/over", bytes(MAX_FILE_BYTES + 1), message_id=None)
