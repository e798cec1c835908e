"""A tool that can do nothing now is not offered, and answers all the same if it is called."""

from agent.turn_harness import TurnHarness, answering_tool
from footnote.agent.turn import Resumed
from footnote.db.errors import DatabaseAway
from footnote.models.scripted import ScriptedModel, call, text
from footnote.protocol.events import ToolResultBlock
from footnote.protocol.messages import AssistantMessage, Text, ToolCall, ToolResultMessage, user_message
from footnote.tools.base import Abilities
from footnote.tools.registry import builtin_tools
from footnote.workspace.files import Workspace
from workspace.in_memory import FilesInMemory, add_upload, in_memory_workspace

FILE_TOOLS = ["edit_file", "list_files", "read_file", "search_files"]
WRITE = call("write_file", {"file_path": "/a.md", "content": "one"})


def offered(model: ScriptedModel) -> list[list[str]]:
    """The names of the tools in each request."""
    return [[tool.name for tool in context.tools] for context in model.contexts]


async def test_the_tools_for_files_are_offered_from_the_round_after_the_first_file():
    model = ScriptedModel([[call("look", {})], [WRITE], [text("Done.")]])
    tools = [*builtin_tools(), answering_tool("look")]
    await TurnHarness(model, tools, abilities=Abilities(in_memory_workspace())).play()
    before = ["look", "write_file"]
    assert offered(model) == [before, before, before + FILE_TOOLS], "what stood there before keeps its place"


async def test_an_upload_from_before_the_turn_is_a_file():
    await add_upload(workspace := in_memory_workspace(), "data.csv", b"a,b\n")
    model = ScriptedModel([[text("Done.")]])
    await TurnHarness(model, builtin_tools(), abilities=Abilities(workspace)).play()
    assert offered(model) == [["write_file", *FILE_TOOLS]]


async def test_a_result_that_is_too_large_can_be_read_in_the_next_round():
    model = ScriptedModel([[call("look", {})], [text("Done.")]])
    tools = [*builtin_tools(), answering_tool("look", "far too long " * 20_000)]
    await TurnHarness(model, tools, abilities=Abilities(in_memory_workspace())).play()
    assert "read_file" in offered(model)[1]


async def test_a_tool_that_was_not_offered_says_that_there_are_no_files():
    calls = [
        call("read_file", {"file_path": "/a.md"}),
        call("edit_file", {"file_path": "/a.md", "old_string": "a", "new_string": "b"}),
        call("list_files", {}),
        call("search_files", {"query": "gold"}),
    ]
    model = ScriptedModel([calls, [text("Done.")]])
    recording = await TurnHarness(model, builtin_tools(), abilities=Abilities(in_memory_workspace())).play()
    results = [block for block in recording.blocks if isinstance(block, ToolResultBlock)]
    assert [(result.name, result.status, result.content) for result in results] == [
        ("read_file", "error", "There is no file /a.md in the workspace."),
        ("edit_file", "error", "There is no file /a.md in the workspace."),
        ("list_files", "success", "The workspace is empty."),
        ("search_files", "success", "Nothing was found: the workspace has no files."),
    ]
    assert recording.text == "Done."


async def test_a_file_of_the_same_response_can_be_edited_although_the_tool_was_not_offered():
    edit = call("edit_file", {"file_path": "/a.md", "old_string": "one", "new_string": "two"})
    model = ScriptedModel([[WRITE, edit], [text("Done.")]])
    await TurnHarness(model, builtin_tools(), abilities=Abilities(workspace := in_memory_workspace())).play()
    assert await workspace.read_text("/a.md") == "two"


class _AbsentFiles(FilesInMemory):
    """Files in a database that does not answer."""

    async def any(self) -> bool:
        raise DatabaseAway("The database", "it restarts")


async def test_where_the_database_does_not_answer_every_tool_is_offered():
    model = ScriptedModel([[text("Done.")]])
    recording = await TurnHarness(model, builtin_tools(), abilities=Abilities(Workspace(_AbsentFiles()))).play()
    assert offered(model) == [["write_file", *FILE_TOOLS]]
    assert recording.stop_reason == "stop"


async def test_a_turn_that_goes_on_after_a_crash_offers_what_the_files_of_before_allow():
    await (workspace := in_memory_workspace()).write("/a.md", "one", message_id="m1")
    before = (
        user_message("Write it."),
        AssistantMessage((ToolCall("c0", "write_file", {"file_path": "/a.md", "content": "one"}),), "toolUse", "x/y"),
        ToolResultMessage("c0", "write_file", (Text("Wrote /a.md."),)),
    )
    model = ScriptedModel([[text("Done.")]])
    settings = {"resumed": Resumed(blocks=2)}
    await TurnHarness(model, builtin_tools(), before, Abilities(workspace), settings=settings).play()
    assert offered(model) == [["write_file", *FILE_TOOLS]]
