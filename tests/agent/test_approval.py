"""Tools that need approval: who is asked, when, and what follows from each decision."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.turn_harness import TurnHarness, TurnRecording, answering_tool, tool
from footnote.agent.turn import CallBegun
from footnote.models.scripted import ScriptedModel, call, text
from footnote.protocol.events import ApprovalReason, ApprovalRequired, ToolResultBlock
from footnote.protocol.messages import ToolCall
from footnote.tools.approval import ALLOWED, NO_APPROVER, Approver, Decision, LocalApprover, declined_decision
from footnote.tools.base import Outcome, Tool, ToolContext
from loop_clock import advance_loop_clock

NEEDS_APPROVAL = answering_tool("work", "done", approval=True)


class DelayedApprover:
    """Decides when the test opens the gate."""

    def __init__(self, decision: Decision) -> None:
        self.gate = asyncio.Event()
        self._decision = decision

    async def decision(self, call: ToolCall, title: str) -> Decision | None:
        return None

    async def wait_for_decision(self, call: ToolCall) -> Decision:
        await self.gate.wait()
        return self._decision


def _harness(approver: Approver, *tools: Tool) -> TurnHarness:
    calls = [call(one.name, {"a": 1}, id=f"c{number}") for number, one in enumerate(tools, 1)]
    return TurnHarness(ScriptedModel([calls, [text("So.")]]), tools, approver=approver)


def _result(recording: TurnRecording) -> ToolResultBlock:
    [result] = [block for block in recording.blocks if isinstance(block, ToolResultBlock)]
    return result


async def test_an_approved_call_runs() -> None:
    requests: list[tuple[ToolCall, str]] = []

    async def approve(call: ToolCall, title: str) -> bool:
        requests.append((call, title))
        return True

    recording = await _harness(LocalApprover(approve), NEEDS_APPROVAL).play()
    assert _result(recording) == ToolResultBlock("c1", "work", "success", "done")
    assert requests == [(ToolCall("c1", "work", {"a": 1}), "Do work")]


async def test_a_declined_call_does_not_run_and_tells_the_model_not_to_insist() -> None:
    async def decline(_call: ToolCall, _title: str) -> bool:
        return False

    recording = await _harness(LocalApprover(decline), NEEDS_APPROVAL).play()
    assert _result(recording).status == "error"
    assert _result(recording).content == (
        "The user declined this call of work. Do not try it again; go on without it, or ask the user what to do"
        " instead."
    )
    assert not any(isinstance(step, CallBegun) for step in recording.steps)


async def test_a_call_that_nobody_can_approve_does_not_run_and_the_model_is_told_the_truth() -> None:
    result = _result(await _harness(NO_APPROVER, NEEDS_APPROVAL).play())
    assert result.status == "error"
    assert result.content.startswith("Nobody could be asked: work needs the approval of the user")
    assert "declined this call" not in result.content


async def test_only_a_tool_that_needs_approval_asks_for_it() -> None:
    async def never(_call: ToolCall, _title: str) -> bool:
        raise AssertionError

    assert _result(await _harness(LocalApprover(never), answering_tool("work", "done")).play()).content == "done"


async def test_the_time_that_the_user_takes_to_decide_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(_call: ToolCall, _title: str) -> bool:
        advance_loop_clock(monkeypatch, 3600)
        for _ in range(5):
            await asyncio.sleep(0)
        return True

    recording = await _harness(LocalApprover(slow), answering_tool("work", "done", approval=True, timeout=60)).play()
    assert _result(recording).content == "done"


async def test_a_call_that_waits_has_not_begun_and_the_others_go_on() -> None:
    approver = DelayedApprover(ALLOWED)

    async def other(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        approver.gate.set()  # no decision before the other call has run
        async for outcome in answering_tool("other").run({}, _context):
            yield outcome

    recording = await _harness(approver, NEEDS_APPROVAL, tool("other", other)).play()
    mine = [
        step
        for step in recording.steps
        if getattr(step, "tool_use_id", None) == "c1" or (isinstance(step, CallBegun) and step.call_id == "c1")
    ]
    required = ApprovalRequired("c1", "work", {"a": 1}, (ApprovalReason("setting"),))
    assert mine[1:3] == [required, CallBegun("c1")]
    assert recording.statuses("c1") == ["pending", "running", "done"]


async def test_a_no_that_came_later_is_an_error_of_a_call_that_never_began() -> None:
    approver = DelayedApprover(declined_decision("work", "Not today."))
    approver.gate.set()
    recording = await _harness(approver, NEEDS_APPROVAL).play()
    assert _result(recording).content.endswith("The user says: Not today.")
    assert not any(isinstance(step, CallBegun) for step in recording.steps)


async def test_a_stop_ends_the_waiting() -> None:
    harness = _harness(DelayedApprover(ALLOWED), NEEDS_APPROVAL)
    recording = TurnRecording()
    async for step in harness.steps():
        recording.steps.append(step)
        if isinstance(step, ApprovalRequired):
            harness.cancel.cancel()
    assert _result(recording).content == "Stopped on request before this call began."
    assert recording.statuses("c1") == ["pending", "running", "error"]
    assert recording.stop_reason == "aborted"
