"""Calls of a run that ends early: each goes through all its states, and none is told twice."""

import pytest

from footnote.agent.turn import Kept
from footnote.protocol.events import CallStatus, ToolStatus
from footnote.protocol.messages import AssistantMessage, ToolCall
from footnote.sessions.open_calls import OpenCalls


@pytest.mark.parametrize(
    ("told", "left"), [((), ["running", "error"]), (("pending",), ["running", "error"]), (("running",), ["error"])]
)
def test_the_states_that_were_not_told_are_told_before_the_result(told: tuple[CallStatus, ...], left: list[CallStatus]):
    calls = OpenCalls()
    calls.note(Kept(AssistantMessage((ToolCall("c1", "look", {}),), "toolUse", "footnote/scripted"), 1))
    for status in told:
        calls.see(ToolStatus("c1", status))

    [(call, result, _)] = calls.close()

    assert calls.left_to_tell(call, result) == [ToolStatus("c1", status) for status in left]
