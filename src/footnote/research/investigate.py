"""Readers side by side, for the items of a plan: who begins when, who is stopped, and what the user changes meanwhile.

The blocks of all readers are numbered as one series, and so are their sources.
"""

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from footnote.agent.budget import RunBudget
from footnote.agent.turn import (
    Checkpoint,
    Step,
)
from footnote.cancel import Cancelled, CancelScope
from footnote.protocol.events import (
    ErrorBody,
)
from footnote.protocol.plans import PlanItem
from footnote.protocol.tools import Locale
from footnote.research.plan import PlanState, set_status
from footnote.research.reader import ItemReader
from footnote.research.run_plan import RunPlan

log = logging.getLogger(__name__)
T = TypeVar("T")

MIN_STRAGGLER_SECONDS = 120.0
STRAGGLER_FACTOR = 3
"""Once no item waits, a reader that takes three times as long as the slowest before it is stopped, but not before two
minutes: a local server may answer one request after the other."""
GRACE_SECONDS = 20.0
"""How long readers have for their statements after looking things up had to end; less in a short run."""
GRACE_SHARE = 0.1
FINISHING_SECONDS = 8.0
"""The same for a user who wants the report now."""
TICK_SECONDS = 0.5
"""How often the plan and the clock are looked at while no reader takes a step."""
MIN_PAGES_PER_ITEM = 3
NO_PAGE_LIMIT = 1_000
MAX_WAITING_STEPS = 256
_INTERNAL_ERROR = ErrorBody(
    "internal_error", "Something went wrong that should not.", retryable=True, code="run_failed"
)


class ItemNotes(Struct, frozen=True):
    """Why an item has no outcome, in one language."""

    no_time: str
    too_slow: str
    stopped: str


NOTES: dict[Locale, ItemNotes] = {
    "en": ItemNotes(
        "The report was begun before this was looked into.",
        "It took too long, and was stopped.",
        "The research was stopped.",
    ),
    "vi": ItemNotes(
        "Báo cáo được viết trước khi tìm hiểu câu này.",
        "Mất quá nhiều thời gian nên đã dừng lại.",
        "Việc nghiên cứu đã bị dừng.",
    ),
    "zh": ItemNotes("开始撰写报告时尚未查阅此项。", "耗时过长\uff0c已停止。", "研究已被停止。"),
}


class _Entry(Struct, frozen=True):
    """What a reader hands up: a step, or its end. `stored` is set once a step is stored."""

    reader: ItemReader
    step: Step | None
    stored: asyncio.Event


