"""Looks after runs: holds the leases of those that are carried on here, and takes over those that nobody does."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from footnote.db import leases
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.failures import DatabaseFailed
from footnote.sessions import turns as stored
from footnote.sessions.carrier import Carrier
from footnote.sessions.journal import Journal
from footnote.sessions.live import LiveRun, RunHead
from footnote.sessions.owners import LEASE_SECONDS, is_dead

EVENTS_SECONDS = 3600.0
"""How long all events of a finished run can be replayed."""
_TICK_SECONDS = 1.0

log = logging.getLogger(__name__)


class Keeper:
    def __init__(
        self,
        database: Database,
        carrier: Carrier,
        journal: Journal,
        owner: str,
        *,
        sweep: Callable[[], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        self.adopts = False
        self._database = database
        self._carrier = carrier
        self._journal = journal
        self._owner = owner
        self._sweep = sweep
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self._pruned_at = 0.0
        self._claimed: set[str] = set()
        """Runs that are ours and that nobody carries on yet, for instance because they could not be read."""

    def start(self) -> None:
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._keep()), asyncio.create_task(self._tick())]

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def adopt(self) -> None:
        """Takes over what other processes left unfinished: now, and from now on."""
        self.adopts = True
        await self._claim()
        self.start()

    async def _claim(self) -> None:
        there = await self._database.read(leases.owners())
        dead = [owner for owner in there if owner is not None and is_dead(owner, self._owner)]
        now = self._clock()
        self._claimed |= set(await self._database.write(leases.claim(self._owner, dead, now, now + LEASE_SECONDS)))
        for run_id in sorted(self._claimed):
            found = await self._database.read(db.interrupted(run_id))
            self._claimed.discard(run_id)
            if found is not None:
                log.info("The run %s goes on where it was interrupted.", run_id)
                self._carrier.carry_on(self._live(found))

    def _live(self, found: db.Interrupted) -> LiveRun:
        row = found.row
        asked = stored.asked.decode(row.asked)
        head = RunHead(row.id, row.session_id, row.user_id, row.question_id, row.message_id, asked)
        live = LiveRun(head, db.Lease(row.id, row.fence), self._journal, self._clock, found=found)
        if row.cancel_wanted or found.origin == "api":  # the call that it was the answer to is gone with the process
            live.cancel.cancel()
        return live

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            try:
                await self.look_after()
            except (DatabaseFailed, db.LeaseLost) as error:
                log.warning("Runs cannot be looked after at the moment: %s", error.message)

    async def look_after(self) -> None:
        """Holds on to what is carried on here, stores what is owed, takes over what is orphaned, forgets old events
        and removes what nothing needs from the storage."""
        await self._hold()
        await self._carrier.settle()
        if self.adopts:
            await self._claim()
            if self._clock() - self._pruned_at > EVENTS_SECONDS / 6:
                self._pruned_at = self._clock()
                await self._database.write(db.prune(self._pruned_at - EVENTS_SECONDS))
                await self._sweep()

    async def _hold(self) -> None:
        mine = dict(self._carrier.live)
        if not mine and not self._carrier.unsettled and not self._claimed:
            return
        held = await self._database.write(leases.beat(self._owner, self._clock() + LEASE_SECONDS))
        fences = {run_id: fence for run_id, fence, _ in held}
        for run_id, live in mine.items():
            if fences.get(run_id) != live.log.lease.fence and not live.ended.is_set() and live.task is not None:
                log.warning("The run %s was deleted, or is carried on by another process.", run_id)
                live.task.cancel()
        for run_id, _, wanted in held:
            if wanted and run_id in mine:
                mine[run_id].cancel.cancel()

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            for live in list(self._carrier.live.values()):
                live.log.tick(loop.time())
