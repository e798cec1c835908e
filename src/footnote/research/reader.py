"""The reader of one item: a loop of its own, with its own context and its own messages.

Its events have the id of the item as `parent`. Its outcome is its last response: statements with footnotes, which are
checked like any answer.
"""

import dataclasses
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from footnote.agent import loop
from footnote.agent.budget import RunBudget
from footnote.agent.turn import (
    CallBegun,
    CallEnded,
    Indexes,
    MessageCompleted,
    Step,
    Turn,
)
from footnote.agent.turn_state import TurnState
from footnote.cancel import CancelScope
from footnote.models.base import Context, Model, Options
from footnote.models.profiles import Profile
from footnote.protocol.events import (
    ApprovalRequired,
    BlockDelta,
    BlockStart,
    BlockStop,
    ErrorBody,
    ErrorEvent,
    MessageDelta,
    ToolProgress,
    ToolStatus,
    TurnStopReason,
)
from footnote.protocol.messages import (
    AssistantMessage,
    Block,
    Message,
    ToolCall,
    Usage,
    user_message,
)
from footnote.protocol.plans import PlanItem
from footnote.protocol.stream import Done, Failed, StreamEvent, ToolCallEnd, ToolCallStart
from footnote.tools.approval import Approver
from footnote.tools.base import Abilities
from footnote.tools.registry import Toolbox

_WRITING_TOOLS = frozenset({"write_file", "edit_file"})


class ReaderSetup:
    """What the readers of one run share."""

    def __init__(
        self,
        turn: Turn,
        model: Model,
        toolbox: Toolbox,
        abilities: Abilities,
        approver: Approver,
        indexes: Indexes,
        call_ids: "CallIds",
    ) -> None:
        """`turn` and `indexes` are those of the run."""
        self.turn = turn
        self.model = model
        self.toolbox = Toolbox(tool for tool in toolbox if tool.name not in _WRITING_TOOLS)
        web = abilities.web.without_summary() if abilities.web is not None else None
        self.abilities = dataclasses.replace(abilities, web=web, second_look=None, proofs=None)
        self.approver = approver
        self.indexes = indexes
        self.call_ids = call_ids


class CallIds:
    """The ids of the calls of all readers. Models that know nothing of each other give their calls the same ids."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def unique(self, call_id: str) -> str:
        unique, number = call_id, 1
        while unique in self._taken:
            number += 1
            unique = f"{call_id}_{number}"
        self._taken.add(unique)
        return unique


class _ReaderModel:
    """A model whose calls have ids that no other reader's call has."""

    def __init__(self, model: Model, call_ids: CallIds) -> None:
        self._model = model
        self._call_ids = call_ids

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def profile(self) -> Profile:
        return self._model.profile

    async def stream(
        self, context: Context, options: Options, cancel: CancelScope
    ) -> AsyncGenerator[StreamEvent, None]:
        ids: dict[str, str] = {}
        async with aclosing(self._model.stream(context, options, cancel)) as events:
            async for event in events:
                match event:
                    case ToolCallStart():
                        ids[event.id] = self._call_ids.unique(event.id)
                        yield replace(event, id=ids[event.id])
                    case ToolCallEnd():
                        yield replace(event, call=replace(event.call, id=ids.get(event.call.id, event.call.id)))
                    case Done() | Failed():
                        yield replace(event, message=_with_call_ids(event.message, ids))
                    case _:
                        yield event


def _with_call_ids(message: AssistantMessage, ids: Mapping[str, str]) -> AssistantMessage:
    def renamed(block: Block) -> Block:
        return replace(block, id=ids.get(block.id, block.id)) if isinstance(block, ToolCall) else block

    return replace(message, content=tuple(map(renamed, message.content)))


class ItemReader:
    """The loop of one item. After `steps` is exhausted, `messages` has all of it, and `reason` how it ended."""

    def __init__(self, item: PlanItem, prompt: str, system: str, setup: ReaderSetup, stored: Sequence[Message]) -> None:
        """`stored`: the messages of the item from before a crash."""
        self.item = item
        self.cancel = CancelScope()
        self.reason: TurnStopReason | None = None
        self.error: ErrorBody | None = None
        self._setup = setup
        resumed = setup.turn.resumed
        turn = replace(
            setup.turn,
            system=system,
            messages=(user_message(prompt), *stored),
            repairs_files=False,
            summary=None,
            resumed=None if resumed is None else replace(resumed, blocks=0, files=(), usage=Usage()),
        )
        model = setup.model
        self._state = TurnState(turn, model.id, model.profile.price, indexes=setup.indexes)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self._state.messages[1:]

    @property
    def usage(self) -> tuple[Usage, float | None]:
        return self._state.usage, self._state.cost

    async def steps(self, budget: RunBudget) -> AsyncGenerator[Step, None]:
        setup = self._setup
        model = _ReaderModel(setup.model, setup.call_ids)
        steps = loop.run(self._state, model, setup.toolbox, setup.abilities, self.cancel, setup.approver, budget=budget)
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, ErrorEvent):
                    self.error = step.error
                elif isinstance(step, MessageDelta):
                    self.reason = step.delta.stop_reason
                elif (own := of_item(step, self.item.id)) is not None:
                    yield own


def of_item(step: Step, item_id: str) -> Step | None:
    """A step of the loop of an item as a step of the run; None: the beginning and the end are those of the run."""
    match step:
        case BlockStart() | BlockDelta() | BlockStop() | ToolStatus() | ToolProgress() | ApprovalRequired():
            return replace(step, parent=item_id)
        case MessageCompleted(message):
            return replace(step, message=replace(message, parent=item_id))
        case CallBegun() | CallEnded():
            return step
        case _:
            return None
