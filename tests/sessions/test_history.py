"""After a reload the page shows the same as live, block for block."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest

from agent.turn_harness import TurnHarness, TurnRecording, answering_tool, tool, working_tool
from footnote.agent.round import Round
from footnote.agent.turn import Indexes
from footnote.cancel import CancelScope
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Options
from footnote.models.profiles import Profile
from footnote.models.scripted import ScriptedModel, ScriptedPause, call, fails, text, thinking
from footnote.protocol.events import AttachmentsBlock, BlockStart, ErrorBody, ErrorEvent
from footnote.protocol.files import FileRecord
from footnote.protocol.history import History, PastAssistantMessage, PastToolMessage, PastUserMessage
from footnote.protocol.messages import AssistantMessage, Foreign, Text, Thinking, ToolCall
from footnote.protocol.sources import Snapshot, Source
from footnote.protocol.stream import Start, StreamEvent
from footnote.protocol.tools import Progress, ToolResult
from footnote.sessions.store import Sessions
from footnote.text.boundary import wrap_web_text
from footnote.tools.base import Abilities, Outcome, Tool, ToolContext
from footnote.tools.builtin.edit_file import edit_file
from footnote.tools.builtin.write_file import write_file
from sessions.page_fold import fold_events, fold_history, plain
from sessions.turn_writer import StoredTurn, TurnWriter, answer, tool_calls, tool_result
from workspace.in_memory import add_upload

PAGE = Snapshot(url="https://a.example/sky", text="The sky is blue because air scatters blue light most.", title="Sky")
SOURCE = Source(url=PAGE.url, title="Sky", snippet="", domain="a.example", number=1, status="read", snapshot_id=PAGE.id)


def reading_tool(name: str = "look") -> Tool:
    """Finds one page, and stores it as the search does."""

    async def body(_params: Any, context: ToolContext) -> AsyncIterator[Outcome]:
        context.abilities.sources.add(SOURCE, PAGE)
        artifact = {"query": "sky", "sources": [msgspec.to_builtins(SOURCE)]}
        yield Progress("reading", 1, 1, "a.example")
        yield ToolResult((Text("[1] The sky"),), artifact=artifact)

    return tool(name, body)


async def store_turn(turn_writer: TurnWriter, recording: TurnRecording, **how: Any) -> tuple[str, StoredTurn]:
    """Stores the turn of a recording as a run stores it."""
    blocks = [event.content_block for event in recording.events if isinstance(event, BlockStart)]
    files = next((block.files for block in blocks if isinstance(block, AttachmentsBlock)), ())
    errors = [event.error for event in recording.events if isinstance(event, ErrorEvent)]
    session_id = await turn_writer.session()
    turn = await turn_writer.turn(
        session_id,
        "Why?",
        *recording.stored_messages,
        reason=recording.end.delta.stop_reason,
        error=errors[0] if errors else None,
        attachments=files,
        message_id="m1",
        **how,
    )
    return session_id, turn


async def check_history(turn_writer: TurnWriter, recording: TurnRecording) -> History:
    session_id, _ = await store_turn(turn_writer, recording)
    history = await turn_writer.sessions.history("ann", session_id)
    assert isinstance(history.messages[0], PastUserMessage)
    assert fold_history(history.messages[1:]) == fold_events(recording.events)
    return history


async def test_thinking_tools_side_by_side_and_an_answer(turn_writer: TurnWriter) -> None:
    gate = asyncio.Event()

    async def second(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        gate.set()
        yield ToolResult((Text("second"),), artifact={"rows": [1, None, {"a": "ü"}]})

    model = ScriptedModel(
        [
            [
                thinking("Hm, ", "let me see.", signature="proof"),
                text("I look ", "it up."),
                *_calls("slow", "fast", "slow"),
            ],
            [thinking("Now I know."), text("It is", " so."), text(""), text("Really.")],
        ]
    )
    tools = [working_tool("slow", [Progress("thinking")], ToolResult((Text("first"),)), gate), tool("fast", second)]
    history = await check_history(turn_writer, await TurnHarness(model, tools, settings={"locale": "vi"}).play())
    assert [type(message).__name__ for message in history.messages] == [
        "PastUserMessage",
        "PastAssistantMessage",
        *["PastToolMessage"] * 3,
        "PastAssistantMessage",
    ]
    first, last = (message for message in history.messages if isinstance(message, PastAssistantMessage))
    assert (first.id, last.id) == ("m1-1", "m1")
    assert [block.tool_content_message for block in first.content[2:]] == ["Làm slow", "Làm fast", "Làm slow"]


def _calls(*names: str) -> list[Any]:
    return [call(name, {"number": number}, id=f"c{number}") for number, name in enumerate(names)]


async def test_footnotes_are_shown_again(turn_writer: TurnWriter) -> None:
    model = ScriptedModel(
        [
            [call("look", {}, id="c1")],
            [text("The sky is blue because air scatters blue light most [1]. ", "Nobody knows more [7].")],
        ]
    )
    history = await check_history(turn_writer, await TurnHarness(model, [reading_tool()]).play())
    last = history.messages[-1]
    assert isinstance(last, PastAssistantMessage)
    [block] = plain(last.content)
    assert [(one["number"], one["verdict"]) for one in block["citations"]] == [(1, "supported"), (7, "unsupported")]
    assert [group.query for group in history.workspace.sources] == ["sky"]
    assert history.workspace.sources[0].sources == (SOURCE,)


async def test_a_text_without_footnotes_has_no_citations(turn_writer: TurnWriter) -> None:
    history = await check_history(turn_writer, await TurnHarness(ScriptedModel([[text("So.")]])).play())
    assert b"citations" not in msgspec.json.encode(history.messages)


async def test_files_of_a_turn_are_its_attachments(turn_writer: TurnWriter, sessions: Sessions) -> None:
    head = await sessions.create("ann", "researcher")
    model = ScriptedModel(
        [
            [call("write_file", {"file_path": "/a.md", "content": "one"}, id="c1")],
            [
                call("write_file", {"file_path": "/b.md", "content": "two"}, id="c2"),
                call("edit_file", {"file_path": "/a.md", "old_string": "one", "new_string": "1"}, id="c3"),
            ],
            [text("Written.")],
        ]
    )
    workspace = sessions.workspace("ann", head.id)
    recording = await TurnHarness(model, [write_file, edit_file], abilities=Abilities(workspace)).play()
    files = next(block.files for block in recording.blocks if isinstance(block, AttachmentsBlock))
    await turn_writer.turn(head.id, "Write!", *recording.stored_messages, attachments=files, message_id="m1")
    history = await sessions.history("ann", head.id)
    assert fold_history(history.messages[1:]) == fold_events(recording.events)
    assert [file.path for file in history.workspace.workspace_files] == ["/a.md", "/b.md"]
    assert set(history.workspace.workspace_files) == set(files)
    assert await workspace.read("/a.md") == b"1"


async def test_errors_of_tools_and_calls_that_cannot_be_read(turn_writer: TurnWriter) -> None:
    async def broken(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield Progress("trying")
        raise RuntimeError("secret")

    bad = call("look", {}, id="c2")
    model = ScriptedModel(
        [
            [call("broken", {}, id="c1"), type(bad)("look", ('{"a": ',), "c2"), call("none", {"x": 1}, id="c3")],
            [text("It failed.")],
        ]
    )
    await check_history(turn_writer, await TurnHarness(model, [tool("broken", broken), answering_tool("look")]).play())


@pytest.mark.parametrize(
    "reply", [[fails("No.")], [text("Half an ans"), fails("Cut.")], [thinking("Hm"), fails("Cut.")]]
)
async def test_a_turn_that_failed(turn_writer: TurnWriter, reply: Sequence[Any]) -> None:
    history = await check_history(
        turn_writer,
        await TurnHarness(ScriptedModel([[call("look", {}, id="c1")], reply]), [answering_tool("look")]).play(),
    )
    [turn] = history.turns
    assert turn.stop_reason == "error"
    assert turn.error is not None


async def test_a_turn_that_failed_before_anything_was_said_has_its_question(
    turn_writer: TurnWriter, sessions: Sessions
) -> None:
    session_id = await turn_writer.session()
    error = ErrorBody("config_error", "No model.", retryable=False)
    turn = await turn_writer.turn(session_id, "Why?", state="failed", reason="error", error=error)
    history = await sessions.history("ann", session_id)
    assert [message.id for message in history.messages if isinstance(message, PastUserMessage)] == [turn.question_id]
    assert len(history.messages) == 1
    assert history.turns[0].error == error


@pytest.mark.parametrize("stop_after", range(1, 24))
async def test_a_turn_that_was_cancelled_anywhere(turn_writer: TurnWriter, stop_after: int) -> None:
    model = ScriptedModel(
        [
            [
                thinking("Let ", "me ", "see."),
                text("I ", "look."),
                call("look", {}, id="c1"),
                call("look", {}, id="c2"),
            ],
            [thinking("Now"), text("The sky is blue because ", "air scatters blue light most [1].")],
        ]
    )
    await check_history(turn_writer, await TurnHarness(model, [reading_tool()]).play(stop_after=stop_after))


async def test_a_turn_that_was_cancelled_in_the_middle_of_a_text(turn_writer: TurnWriter) -> None:
    released = asyncio.Event()
    harness = TurnHarness(ScriptedModel([[text("This came."), ScriptedPause(released), text("This did not.")]]))
    recording = TurnRecording()
    async for step in harness.steps():
        recording.steps.append(step)
        if recording.text == "This came.":
            harness.cancel.cancel()
    history = await check_history(turn_writer, recording)
    [last] = [message for message in history.messages if isinstance(message, PastAssistantMessage)]
    assert plain(last.content) == [{"type": "text", "text": "This came."}]
    assert history.turns[0].stop_reason == "aborted"


async def test_calls_without_a_round_left(turn_writer: TurnWriter) -> None:
    replies = [[text("Once more."), call("look", {}, id=f"c{number}")] for number in range(4)]
    recording = await TurnHarness(
        ScriptedModel(replies), [answering_tool("look")], settings={"max_tool_rounds": 2}
    ).play()
    history = await check_history(turn_writer, recording)
    assert history.turns[0].stop_reason == "max_rounds"


class OddModel:
    """Sends what no scripted model sends: parallel open blocks, encrypted ones, and unknown ones."""

    id = "footnote/odd"
    profile = Profile()

    async def stream(self, context: Context, options: Options, cancel: CancelScope) -> AsyncIterator[StreamEvent]:
        fold = Accumulator(self.id)
        yield Start(self.id)
        yield fold.open_thinking(redacted="encrypted")
        fold.add_foreign({"type": "server_tool_use", "id": "x"})
        first = fold.open_call("c1", "look")
        yield first
        text = fold.open_text()
        yield text
        second = fold.open_call("c2", "none")
        yield second
        for index, piece in [(first.index, '{"a":'), (text.index, "Text"), (second.index, "{}"), (first.index, "1}")]:
            grown = fold.append(index, piece)
            assert grown is not None
            yield grown
        for event in fold.finish("toolUse", None):
            yield event


async def test_blocks_stand_in_the_order_in_which_they_were_told() -> None:
    response = Round(OddModel(), Indexes(), lambda name: f"Do {name}", Abilities())  # pyright: ignore[reportArgumentType] - a double
    events = [event async for event in response.events(Context("", ()), Options(), CancelScope())]
    _, blocks = fold_events(events)
    assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use", "tool_use"]
    assert response.message.content == (
        Thinking("", redacted="encrypted"),
        Foreign({"type": "server_tool_use", "id": "x"}),
        Text("Text"),
        ToolCall("c1", "look", {"a": 1}, title="Do look"),
        ToolCall("c2", "none", {}, title="Do none"),
    )


async def test_blocks_that_nobody_saw_are_not_shown(turn_writer: TurnWriter, sessions: Sessions) -> None:
    message = AssistantMessage(
        (Thinking("", redacted="encrypted"), Foreign({"type": "x"}), Text("So.")), "stop", "footnote/test"
    )
    session_id = await turn_writer.session()
    await turn_writer.turn(session_id, "Why?", message)
    last = (await sessions.history("ann", session_id)).messages[-1]
    assert isinstance(last, PastAssistantMessage)
    assert plain(last.content) == [{"type": "thinking", "thinking": ""}, {"type": "text", "text": "So."}]


async def test_what_was_stored_with_marks_and_without_times_is_shown_without_the_one_and_with_the_other(
    turn_writer: TurnWriter, sessions: Sessions
) -> None:
    session_id = await turn_writer.session()
    found = tool_result("c1", f"{wrap_web_text('Found it [1].')}\nNote: One more.")
    turn = await turn_writer.turn(
        session_id, "Why?", tool_calls(ToolCall("c1", "web_search", {})), found, answer("So.")
    )
    history = await sessions.history("ann", session_id)
    assert isinstance(history.messages[2], PastToolMessage)
    assert history.messages[2].content == "Found it [1].\nNote: One more."
    [past] = history.turns or ()
    times = [message.timestamp for message in history.messages[1:]]
    assert (times, past.run_id) == ([past.ended_at] * 3, turn.run_id)


async def test_a_history_reads_as_the_contract_says(turn_writer: TurnWriter, sessions: Sessions) -> None:
    session_id = await turn_writer.session()
    record = await add_upload(sessions.workspace("ann", session_id), "a.pdf", b"x")
    groups = [{"query": "sky", "sources": [plain(SOURCE)]}, {"query": "sky", "sources": []}]
    turn = await turn_writer.turn(
        session_id,
        "Why?",
        tool_calls(
            ToolCall("toolu_01", "web_search", {"query": "sky"}, title="Tìm kiếm web"), ToolCall("toolu_02", "x", {})
        ),
        tool_result("toolu_01", "Found.", groups[0]),
        tool_result("toolu_02", "Found nothing.", groups[1]),
        answer("So."),
        attached=[record],
    )
    shown = plain(await sessions.history("ann", session_id))
    assert shown["session"] == {
        "id": session_id,
        "title": "Why?",
        "agent_id": "researcher",
        "created_at": "2027-01-15T08:00:01Z",
    }
    assert shown["messages"][0] == {
        "id": turn.question_id,
        "role": "user",
        "content": [{"type": "text", "text": "Why?"}],
        "attachments": [plain(record)],
        "turn_id": turn.run_id,
        "timestamp": "2026-01-01T00:00:00Z",
    }
    assert shown["messages"][1]["content"][0] == {
        "type": "tool_use",
        "id": "toolu_01",
        "name": "web_search",
        "input": {"query": "sky"},
        "tool_content_message": "Tìm kiếm web",
    }
    assert shown["messages"][2] == {
        "role": "tool",
        "tool_call_id": "toolu_01",
        "name": "web_search",
        "content": "Found.",
        "status": "success",
        "artifact": groups[0],
        "turn_id": turn.run_id,
        "timestamp": "2027-01-15T08:00:03Z",
    }
    assert [(group["query"], len(group["sources"])) for group in shown["workspace"]["sources"]] == [
        ("sky", 1),
        ("sky", 0),
    ]
    assert [file["path"] for file in shown["workspace"]["workspace_files"]] == [record.path]
    assert shown["active_run"] is None


async def test_of_a_run_that_is_active_only_the_question_is_there(turn_writer: TurnWriter, sessions: Sessions) -> None:
    session_id = await turn_writer.session("First?")
    turn = await turn_writer.turn(session_id, "Second?", answer("Half"), state="running")
    history = await sessions.history("ann", session_id)
    assert history.active_run is not None
    assert history.active_run.run_id == turn.run_id
    assert len(history.messages) == 3
    assert isinstance(history.messages[-1], PastUserMessage)
    assert [one.state for one in history.turns] == ["done", "running"]


async def test_a_turn_knows_what_may_be_shown_in_its_place(turn_writer: TurnWriter, sessions: Sessions) -> None:
    session_id = await turn_writer.session()
    first = await turn_writer.turn(session_id, "First?", answer("One."))
    edited = await turn_writer.turn(session_id, "First, changed?", answer("Two."), instead_of=first)
    retried = await turn_writer.retry(session_id, edited, answer("Three."))
    [turn] = (await sessions.history("ann", session_id)).turns
    assert turn.message_id == retried.message_id
    assert turn.questions == (first.question_id, edited.question_id)
    assert turn.answers == (edited.message_id, retried.message_id)


async def test_artifacts_of_other_tools_are_no_searches(turn_writer: TurnWriter, sessions: Sessions) -> None:
    session_id = await turn_writer.session()
    odd: list[dict[str, object]] = [
        {"query": 1, "sources": []},
        {"query": "a", "sources": "b"},
        {"sources": []},
        {"query": "odd", "sources": [1, {"url": 2}, None]},
    ]
    results = [tool_result(f"c{number}", "x", artifact) for number, artifact in enumerate(odd)]
    await turn_writer.turn(
        session_id, "Why?", tool_calls(*(ToolCall(f"c{n}", "x", {}) for n in range(4))), *results, answer("So.")
    )
    history = await sessions.history("ann", session_id)
    assert [(group.query, group.sources) for group in history.workspace.sources] == [("odd", ())]


async def test_large_results_are_no_files_of_the_person(turn_writer: TurnWriter, sessions: Sessions) -> None:
    session_id = await turn_writer.session("Why?")
    workspace = sessions.workspace("ann", session_id)
    await workspace.write("/large_tool_results/c1.txt", "long", message_id=None)
    record: FileRecord = await workspace.write("/report.md", "short", message_id=None)
    assert (await sessions.history("ann", session_id)).workspace.workspace_files == (record,)
