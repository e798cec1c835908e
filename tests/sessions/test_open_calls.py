"""Calls of a run that ends early: each goes through all its states, and none is told twice."""

import pytest

from footnote.agent.turn import MessageCompleted
from footnote.protocol.events import CallStatus, ToolStatus
from footnote.protocol.messages import AssistantMessage, ToolCall
from footnote.sessions.run import OpenCalls


@pytest.mark.parametrize(
    ("told", "left"), [((), ["running", "error"]), (("pending",), ["running", "error"]), (("running",), ["error"])]
)
def test_the_states_that_were_not_told_are_told_before_the_result(told: tuple[CallStatus, ...], left: list[CallStatus]):
    calls = OpenCalls()
    calls.handle_checkpoint(
        MessageCompleted(AssistantMessage((ToolCall("c1", "look", {}),), "toolUse", "footnote/scripted"), 1)
    )
    for status in told:
        calls.handle_event(ToolStatus("c1", status))

    [(call, result, _)] = calls.close()

    assert calls.unsent_statuses(call, result) == [ToolStatus("c1", status) for status in left]
