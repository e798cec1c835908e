"""The plan of a run on a server: its owner and its user change it in the database, on any replica and at any time.

A run without a plan has a board, too: that its user wants the answer now is stored in the same place.
"""

import asyncio
import logging
from collections.abc import Callable

import msgspec

from footnote.db import progress as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.runs import Lease
from footnote.research.plan import PlanState
from footnote.sessions.journal import retry

POLL_SECONDS = 5.0
"""How often a run looks for changes of its plan, in case the message of one was lost."""

PlanChange = Callable[[PlanState], PlanState]

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
            plan = PlanState() if stored is None else _decoder.decode(stored)
            self._after = msgspec.json.encode(self._change(plan))
        return self._after
