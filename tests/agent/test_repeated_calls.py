"""Too many calls in a turn, and calls that are repeated."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.turn_harness import TurnHarness, TurnRecording, answering_tool, tool, working_tool
from footnote.agent.calls import DUPLICATE_NOTE, MAX_CALLS, REPEATED_NOTE, TOO_MANY_CALLS
from footnote.agent.loop import TOOLS_USED_UP
from footnote.models.scripted import ScriptedModel, call, text
from footnote.protocol.events import ToolResultBlock, ToolStatus
from footnote.protocol.messages import Text, ToolResultMessage, user_message
from footnote.protocol.tools import ToolResult, error_result, text_result
from footnote.tools.base import Outcome, Tool, ToolContext


def _counting_tool(name: str, executed: list[Any], result: ToolResult | None = None, **marks: Any) -> Tool:
    async def body(params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        executed.append(params)
        yield result or text_result(f"result {len(executed)}", artifact={"number": len(executed)})

    return tool(name, body, **marks)


def _results(recording: TurnRecording) -> list[tuple[str, str]]:
    return [(block.status, block.content) for block in recording.blocks if isinstance(block, ToolResultBlock)]


async def test_of_the_calls_of_one_round_only_the_first_32_are_carried_out() -> None:
    executed: list[Any] = []
    calls = [call("look", {"n": number}, id=f"c{number}") for number in range(150)]
    recording = await TurnHarness(ScriptedModel([calls, [text("ok")]]), [_counting_tool("look", executed)]).play()
    assert [params["n"] for params in executed] == list(range(MAX_CALLS)) == list(range(32))
    assert [status for status, _ in _results(recording)] == ["success"] * 32 + ["error"] * 118
    assert {content for status, content in _results(recording) if status == "error"} == {TOO_MANY_CALLS}


async def test_the_same_call_of_a_later_round_is_answered_from_the_first_with_a_note() -> None:
    executed: list[Any] = []
    again = [call("look", {"at": 1})]
    model = ScriptedModel([again, again, [call("look", {"at": 2})], again, [text("ok")]])
    recording = await TurnHarness(model, [_counting_tool("look", executed, reuse="always")]).play()
    assert executed == [{"at": 1}, {"at": 2}]
    assert _results(recording) == [
        ("success", "result 1"),
        ("success", f"result 1\n{REPEATED_NOTE.text}"),
        ("success", "result 2"),
        ("success", f"result 1\n{REPEATED_NOTE.text}"),
    ]
    artifacts = [message.artifact for message in recording.stored_messages if isinstance(message, ToolResultMessage)]
    assert artifacts == [{"number": 1}, {"number": 1}, {"number": 2}, {"number": 1}]


async def test_the_same_call_is_carried_out_again_after_an_error_and_in_another_turn() -> None:
    executed: list[Any] = []
    again = [call("look", {"at": 1})]
    first = await TurnHarness(
        ScriptedModel([again, again, [text("no")]]), [_counting_tool("look", executed, error_result("gone"))]
    ).play()
    assert len(executed) == 2
    history = (user_message("Why?"), *first.stored_messages, user_message("And now?"))
    look = _counting_tool("look", executed, reuse="always")
    await TurnHarness(ScriptedModel([again, [text("ok")]]), [look], history=history).play()
    await TurnHarness(
        ScriptedModel([again, [text("ok")]]), [look], history=(*history, *first.stored_messages, user_message("Now?"))
    ).play()
    assert len(executed) == 4


@pytest.mark.parametrize(("between", "times"), [("write", 2), ("other", 1)])
async def test_what_reads_files_is_carried_out_again_when_a_call_may_have_changed_one(between: str, times: int) -> None:
    executed: list[Any] = []
    again = [call("list", {})]
    model = ScriptedModel([again, [call(between, {"x": 1})], again, [text("ok")]])
    tools = [
        _counting_tool("list", executed, reuse="until_change"),
        answering_tool("write", exclusive=True, idempotent=True),
        answering_tool("other", reuse="always"),
    ]
    await TurnHarness(model, tools).play()
    assert len(executed) == times


async def test_a_call_that_stands_twice_in_a_response_is_carried_out_once() -> None:
    executed: list[Any] = []
    calls = [call("look", {"at": at}, id=f"c{number}") for number, at in enumerate([1, 2, 1, 1])]
    recording = await TurnHarness(
        ScriptedModel([calls, [text("ok")]]), [_counting_tool("look", executed, reuse="always")]
    ).play()
    assert executed == [{"at": 1}, {"at": 2}]
    assert _results(recording) == [
        ("success", "result 1"),
        ("success", "result 2"),
        ("success", DUPLICATE_NOTE),
        ("success", DUPLICATE_NOTE),
    ]


async def test_a_call_that_may_change_something_is_carried_out_as_often_as_it_is_asked_for() -> None:
    executed: list[Any] = []
    calls = [call("buy", {}, id="c1"), call("buy", {}, id="c2")]
    await TurnHarness(
        ScriptedModel([calls, [call("buy", {}, id="c3")], [text("ok")]]), [_counting_tool("buy", executed)]
    ).play()
    assert len(executed) == 3


async def test_when_the_first_of_two_equal_calls_is_stopped_both_are() -> None:
    never = asyncio.Event()
    look = working_tool("look", [], text_result("late"), never)
    both = [call("look", {}, id="c1"), call("look", {}, id="c2")]
    harness = TurnHarness(ScriptedModel([both]), [tool("look", look.run, reuse="always")])
    running = asyncio.Event()

    async def recording() -> list[Any]:
        steps: list[Any] = []
        async for step in harness.steps():
            steps.append(step)
            if step == ToolStatus("c1", "running"):
                running.set()
                harness.cancel.cancel()
        return steps

    steps = await recording()
    assert [step for step in steps if isinstance(step, ToolStatus)][-2:] == [
        ToolStatus("c2", "running"),
        ToolStatus("c2", "error"),
    ]


async def test_a_failed_call_is_told_at_once_though_another_of_its_round_still_runs() -> None:
    gate = asyncio.Event()

    async def broken(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield error_result("no such page")

    model = ScriptedModel([[call("slow", {}, id="c1"), call("broken", {}, id="c2")], [text("ok")]])
    harness = TurnHarness(model, [working_tool("slow", [], text_result("slow"), gate), tool("broken", broken)])
    announced: list[Any] = []
    async with asyncio.timeout(20):  # the other call ends only after this one is told
        async for step in harness.steps():
            announced.append(step)
            if step == ToolStatus("c2", "error"):
                gate.set()
    assert announced.index(ToolStatus("c2", "error")) < announced.index(ToolStatus("c1", "done"))
    results = [
        step.content_block for step in announced if isinstance(getattr(step, "content_block", None), ToolResultBlock)
    ]
    assert [block.tool_use_id for block in results] == ["c1", "c2"], "the results stay in the order of the calls"


async def test_the_last_round_is_told_that_no_tool_can_be_called_any_more() -> None:
    model = ScriptedModel([*[[call("look", {"n": n})] for n in range(2)], [text("That is all.")]])
    await TurnHarness(model, [answering_tool("look")], settings={"max_tool_rounds": 2}).play()
    assert [TOOLS_USED_UP in context.system for context in model.contexts] == [False, False, True]
    assert model.contexts[-1].system == f"Be brief.\n\n{TOOLS_USED_UP}"
    assert Text(TOOLS_USED_UP) not in [part for message in model.contexts[-1].messages for part in message.content]
