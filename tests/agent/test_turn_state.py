"""A turn that is closed early: each call gets its remaining statuses, and no event is repeated."""

import pytest

from footnote.agent.calls import INTERRUPTED, RESPONSE_BROKEN_OFF
from footnote.agent.turn import CallBegun, CallEnded, MessageCompleted, Step, Turn
from footnote.agent.turn_state import TurnState
from footnote.protocol.events import (
    AttachmentsBlock,
    BlockStart,
    BlockStop,
    CallStatus,
    ErrorBody,
    ErrorEvent,
    MessageDelta,
    MessageStop,
    TextBlock,
    ToolResultBlock,
    ToolStatus,
)
from footnote.protocol.files import FileRecord
from footnote.protocol.messages import AssistantMessage, ToolCall, Usage, user_message
from footnote.protocol.tools import ToolResult, text_result

FILE = FileRecord("f1", "a.md", "a.md", "markdown", "agent", "2026-01-01T00:00:00Z", "/a.md")


def open_turn() -> TurnState:
    state = TurnState(Turn("s1", "r1", "m1", "", (user_message("Why?"),)), "footnote/scripted")
    state.append_response(
        AssistantMessage((ToolCall("c1", "look", {}),), "toolUse", "footnote/scripted", usage=Usage(input=3, output=4))
    )
    return state


def results(steps: list[Step]) -> list[ToolResultBlock]:
    blocks = [step.content_block for step in steps if isinstance(step, BlockStart)]
    return [block for block in blocks if isinstance(block, ToolResultBlock)]


@pytest.mark.parametrize(
    ("announced", "left"), [((), ["running", "error"]), (("pending",), ["running", "error"]), (("running",), ["error"])]
)
def test_the_statuses_that_were_not_told_are_told_before_the_result(
    announced: tuple[CallStatus, ...], left: list[CallStatus]
):
    state = open_turn()
    for status in announced:
        state.observe(ToolStatus("c1", status))

    steps = state.close("error")

    kinds = [step.status if isinstance(step, ToolStatus) else type(step) for step in steps]
    assert kinds == [*left, BlockStart, BlockStop, MessageCompleted, MessageDelta, MessageStop]


@pytest.mark.parametrize(("started", "text"), [(True, INTERRUPTED), (False, RESPONSE_BROKEN_OFF)])
def test_a_call_without_a_result_is_answered_by_whether_it_had_begun(started: bool, text: str):
    state = open_turn()
    if started:
        state.observe(CallBegun("c1"))

    [block] = results(state.close("aborted"))

    assert (block.status, block.content) == ("error", text)


def test_a_result_that_was_reached_is_shown_and_stored_with_its_files():
    state = open_turn()
    state.observe(CallEnded("c1", ToolResult(text_result("Found.").content, files=(FILE,))))

    steps = state.close("error", ErrorBody("internal_error", "Broken.", retryable=True))

    [block] = results(steps)
    assert (block.status, block.content) == ("success", "Found.")
    attachments = next(
        step for step in steps if isinstance(step, BlockStart) and isinstance(step.content_block, AttachmentsBlock)
    )
    assert attachments == BlockStart(1, AttachmentsBlock((FILE,)))
    assert steps.index(attachments) < steps.index(ErrorEvent(ErrorBody("internal_error", "Broken.", retryable=True)))


def test_an_open_block_is_closed_first():
    state = open_turn()
    state.observe(BlockStart(next(state.indexes), TextBlock()))

    assert state.close("aborted")[0] == BlockStop(0)


def test_a_result_that_was_shown_and_not_stored_is_only_stored():
    state = open_turn()
    state.observe(BlockStart(next(state.indexes), ToolResultBlock("c1", "look", "success", "Found.", None)))
    state.observe(BlockStop(0))

    assert [type(step) for step in state.close("error")] == [MessageCompleted, MessageDelta, MessageStop]


def test_closing_again_adds_the_error_and_a_new_reason_and_nothing_else():
    state = open_turn()
    state.observe(CallEnded("c1", ToolResult(text_result("Found.").content, files=(FILE,))))
    first = state.close("stop")[-2]
    error = ErrorBody("database_failed", "Full.", retryable=True)

    steps = state.close("error", error)

    assert isinstance(first, MessageDelta)
    assert steps == [ErrorEvent(error), state.final_delta, MessageStop()]
    assert state.final_delta is not None
    assert (state.final_delta.delta.stop_reason, state.final_delta.usage) == ("error", first.usage)
