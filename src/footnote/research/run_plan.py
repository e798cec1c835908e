"""The plan of a run that goes on: what its followers see of it, and what is stored of it in the history."""

from collections.abc import Callable, Iterator

from msgspec import UNSET

from footnote.agent.turn import Indexes, PlanChanged, Step
from footnote.protocol.events import BlockStart, BlockStop, PlanBlock, PlanUpdate
from footnote.protocol.messages import AssistantMessage, Plan, Usage
from footnote.research.plan import PlanBoard, PlanState

PLAN_BLOCK = 0
"""The plan is the first block of its turn."""


class RunPlan:
    """`state` is the plan as this process last read it."""

    def __init__(self, board: PlanBoard, indexes: Indexes, model_id: str) -> None:
        self.state = PlanState()
        self._indexes = indexes
        self.board = board
        self.usage = Usage()
        """What the request for the plan used."""
        self._model_id = model_id
        self._is_shown = False

    async def load(self, message: AssistantMessage | None) -> bool:
        """Whether there is a plan already. `message`: its message, which was stored and shown before a crash."""
        found = await self.board.read()
        self._is_shown = message is not None
        self.usage = message.usage if message is not None else Usage()
        if found is not None:
            self.state = found
        return found is not None and bool(found.items)

    async def change(self, change: Callable[[PlanState], PlanState]) -> list[Step]:
        self.state = await self.board.change(change)
        return self.steps()

    async def refresh(self) -> list[Step]:
        """The steps after a change by somebody else; none if nothing has changed."""
        before, found = self.state, await self.board.read()
        if found is None or found == before:
            return []
        self.state = found
        return self.steps()

    def steps(self) -> list[Step]:
        """Shows and stores the plan as it is now."""
        return [*self._shown(), PlanChanged(self._message())]

    def _shown(self) -> Iterator[Step]:
        items, steering = self.state.items, self.state.steering or UNSET
        if self._is_shown:
            yield PlanUpdate(PLAN_BLOCK, items, steering)
            return
        self._is_shown = True
        index = next(self._indexes)
        yield BlockStart(index, PlanBlock(items, steering))
        yield BlockStop(index)

    def _message(self) -> AssistantMessage:
        content = (Plan(self.state.items, self.state.steering),)
        return AssistantMessage(content, "stop", self._model_id, self.usage)
