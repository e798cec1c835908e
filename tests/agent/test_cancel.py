"""Cancelling at any step: every block and call is closed, and everything that arrived is kept."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from agent.turn_harness import TurnHarness, tool, working_tool
from footnote.cancel import Cancelled, CancelScope
from footnote.models.scripted import ScriptedModel, ScriptedPause, call, text, thinking
from footnote.protocol.events import TextBlock, ToolResultBlock
from footnote.protocol.messages import AssistantMessage
from footnote.protocol.tools import Progress, text_result
from footnote.tools.base import Outcome, ToolContext

SCRIPT = [
    [thinking("Hm", "mm."), text("I ", "look."), call("look", {"n": 1}), call("look", {"n": 2})],
    [text("It ", "is ", "so.")],
]


def harness() -> TurnHarness:
    return TurnHarness(
        ScriptedModel(SCRIPT), [working_tool("look", [Progress("reading", 1, 2)], text_result("a tree"))]
    )


async def test_a_stop_after_any_event_leaves_a_well_formed_turn_with_all_that_came():
    whole = await harness().play()
    for moment in range(1, len(whole.steps)):
        recording = await harness().play(stop_after=moment)  # checks that every block and call is closed
        assert whole.text.startswith(recording.text)
        assert recording.stop_reason in ("aborted", "stop")
        said_before = "".join(m.text for m in recording.stored_messages if isinstance(m, AssistantMessage))
        assert said_before == recording.text, "what was shown is what is kept"


async def test_a_stop_while_the_model_is_silent_ends_the_turn_at_once():
    model = ScriptedModel([[text("And"), ScriptedPause(asyncio.Event()), text("never")]])
    actor = TurnHarness(model)
    events: list[Any] = []

    async def follow() -> None:
        async for step in actor.steps():
            events.append(step)  # noqa: PERF401 - looked at while it grows

    task = asyncio.create_task(follow())
    while not any(getattr(getattr(s, "delta", None), "text", "") == "And" for s in events):
        await asyncio.sleep(0)
    actor.cancel.cancel()
    await asyncio.wait_for(task, 30)
    assert events[-2].delta.stop_reason == "aborted"


async def test_a_stop_reaches_the_running_tool_and_its_call_is_answered():
    cleaned = asyncio.Event()

    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield Progress("working")
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    model = ScriptedModel([[text("I work."), call("work", {}, id="c1")]])
    actor = TurnHarness(model, [tool("work", body)])
    # message_start, text block (3), tool_use (2), pending, checkpoint, running, progress
    recording = await actor.play(stop_after=10)
    assert cleaned.is_set()
    assert recording.statuses("c1") == ["pending", "running", "error"]
    assert [type(block) for block in recording.blocks][-1] is ToolResultBlock
    assert recording.blocks[0] == TextBlock("I work.")
    assert recording.stop_reason == "aborted"
    assert len(model.contexts) == 1, "the model is not asked again"


async def test_a_tool_that_will_not_stop_does_not_hold_the_turn_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("footnote.agent.calls.CLEANUP_SECONDS", 0.05)
    release = asyncio.Event()

    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield Progress("working")
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        yield text_result("late")

    actor = TurnHarness(ScriptedModel([[call("work", {}, id="c1")]]), [tool("work", body)])
    recording = await actor.play(stop_after=7)
    release.set()
    await asyncio.sleep(0)
    assert recording.stop_reason == "aborted"


async def test_a_scope_turns_its_own_cancellation_into_cancelled_and_lets_others_pass():
    scope = CancelScope()

    async def wait() -> str:
        try:
            await scope.wait(asyncio.Event().wait())
        except Cancelled:
            return "cancelled"
        return "done"

    inner = asyncio.create_task(wait())
    await asyncio.sleep(0)
    scope.cancel()
    assert await inner == "cancelled"

    outer = asyncio.create_task(CancelScope().wait(asyncio.Event().wait()))
    await asyncio.sleep(0)
    outer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await outer


async def test_a_task_cancelled_by_both_is_cancelled():
    scope = CancelScope()
    task = asyncio.create_task(scope.wait(asyncio.Event().wait()))
    await asyncio.sleep(0)
    task.cancel()
    scope.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_scope_cancelled_from_within_ends_at_the_next_wait_and_leaves_nothing_behind():
    scope = CancelScope()

    async def stop_oneself() -> str:
        scope.cancel()
        return "last words"

    assert await scope.wait(stop_oneself()) == "last words"
    await asyncio.sleep(0)
    with pytest.raises(Cancelled):
        await scope.wait(asyncio.sleep(0))


async def test_a_cancelled_scope_does_not_begin_anything():
    scope = CancelScope()
    scope.cancel()
    with pytest.raises(Cancelled):
        await scope.wait(asyncio.sleep(0))


async def test_closing_the_iteration_in_the_middle_ends_the_tools():
    cleaned = asyncio.Event()

    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        try:
            yield Progress("working")
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    async with aclosing(TurnHarness(ScriptedModel([[call("work", {})]]), [tool("work", body)]).steps()) as steps:
        async for step in steps:
            if getattr(step, "stage", "") == "working":
                break
    await asyncio.wait_for(cleaned.wait(), 30)


async def test_a_call_that_had_finished_when_the_stop_came_keeps_its_result():
    scope = CancelScope()

    async def write(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield text_result("written")

    async def stop(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        await asyncio.sleep(0)
        scope.cancel()
        await asyncio.Event().wait()
        yield text_result("never")

    model = ScriptedModel([[call("write", {}, id="c1"), call("stop", {}, id="c2")]])
    recording = await TurnHarness(model, [tool("write", write), tool("stop", stop)], cancel=scope).play()
    results = [block for block in recording.blocks if isinstance(block, ToolResultBlock)]
    assert (results[0].status, results[0].content) == ("success", "written")
    assert results[1].status == "error"
    assert "may or may not" in results[1].content


async def test_a_call_that_had_not_begun_is_said_not_to_have():
    scope = CancelScope()

    async def stop(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield Progress("working")
        scope.cancel()
        await asyncio.Event().wait()

    calls = [call("stop", {"n": n}) for n in range(9)]
    recording = await TurnHarness(ScriptedModel([calls]), [tool("stop", stop)], cancel=scope).play()
    results = [block.content for block in recording.blocks if isinstance(block, ToolResultBlock)]
    assert "before this call began" in results[8]
    assert "may or may not" in results[0]
