"""Runs whole turns with a scripted model and tools made for the test, and checks the events of every turn."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from footnote.agent.budget import RunBudget
from footnote.agent.loop import run
from footnote.agent.turn import Checkpoint, MessageCompleted, Step, Turn
from footnote.agent.turn_state import TurnState
from footnote.cancel import CancelScope
from footnote.models.base import Model
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    ContentBlock,
    Event,
    MessageDelta,
    MessageStart,
    MessageStop,
    RoundRestart,
    TextBlock,
    TextGrowth,
    ToolResultBlock,
    ToolStatus,
    ToolUseBlock,
)
from footnote.protocol.messages import Message, user_message
from footnote.protocol.tools import Progress, ToolResult, text_result
from footnote.tools.approval import NO_APPROVER, Approver
from footnote.tools.base import Abilities, Outcome, Tool, ToolContext
from footnote.tools.registry import Toolbox
from footnote.tools.wrappers import wrap_tool

Body = Callable[[dict[str, Any], ToolContext], AsyncIterator[Outcome]]


def tool(name: str, body: Body, **marks: Any) -> Tool:
    schema = {"type": "object", "properties": {}}
    titles = {"en": f"Do {name}", "vi": f"Làm {name}", "zh": f"做 {name}"}
    return Tool(name, f"Does {name}.", schema, titles, parse=lambda arguments: arguments, run=body, **marks)


def answering_tool(name: str, text: str = "fine", **marks: Any) -> Tool:
    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield text_result(text)

    return tool(name, body, **marks)


def working_tool(
    name: str, progress: Iterable[Progress], result: ToolResult, gate: asyncio.Event | None = None
) -> Tool:
    """Reports the given progress, waits for the gate, and returns the result."""

    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        for step in progress:
            yield step
        if gate is not None:
            await gate.wait()
        yield result

    return tool(name, body)


@dataclass
class TurnHarness:
    """One turn that can be run to its end."""

    model: Model
    tools: Iterable[Tool] = ()
    history: tuple[Message, ...] = (user_message("Why?"),)
    abilities: Abilities = field(default_factory=Abilities)
    cancel: CancelScope = field(default_factory=CancelScope)
    approver: Approver = NO_APPROVER
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    budget: RunBudget | None = None

    def steps(self) -> Any:
        """The steps of the agent loop, as its async generator."""
        turn = Turn("s1", "r1", "m1", "Be brief.", self.history, **self.settings)
        toolbox = Toolbox.of(map(wrap_tool, self.tools), self.abilities)
        return run(
            TurnState(turn, self.model.id, self.model.profile.price),
            self.model,
            toolbox,
            self.abilities,
            self.cancel,
            self.approver,
            self.budget,
        )

    async def play(self, *, stop_after: int | None = None) -> "TurnRecording":
        """Runs the turn to its end. `stop_after`: the number of steps after which the turn is cancelled."""
        recording = TurnRecording()
        async for step in self.steps():
            recording.steps.append(step)
            if len(recording.steps) == stop_after:
                self.cancel.cancel()
        check_events(recording.events)
        return recording


@dataclass
class TurnRecording:
    steps: list[Step] = field(default_factory=list[Step])

    @property
    def events(self) -> list[Event]:
        return [step for step in self.steps if not isinstance(step, Checkpoint)]

    @property
    def stored_messages(self) -> list[Message]:
        return [step.message for step in self.steps if isinstance(step, MessageCompleted)]

    @property
    def blocks(self) -> list[ContentBlock]:
        """The blocks of the turn as a client has folded them at the end."""
        blocks: dict[int, Any] = {}
        for event in self.events:
            if isinstance(event, BlockStart):
                blocks[event.index] = event.content_block
            elif isinstance(event, BlockDelta) and isinstance(event.delta, TextGrowth):
                blocks[event.index] = TextBlock(blocks[event.index].text + event.delta.text)
        return [blocks[index] for index in sorted(blocks)]

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def end(self) -> MessageDelta:
        return next(event for event in self.events if isinstance(event, MessageDelta))

    @property
    def stop_reason(self) -> str:
        return self.end.delta.stop_reason

    def statuses(self, call_id: str) -> list[str]:
        return [event.status for event in self.events if isinstance(event, ToolStatus) and event.tool_use_id == call_id]


def check_events(events: list[Event]) -> None:
    """Checks what holds for the events of every turn, whatever its outcome."""
    assert isinstance(events[0], MessageStart | RoundRestart)
    assert [type(event) for event in events[-2:]] == [MessageDelta, MessageStop]
    opened = [event.index for event in events if isinstance(event, BlockStart)]
    assert opened == list(range(opened[0], opened[0] + len(opened))) if opened else True
    is_open: set[int] = set()
    for event in events:
        match event:
            case BlockStart():
                is_open.add(event.index)
            case BlockDelta():
                assert event.index in is_open
            case BlockStop():
                is_open.remove(event.index)
            case _:
                pass
    assert not is_open, "every block is closed"
    uses = [
        e.content_block.id for e in events if isinstance(e, BlockStart) and isinstance(e.content_block, ToolUseBlock)
    ]
    answers = [
        e.content_block.tool_use_id
        for e in events
        if isinstance(e, BlockStart) and isinstance(e.content_block, ToolResultBlock)
    ]
    # A turn that continues after a crash also answers the calls that were made before it.
    earlier = [] if isinstance(events[0], MessageStart) else [answer for answer in answers if answer not in uses]
    assert answers == earlier + uses, "every call is answered once, in the order in which it was asked for"
    for call_id in uses:
        life = [e.status for e in events if isinstance(e, ToolStatus) and e.tool_use_id == call_id]
        assert life in (["pending", "running", "done"], ["pending", "running", "error"])