class Investigation:
    """Reads for the pending items of a plan, as many as allowed side by side, in the order of the plan."""

    def __init__(
        self,
        plan: RunPlan,
        budget: RunBudget,
        make_reader: Callable[[PlanItem], ItemReader],
        revise: Callable[[PlanState], Awaitable[Callable[[PlanState], PlanState]]],
        *,
        at_once: int,
        locale: Locale,
    ) -> None:
        """`revise`: how the plan changes because of what the user said."""
        self.ended: list[ItemReader] = []
        self._plan = plan
        self._budget = budget
        self._make_reader = make_reader
        self._revise = revise
        self._revision: asyncio.Task[Callable[[PlanState], PlanState]] | None = None
        self._revised_for = 0
        """How many messages of the user the revision in progress is for."""
        self._at_once = at_once
        self._notes = NOTES[locale]
        self._feed: asyncio.Queue[_Entry] = asyncio.Queue(MAX_WAITING_STEPS)
        self._tasks: dict[ItemReader, asyncio.Task[None]] = {}
        self._late: set[ItemReader] = set()
        """Readers that were stopped because they took too long."""
        self._started_at: dict[ItemReader, float] = {}
        self._longest = 0.0
        self._next_look = 0.0
        self._closing_since: float | None = None
        self._plan_may_have_changed = False
        seconds = budget.limits.seconds
        self._grace_seconds = GRACE_SECONDS if seconds is UNSET else min(GRACE_SECONDS, GRACE_SHARE * seconds)

    async def steps(self, cancel: CancelScope) -> AsyncGenerator[Step, None]:
        """Until no item is pending or running. A cancelled investigation stops its readers, and ends with their last
        steps."""
        watch = asyncio.create_task(self._watch_plan())
        try:
            while True:
                if time.monotonic() >= self._next_look or not self._tasks:
                    for step in await self._look_around(cancel):
                        yield step
                if not self._tasks and (self._revision is None or cancel.is_cancelled):
                    break
                entry = await self._next_entry(cancel)
                if entry is None:
                    continue
                if entry.step is not None:
                    yield entry.step
                    entry.stored.set()
                else:
                    for step in await self._end(entry.reader, cancel):
                        yield step
            if cancel.is_cancelled:
                for step in await self._plan.change(
                    partial(drop_items, statuses=("pending", "running"), note=self._notes.stopped)
                ):
                    yield step
        finally:
            watch.cancel()
            await self._stop_all()

    async def _look_around(self, cancel: CancelScope) -> list[Step]:
        """Looks at the clock, at the plan, and at what there is to start."""
        self._next_look = time.monotonic() + TICK_SECONDS
        self._stop_late_readers()
        return [*await self._follow_user(), *await self._start_readers(cancel)]

    async def _follow_user(self) -> list[Step]:
        """Takes over what the user has changed in the plan, and revises the plan because of what the user said."""
        steps: list[Step] = []
        if self._plan_may_have_changed:
            self._plan_may_have_changed = False
            steps += await self._plan.refresh()
        plan = self._plan.state
        if self._revision is None and len(plan.steering) > plan.heard and not self._budget.is_closing:
            self._revised_for = len(plan.steering)
            self._revision = asyncio.create_task(_await(self._revise(plan)))
        elif self._revision is not None and self._revision.done():
            revision, self._revision = self._revision, None
            steps += await self._plan.change(partial(_revised, change=revision.result(), heard=self._revised_for))
        return steps

    async def _start_readers(self, cancel: CancelScope) -> list[Step]:
        """Starts readers where there is room. Items that were running before a crash are the first."""
        if self._plan.state.is_finishing:
            self._budget.close()
        if cancel.is_cancelled:
            return []
        if self._budget.is_closing and any(item.status == "pending" for item in self._plan.state.items):
            return await self._plan.change(partial(drop_items, statuses=("pending",), note=self._notes.no_time))
        steps: list[Step] = []
        while len(self._tasks) < self._at_once and (item := self._next_item()) is not None:
            if item.status == "pending":
                steps += await self._plan.change(_begin_next)
                if (item := self._next_item(statuses=("running",))) is None:
                    continue  # it was dropped in this moment
            self._start(item)
        return steps

    def _next_item(self, statuses: Sequence[str] = ("running", "pending")) -> PlanItem | None:
        """An item that nobody reads for, though somebody should."""
        read = {reader.item.id for reader in self._tasks}
        waiting = [item for item in self._plan.state.items if item.status in statuses and item.id not in read]
        return min(waiting, key=lambda item: statuses.index(item.status), default=None)

    def _start(self, item: PlanItem) -> None:
        reader = self._make_reader(item)
        self._started_at[reader] = time.monotonic()
        max_pages = self._budget.limits.pages
        share = NO_PAGE_LIMIT if max_pages is UNSET else math.ceil(max_pages / max(1, len(self._plan.state.items)))
        budget = self._budget.for_item(max(MIN_PAGES_PER_ITEM, share))
        self._tasks[reader] = asyncio.create_task(self._run(reader, budget), name=item.id)

    async def _run(self, reader: ItemReader, budget: RunBudget) -> None:
        stored = asyncio.Event()
        try:
            async with aclosing(reader.steps(budget)) as steps:
                async for step in steps:
                    stored.clear()
                    await self._feed.put(_Entry(reader, step, stored))
                    if isinstance(step, Checkpoint):
                        # The loop goes on once its checkpoint is stored.
                        await stored.wait()
        except Exception:
            # A fault in one reader does not cost the others their work.
            log.exception("A reader of the run failed.")
            reader.error = _INTERNAL_ERROR
        await self._feed.put(_Entry(reader, None, stored))

    async def _next_entry(self, cancel: CancelScope) -> _Entry | None:
        """What comes next; None: it is time to look at the plan and at the clock."""
        if cancel.is_cancelled:
            self._stop(self._tasks)
            return await self._feed.get()
        try:
            return await cancel.wait(self._wait_for_entry())
        except Cancelled:
            return None

    async def _wait_for_entry(self) -> _Entry | None:
        try:
            async with asyncio.timeout(TICK_SECONDS):
                return await self._feed.get()
        except TimeoutError:
            return None

    def _stop_late_readers(self) -> None:
        """Stops readers that go on long after the others are done, or after looking things up had to end."""
        now = time.monotonic()
        if self._budget.is_closing:
            self._closing_since = self._closing_since or now
            grace = FINISHING_SECONDS if self._plan.state.is_finishing else self._grace_seconds
            if now - self._closing_since > grace:
                self._late.update(self._tasks)
        has_waiting = any(item.status == "pending" for item in self._plan.state.items)
        if self._longest and not has_waiting:
            limit = max(MIN_STRAGGLER_SECONDS, STRAGGLER_FACTOR * self._longest)
            self._late.update(one for one in self._tasks if now - self._started_at[one] > limit)
        self._stop(self._late)

    def _stop(self, readers: Iterable[ItemReader]) -> None:
        for reader in readers:
            reader.cancel.cancel()

    async def _end(self, reader: ItemReader, cancel: CancelScope) -> list[Step]:
        """Notes how an item ended, unless the whole run was cancelled."""
        task = self._tasks.pop(reader)
        await task
        self._next_look = 0.0
        self.ended.append(reader)
        if reader.reason == "aborted" and reader not in self._late and cancel.is_cancelled:
            return []
        self._longest = max(self._longest, time.monotonic() - self._started_at[reader])
        if reader.reason in ("stop", "length", "max_rounds"):
            return await self._plan.change(partial(set_status, item_id=reader.item.id, status="done"))
        note = self._notes.too_slow if reader in self._late else (reader.error or _INTERNAL_ERROR).message
        return await self._plan.change(partial(set_status, item_id=reader.item.id, status="failed", note=note))

    async def _watch_plan(self) -> None:
        while True:
            await self._plan.board.wait_for_change()
            self._plan_may_have_changed = True

    async def _stop_all(self) -> None:
        """For an investigation that is left in the middle, as when the process ends."""
        tasks: list[asyncio.Task[Any]] = [*self._tasks.values(), *([self._revision] if self._revision else ())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _await(awaited: Awaitable[T]) -> T:
    return await awaited


def _begin_next(plan: PlanState) -> PlanState:
    pending = next((item for item in plan.items if item.status == "pending"), None)
    return plan if pending is None else set_status(plan, pending.id, "running")


def _revised(plan: PlanState, change: Callable[[PlanState], PlanState], heard: int) -> PlanState:
    return replace(change(plan), heard=heard)


def drop_items(plan: PlanState, statuses: Sequence[str], note: str) -> PlanState:
    for item in plan.items:
        if item.status in statuses:
            plan = set_status(plan, item.id, "dropped", note)
    return plan
