"""Looks after runs: holds the leases of those that are carried on here, and takes over those that nobody does."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from footnote.bus.base import Bus
from footnote.db import leases
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.failures import DatabaseFailed
from footnote.sessions import turns as stored
from footnote.sessions.carrier import Carrier
from footnote.sessions.hints import KEEPERS, ORPHANS, cancelled_by, decided_in
from footnote.sessions.journal import Journal
from footnote.sessions.live import LiveRun, RunHead
from footnote.sessions.owners import is_dead

EVENTS_SECONDS = 3600.0
"""How long all events of a finished run can be replayed."""
_TICK_SECONDS = 1.0
_PAUSE_SECONDS = 0.5
_CLAIM_AT_ONCE = 20
_NEXT_CLAIM_SECONDS = 0.2

log = logging.getLogger(__name__)


class Keeper:
    def __init__(
        self,
        database: Database,
        carrier: Carrier,
        journal: Journal,
        bus: Bus,
        owner: str,
        *,
        lease_seconds: float,
        clean_up: Callable[[], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        self.adopts = False
        self._database = database
        self._carrier = carrier
        self._journal = journal
        self._bus = bus
        self._owner = owner
        self._lease_seconds = lease_seconds
        self._clean_up = clean_up
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self._pruned_at = 0.0
        self._claimed: set[str] = set()
        """Runs that are ours and that nobody carries on yet, for instance because they could not be read."""
        self._claiming = asyncio.Lock()
        self._held_at: float | None = None
        self._patient_until = 0.0
        """Until then, nothing is taken from those whose lease has merely run out."""

    def start(self) -> None:
        if not self._tasks:
            self._journal.held_until = time.monotonic() + self._lease_seconds
            tasks = (self._keep_holding(), self._keep_looking(), self._listen(), self._tick())
            self._tasks = [asyncio.create_task(task) for task in tasks]

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def adopt(self) -> None:
        """Takes over what other processes left unfinished: now, and from now on."""
        self.adopts = True
        await self._claim()
        self.start()

    async def _claim(self) -> None:
        """Some at a time, so that others who live take theirs of many."""
        async with self._claiming:
            while True:
                if not await self._claim_some():
                    return
                await asyncio.sleep(_NEXT_CLAIM_SECONDS)

    async def _claim_some(self) -> bool:
        """Whether there may be more."""
        there = await self._database.read(leases.owners(self._clock()))
        dead = [owner for owner in there if owner is not None and is_dead(owner, self._owner)]
        most = min(_CLAIM_AT_ONCE, self._carrier.room)
        fresh: list[str] = []
        if most and (dead or (not all(there.values()) and not self._is_patient)):
            claim = leases.claim(self._owner, dead, self._lease_seconds, self._clock(), most=most)
            fresh = await self._database.write(claim)
            self._claimed |= set(fresh)
        for run_id in sorted(self._claimed):
            found = await self._database.read(db.interrupted(run_id))
            self._claimed.discard(run_id)
            if found is not None:
                log.info("The run %s goes on where it was interrupted.", run_id, extra={"run_id": run_id})
                self._carrier.carry_on(self._live(found))
        return 0 < most == len(fresh)

    def _live(self, found: db.Interrupted) -> LiveRun:
        row = found.row
        asked = stored.asked.decode(row.asked)
        head = RunHead(row.id, row.session_id, row.user_id, row.question_id, row.message_id, asked)
        live = LiveRun(head, db.Lease(row.id, row.fence), self._journal, self._clock, found=found)
        if row.cancel_wanted or found.origin == "api":  # the call that it was the answer to is gone with the process
            live.cancel.cancel()
        return live

    async def _keep_holding(self) -> None:
        """By itself: whatever else takes its time, a lease does not wait for it."""
        pause = self._lease_seconds / 3
        while True:
            await asyncio.sleep(pause)
            pause = self._lease_seconds / 3 if await self._tried(self._hold) else _PAUSE_SECONDS

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            await self._tried(self._look)

    async def _listen(self) -> None:
        """What others say that should be looked at now; b"": something may have been missed."""
        with self._bus.listen(KEEPERS) as listener:
            while True:
                message = await listener.next() or b""
                if not message or cancelled_by(message) in self._carrier.live:
                    await self._tried(self._hold)
                if not message or decided_in(message) is not None:
                    self._carrier.wake_approvals(decided_in(message))
                if self.adopts and message in (b"", ORPHANS):
                    await self._tried(self._claim)

    async def _tried(self, act: Callable[[], Awaitable[None]]) -> bool:
        try:
            await act()
        except (DatabaseFailed, db.LeaseLost) as error:
            log.debug("Runs cannot be looked after at the moment: %s", error.message)  # the database tells of itself
            return False
        return True

    async def _look(self) -> None:
        """Stores what is owed, takes over what is orphaned, forgets old events, and removes sessions that were
        abandoned and what nothing needs from the storage."""
        await self._carrier.settle()
        if self.adopts:
            await self._claim()
            if self._clock() - self._pruned_at > EVENTS_SECONDS / 6:
                self._pruned_at = self._clock()
                await self._database.write(db.prune(self._pruned_at - EVENTS_SECONDS))
                await self._clean_up()

    async def _hold(self) -> None:
        """Where replicas share the database, also without any run: one that begins is held from its first moment. A
        server by itself that has nothing to do writes nothing."""
        began = time.monotonic()
        mine = dict(self._carrier.live)
        held: list[tuple[str, int, bool]] = []
        if mine or self._carrier.unsettled or self._claimed or self._database.is_shared:
            held = await self._database.write(leases.beat(self._owner, self._lease_seconds, self._clock()))
        fences = {run_id: fence for run_id, fence, _ in held}
        for run_id, live in mine.items():
            if fences.get(run_id) != live.log.lease.fence and not live.ended.is_set() and live.task is not None:
                facts = {"run_id": run_id}
                log.warning("The run %s was deleted, or is carried on by another process.", run_id, extra=facts)
                live.is_lost = True
                live.task.cancel()
        for run_id, _, wanted in held:
            if wanted and run_id in mine:
                mine[run_id].cancel.cancel()
        if self._is_late:
            self._patient_until = time.monotonic() + self._lease_seconds
        self._held_at = began
        self._journal.held_until = began + self._lease_seconds

    @property
    def _is_late(self) -> bool:
        """The database was away, or this process stood still."""
        return self._held_at is not None and time.monotonic() - self._held_at > self._lease_seconds

    @property
    def _is_patient(self) -> bool:
        """Others may have fared as this process did, and live: they get the time to say so."""
        return self._is_late or time.monotonic() < self._patient_until

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            for live in list(self._carrier.live.values()):
                live.log.tick(loop.time())
