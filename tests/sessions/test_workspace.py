"""The files of a session persist, and a call repeated after a crash writes nothing twice."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import engines
from footnote.db.engine import Database
from footnote.library import Library
from footnote.protocol.errors import LimitReached, Unknown
from footnote.protocol.files import FileRecord
from footnote.protocol.tools import ToolResult
from footnote.sessions.store import Sessions
from footnote.storage.local import MemoryStorage
from footnote.tools.base import Abilities, ToolContext
from footnote.tools.registry import builtin_tools
from footnote.workspace.blobs import Blobs
from footnote.workspace.files import MAX_FILE_BYTES, FileChange, FileMissing, NotText, Workspace
from footnote.workspace.stored import stored_workspace
from sessions.turn_writer import TurnWriter
from workspace.in_memory import in_memory_workspace

TOOLS = {tool.name: tool for tool in builtin_tools()}


@pytest.fixture(params=["stored", "in memory"])
async def workspace(request: pytest.FixtureRequest, sessions: Sessions) -> Workspace:
    if request.param == "in memory":
        return in_memory_workspace("ann")
    head = await sessions.create("ann", "researcher")
    return sessions.workspace("ann", head.id)


async def call(
    workspace: Workspace, name: str, *, call_id: str = "c1", message_id: str = "m1", **arguments: Any
) -> ToolResult:
    """Runs the tool as the loop does, without the standard wrappers."""
    tool = TOOLS[name]
    context = ToolContext(Abilities(workspace), call_id, message_id, "en")
    steps = [step async for step in tool.run(tool.parse(arguments), context)]
    [result] = steps
    assert isinstance(result, ToolResult)
    return result


async def test_a_file_has_its_record(workspace: Workspace) -> None:
    record = await workspace.write("notes/một.md", "hello", message_id="m1")
    assert record == FileRecord(
        id=record.id,
        path="/notes/một.md",
        filename="một.md",
        icon_type="md",
        source="generated",
        created_at=record.created_at,
        url=record.url,
        message_id="m1",
    )
    assert record.url.partition("?")[0] == "workspace/ann/notes/một.md"
    assert await workspace.record("/notes/một.md") == record
    assert await workspace.list() == (record,)
    assert await workspace.read("/notes/một.md") == b"hello"
    assert await workspace.size("/notes/một.md") == 5
    assert await workspace.exists("notes//một.md")
    again = await workspace.write("/notes/mo\u0302\u0323t.md", b"\xff", message_id="m2")
    assert again == record
    assert await workspace.changed_files("m1") == await workspace.changed_files("m2") == (record,)
    assert await workspace.changed_files("m3") == ()
    with pytest.raises(NotText):
        await workspace.read_text("/notes/một.md")


async def test_what_is_missing_is_an_error_that_names_the_nearest(workspace: Workspace) -> None:
    await workspace.write("/report.md", "", message_id=None)
    for read in (workspace.read, workspace.read_text, workspace.record, workspace.size):
        with pytest.raises(
            FileMissing, match=r"There is no file /reprot.md in the workspace. Did you mean /report.md\?"
        ):
            await read("reprot.md")
    with pytest.raises(FileMissing):
        await workspace.edit("/reprot.md", FileChange, message_id=None)
    assert not await workspace.exists("/reprot.md")
    assert len(await workspace.list()) == 1


async def test_a_file_has_a_largest_size(workspace: Workspace) -> None:
    await workspace.write("/a", b"small", message_id=None)
    with pytest.raises(LimitReached):
        await workspace.write("/a", b"x" * (MAX_FILE_BYTES + 1), message_id=None)
    assert await workspace.read("/a") == b"small"


async def test_edits_at_once_are_all_made(workspace: Workspace) -> None:
    await workspace.write("/a", "", message_id=None)
    numbers = range(20)
    await asyncio.gather(
        *(workspace.edit("/a", lambda text, n=n: FileChange(f"{text}{n} "), message_id=None) for n in numbers)
    )
    assert sorted((await workspace.read_text("/a")).split()) == sorted(map(str, numbers))


async def test_a_call_that_is_carried_out_again_writes_once_and_says_the_same(workspace: Workspace) -> None:
    wrote = await call(workspace, "write_file", file_path="/a.md", content="one one")
    assert wrote.text == "Wrote /a.md (7 characters, 1 line)."
    assert await call(workspace, "write_file", file_path="/a.md", content="one one") == wrote
    edit = {"file_path": "/a.md", "old_string": "one", "new_string": "one two", "replace_all": True}
    edited = await call(workspace, "edit_file", call_id="c2", **edit)
    assert edited.text == "Changed /a.md in 2 places."
    assert await call(workspace, "edit_file", call_id="c2", **edit) == edited
    assert await call(workspace, "write_file", file_path="/a.md", content="one one") == wrote, (
        "before the other one too"
    )
    assert await workspace.read_text("/a.md") == "one two one two"
    again = await call(workspace, "write_file", call_id="c3", file_path="/a.md", content="new")
    assert again.text == "Replaced /a.md (3 characters, 1 line)."


async def test_the_same_id_in_another_branch_is_another_call(workspace: Workspace) -> None:
    await call(workspace, "write_file", file_path="/a.md", content="one")
    await call(workspace, "write_file", message_id="m2", file_path="/a.md", content="two")
    assert await workspace.read_text("/a.md") == "two"


async def test_a_refused_edit_changes_nothing(workspace: Workspace) -> None:
    await workspace.write("/a.md", "one one", message_id=None)
    for _ in range(2):
        with pytest.raises(Exception, match="occurs 2 times"):
            await call(workspace, "edit_file", file_path="/a.md", old_string="one", new_string="two")
    assert await workspace.read_text("/a.md") == "one one"


async def test_the_next_process_finds_the_files_and_what_calls_wrote(tmp_path: Path) -> None:
    edit = {"file_path": "/a.md", "old_string": "a", "new_string": "aa"}
    session_id, written = "", ""
    for attempt in range(3):
        async with Database.open(engines.database_url(tmp_path), tmp_path) as database:
            sessions = Sessions(database, Library(database), Blobs(database, MemoryStorage()))
            if not attempt:
                session_id = (await sessions.create("local", "researcher")).id
                await sessions.workspace("local", session_id).write("/a.md", "a", message_id=None)
            result = await call(sessions.workspace("local", session_id), "edit_file", **edit)
            assert result.text == (written or result.text)
            written = result.text
            assert await sessions.workspace("local", session_id).read_text("/a.md") == "aa"


async def test_files_belong_to_their_session_and_their_user(sessions: Sessions, turn_writer: TurnWriter) -> None:
    mine, other = await turn_writer.session(), await turn_writer.session()
    await sessions.workspace("ann", mine).write("/a.md", "secret", message_id=None)
    for workspace in (sessions.workspace("ann", other), sessions.workspace("ben", mine)):
        assert await workspace.list() == ()
        assert not await workspace.exists("/a.md")
        with pytest.raises(FileMissing):
            await workspace.read("/a.md")
        with pytest.raises(FileMissing):
            await workspace.edit("/a.md", FileChange, message_id=None)


async def test_nothing_is_written_to_a_session_that_is_gone(
    sessions: Sessions, turn_writer: TurnWriter, database: Database, blobs: Blobs, library: Library
) -> None:
    session_id = await turn_writer.session()
    workspace = stored_workspace(database, blobs, "ann", session_id)
    await workspace.write("/a.md", "x", message_id=None)
    await sessions.delete("ann", session_id)
    with pytest.raises(Unknown):
        await workspace.write("/a.md", "x", message_id=None)
    assert await workspace.list() == ()


async def test_the_files_of_a_user_have_a_largest_size_together(
    database: Database, library: Library, blobs: Blobs, turn_writer: TurnWriter
) -> None:
    sessions = Sessions(database, library, blobs, file_bytes=100)
    first = sessions.workspace("ann", await turn_writer.session())
    second = sessions.workspace("ann", await turn_writer.session())
    theirs = sessions.workspace("ben", await turn_writer.session(user_id="ben"))
    await first.write("/a", b"x" * 60, message_id=None)
    await second.write("/a", b"x" * 40, message_id=None)
    with pytest.raises(LimitReached, match="With /b your files and their versions would have 101 bytes; this server a"):
        await second.write("/b", b"x", message_id=None)
    await second.write("/c", b"x" * 60, message_id=None)  # the same content is stored once
    await theirs.write("/b", b"x" * 100, message_id=None)
    with pytest.raises(LimitReached):
        await first.write("/a", b"x", message_id=None)  # the version before it is kept
    await first.delete("/a")
    with pytest.raises(LimitReached):
        await second.write("/b", b"x", message_id=None)
    await second.delete("/c")
    await second.write("/b", b"x", message_id=None)
