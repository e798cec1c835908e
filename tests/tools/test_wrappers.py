import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from footnote.protocol.errors import ConfigError, ToolFailed, TransientFailure
from footnote.protocol.tools import Progress, error_result, text_result
from footnote.tools.base import Outcome, Tool, ToolContext
from footnote.tools.wrappers import (
    with_readable_errors,
    with_retry,
    with_timeout,
    wrap_tool,
)
from tools.calls import context, make_tool, run_for_result, run_for_steps


async def answer(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
    yield Progress("working", 1, 1)
    yield text_result("done")


def failing_tool(*errors: Exception, **marks: Any) -> Tool:
    """A tool that raises each of the errors in turn, after some progress, and then succeeds."""
    left = list(errors)

    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield Progress("working")
        if left:
            raise left.pop(0)
        yield text_result("done")

    return make_tool(body, **marks)


def hanging_tool(closed: asyncio.Event, **marks: Any) -> Tool:
    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        try:
            yield Progress("working")
            await asyncio.Event().wait()
        finally:
            closed.set()

    return make_tool(body, **marks)


class RecordedSleep:
    """Records delays instead of sleeping."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.delays.append(seconds)


async def test_a_tool_that_takes_too_long_is_stopped_and_closed() -> None:
    closed = asyncio.Event()
    steps = with_timeout(hanging_tool(closed, timeout=0.01)).run({}, context())
    assert await anext(steps) == Progress("working")
    with pytest.raises(ToolFailed, match=r"^work was stopped: it took longer than 0\.01 s\.$"):
        await anext(steps)
    assert closed.is_set()


async def test_a_timeout_inside_the_tool_is_the_tools_own_failure() -> None:
    with pytest.raises(TimeoutError, match="upstream"):
        await run_for_steps(with_timeout(failing_tool(TimeoutError("upstream"))), {})


async def test_a_tool_in_time_is_left_alone() -> None:
    assert await run_for_steps(with_timeout(make_tool(answer)), {}) == [Progress("working", 1, 1), text_result("done")]


@pytest.mark.parametrize(
    "error",
    [TransientFailure("busy"), ConnectionResetError(), TimeoutError(), asyncio.IncompleteReadError(b"", 5)],
    ids=lambda error: type(error).__name__,
)
async def test_an_idempotent_tool_is_tried_again_twice(error: Exception) -> None:
    naps = RecordedSleep()
    tool = with_retry(failing_tool(error, error, idempotent=True), sleep=naps)
    assert await run_for_steps(tool, {}) == [
        Progress("working"),
        Progress("retrying", 1, 2),
        Progress("working"),
        Progress("retrying", 2, 2),
        Progress("working"),
        text_result("done"),
    ]
    assert naps.delays == [0.5, 1.0]


async def test_the_third_failure_is_final() -> None:
    tool = with_retry(failing_tool(*[TransientFailure("busy")] * 3, idempotent=True), sleep=RecordedSleep())
    with pytest.raises(TransientFailure, match="busy"):
        await run_for_steps(tool, {})


async def test_a_tool_that_is_not_idempotent_is_tried_once() -> None:
    with pytest.raises(TransientFailure):
        await run_for_steps(with_retry(failing_tool(TransientFailure("busy")), sleep=RecordedSleep()), {})


async def test_a_lasting_failure_is_not_tried_again() -> None:
    naps = RecordedSleep()
    with pytest.raises(ToolFailed):
        await run_for_steps(with_retry(failing_tool(ToolFailed("no"), idempotent=True), sleep=naps), {})
    assert naps.delays == []


@pytest.mark.parametrize("error", [ToolFailed("No such page."), ConfigError("Set the key.")], ids=repr)
async def test_an_error_of_ours_is_told_to_the_model(error: Exception) -> None:
    assert await run_for_steps(with_readable_errors(failing_tool(error)), {}) == [
        Progress("working"),
        error_result(str(error)),
    ]


async def test_any_other_error_is_logged_and_kept_from_the_model(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        result = await run_for_result(with_readable_errors(failing_tool(KeyError("secret"))), {})
    assert result == error_result("work failed because of an internal error. Go on without it, or try it another way.")
    assert "KeyError: 'secret'" in caplog.text


async def test_a_tool_without_a_result_gets_one() -> None:
    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield Progress("working")

    assert await run_for_steps(with_readable_errors(make_tool(body)), {}) == [
        Progress("working"),
        error_result("work ended without a result."),
    ]


async def test_nothing_comes_after_the_first_result() -> None:
    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield text_result("one")
        yield text_result("two")

    assert await run_for_steps(wrap_tool(make_tool(body)), {}) == [text_result("one")]


async def test_a_tool_whose_steps_are_no_generator_works_too() -> None:
    class StepIterator:
        left = 1

        def __aiter__(self) -> "StepIterator":
            return self

        async def __anext__(self) -> Outcome:
            if not self.left:
                raise StopAsyncIteration
            self.left -= 1
            return text_result("done")

    assert await run_for_steps(wrap_tool(make_tool(lambda _params, _context: StepIterator())), {}) == [
        text_result("done")
    ]


async def test_cancelling_ends_the_tool_and_travels_on() -> None:
    closed, started = asyncio.Event(), asyncio.Event()
    tool = wrap_tool(hanging_tool(closed, idempotent=True))

    async def follow() -> None:
        async for _ in tool.run({}, context()):
            started.set()

    task = asyncio.create_task(follow())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


async def test_leaving_a_call_half_way_closes_the_tool() -> None:
    closed = asyncio.Event()
    steps = wrap_tool(hanging_tool(closed, idempotent=True)).run({}, context())
    assert await anext(steps) == Progress("working")
    await steps.aclose()  # pyright: ignore[reportAttributeAccessIssue] - the standard wrappers are generators
    assert closed.is_set()


async def test_all_attempts_share_one_time_limit() -> None:
    async def endless_sleep(_seconds: float) -> None:
        """Sleeps past the time limit, without making the test wait for it."""
        await asyncio.Event().wait()

    tool = wrap_tool(failing_tool(TransientFailure("busy"), idempotent=True, timeout=0.01), sleep=endless_sleep)
    assert await run_for_result(tool, {}) == error_result("work was stopped: it took longer than 0.01 s.")


async def test_half_a_character_in_a_result_does_not_reach_the_wire() -> None:
    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield text_result("half \ud83d", artifact={"title": "also \ude00 half", "n": 1})

    result = await run_for_result(wrap_tool(make_tool(body)), {})
    assert (result.text, result.artifact) == ("half \ufffd", {"title": "also \ufffd half", "n": 1})


async def test_an_artifact_that_is_no_json_is_an_error_result(caplog: pytest.LogCaptureFixture) -> None:
    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield text_result("fine", artifact={"handle": object()})

    result = await run_for_result(wrap_tool(make_tool(body)), {})
    assert result.is_error
    assert "internal error" in result.text
    assert "Encoding objects of type object" in caplog.text
