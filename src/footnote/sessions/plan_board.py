"""The plan of a run on a server: its owner and its user change it in the database, on any replica and at any time.

A run without a plan has a board, too: that its user wants the answer now is stored in the same place.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import msgspec

from footnote.db import progress as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.runs import Lease, RunRow
from footnote.protocol.errors import Conflict, Unknown
from footnote.protocol.plans import MAX_PLAN_ITEMS, PlanChanges, PlanView, Steering
from footnote.protocol.sessions import ACTIVE
from footnote.protocol.tools import Locale
from footnote.research.investigate import NOTES, drop_items
from footnote.research.plan import PlanState, add_steering, edit_plan, finish
from footnote.sessions.journal import retry
from footnote.sessions.turns import request_decoder

POLL_SECONDS = 5.0
"""How often a run looks for changes of its plan, in case the message of one was lost."""

PlanChange: TypeAlias = Callable[[PlanState], PlanState]

log = logging.getLogger(__name__)
_decoder = msgspec.json.Decoder(PlanState)


class StoredPlan:
    """The plan of one run, for the process that has its lease. At most one task waits for changes."""

    def __init__(self, database: Database, lease: Lease) -> None:
        self._database = database
        self._lease = lease
        self._seen: bytes | None = None
        """The plan as this process knows it."""
        self._wakeup = asyncio.Event()

    def wake(self) -> None:
        """Makes the run look for a change by its user."""
        self._wakeup.set()
        self._wakeup = asyncio.Event()

    async def read(self) -> PlanState | None:
        self._seen = await retry(self._load)
        return None if self._seen is None else _decoder.decode(self._seen)

    async def change(self, change: PlanChange) -> PlanState:
        """`LeaseLost`: another process has the run. `change` may be called several times."""
        changing = PlanChanging(change)
        plan = await retry(lambda: self._database.write(db.change_plan(self._lease, changing)))
        if changing.before == self._seen:  # otherwise somebody else changed it, too
            self._seen = plan
        return _decoder.decode(plan)

    async def stop(self, locale: Locale) -> PlanState | None:
        """The plan of a run that ends early: no item of it goes on. None: it cannot be stored now."""
        with suppress(DatabaseFailed):
            return await self.change(partial(drop_items, statuses=("pending", "running"), note=NOTES[locale].stopped))
        return None

    async def wait_until_finishing(self) -> None:
        """Returns when the user wants the answer now."""
        while not _decode(self._seen).is_finishing:
            await self.wait_for_change()

    async def wait_for_change(self) -> None:
        while True:
            hint = self._wakeup  # before the read, so that a change during it is not missed
            try:
                found = await self._load()
                if found != self._seen:
                    self._seen = found
                    return
            except DatabaseFailed as error:
                log.debug("Changes of a plan cannot be looked up yet: %s", error.message)
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await hint.wait()
            except TimeoutError:
                pass

    async def _load(self) -> bytes | None:
        return (await self._database.read(db.run_progress(self._lease.run_id))).plan


class PlanChanging:
    """A change of a plan, for its transaction. That is repeated if its commit was not confirmed; a plan that has the
    change already is not changed again."""

    def __init__(self, change: PlanChange) -> None:
        self.before: bytes | None = None
        self._change = change
        self._after: bytes | None = None

    def __call__(self, stored: bytes | None) -> bytes:
        if self._after is None or stored != self._after:
            self.before = stored
            self._after = msgspec.json.encode(self._change(_decode(stored)))
        return self._after


def _decode(stored: bytes | None) -> PlanState:
    """A run of which nothing is stored has a plan without items."""
    return PlanState() if stored is None else _decoder.decode(stored)


class UserPlans:
    """The plans of runs, for their users. `Unknown`: the user has no such run. `Conflict`: it has no plan, or it can no
    longer be changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def view(self, user_id: str, run_id: str) -> PlanView:
        """A plan that is still being made has no items. That of a run that has ended can be read, too."""
        row, stored = await self._database.read(db.run_with_plan(run_id))
        if row is None or row.user_id != user_id:
            raise Unknown("There is no such run.", code="run_not_found")
        _check_has_plan(row)
        return _view(_decode(stored))

    async def edit(self, user_id: str, run_id: str, changes: PlanChanges) -> PlanView:
        def change(plan: PlanState) -> PlanState:
            if not plan.items:
                raise Conflict("The plan is still being made. Try again in some seconds.", code="plan_not_made")
            return edit_plan(_changeable(plan), changes.items, max_items=MAX_PLAN_ITEMS)

        return _view(await self._change(user_id, run_id, change))

    async def steer(self, user_id: str, run_id: str, steering: Steering) -> PlanView:
        """Also before the plan is made, which then goes by it."""
        return _view(
            await self._change(user_id, run_id, lambda plan: add_steering(_changeable(plan), steering.content))
        )

    async def finish(self, user_id: str, run_id: str) -> None:
        """Of any run that looks things up, also one without a plan: it answers with what it has. A second time, and
        after its end, it changes nothing."""
        changing = PlanChanging(finish)

        def changed(row: RunRow, stored: bytes | None) -> bytes:
            if request_decoder.decode(row.asked).mode == "check":
                raise Conflict("A check has no answer before its end. Cancel it instead.", code="check_not_finished")
            return changing(stored)

        await self._database.write(db.change_plan_for(user_id, run_id, changed))

    async def _change(self, user_id: str, run_id: str, change: PlanChange) -> PlanState:
        changing = PlanChanging(change)

        def changed(row: RunRow, stored: bytes | None) -> bytes:
            _check_has_plan(row)
            if row.state not in ACTIVE:
                raise Conflict("The run has ended, so its plan can no longer be changed.", code="run_ended")
            return changing(stored)

        return _decoder.decode(await self._database.write(db.change_plan_for(user_id, run_id, changed)))


def _check_has_plan(row: RunRow) -> None:
    if request_decoder.decode(row.asked).mode != "research":
        raise Conflict("This run has no plan: only research has one.", code="plan_missing")


def _changeable(plan: PlanState) -> PlanState:
    if plan.phase == "writing":
        raise Conflict("The report is being written already, so the plan stays as it is.", code="plan_closed")
    return plan


def _view(plan: PlanState) -> PlanView:
    return PlanView(plan.items, plan.steering)
