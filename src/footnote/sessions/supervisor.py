"""Looks after runs: holds the leases of those that are carried on here, and takes over those that nobody does."""

import asyncio
import logging
import os
import platform
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from footnote.bus.base import Bus
from footnote.db import leases
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.sessions import turns as stored
from footnote.sessions.bus_messages import ORPHANS_MESSAGE, SUPERVISORS_TOPIC, cancelled_run_id, decided_run_id
from footnote.sessions.executor import RunExecutor
from footnote.sessions.journal import Journal
from footnote.sessions.run import LiveRun, RunHead

LEASE_SECONDS = 15.0
"""A run whose owner has not been heard of for so long is taken over."""
SHARED_LEASE_SECONDS = 6.0
"""The same, where replicas share a database: there nobody but the lease tells that one of them is gone."""


def new_owner() -> str:
    """`machine/pid/random`."""
    return f"{_machine_id()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_dead(owner: str, mine: str) -> bool:
    """For certain: a process of this machine that is gone, or whose number is ours now. Of others the lease tells."""
    machine, _, rest = owner.rpartition("/")[0].rpartition("/")
    if owner == mine or machine != _machine_id() or not rest.isdecimal():
        return False
    return int(rest) == os.getpid() or not _is_alive(int(rest))


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # there, asking a process whether it lives ends it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@cache
def _machine_id() -> str:
    """Where a number stands for one process and no other: containers may share the name of a machine and not its
    processes, machines a name and the number of their first namespace."""
    parts = [platform.node() or "here"]
    with suppress(OSError):
        parts += [
            Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
            str(Path("/proc/self/ns/pid").readlink()),
        ]
    return " ".join(parts)


EVENT_RETENTION_SECONDS = 3600.0
"""How long all events of a finished run can be replayed."""
_TICK_SECONDS = 1.0
_RETRY_SECONDS = 0.5
_CLAIM_BATCH = 20
_CLAIM_INTERVAL_SECONDS = 0.2

log = logging.getLogger(__name__)


class RunSupervisor:
    def __init__(
        self,
        database: Database,
        executor: RunExecutor,
        journal: Journal,
        bus: Bus,
        owner: str,
        *,
        lease_seconds: float,
        clean_up: Callable[[], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        self.adopts_orphans = False
        self._database = database
        self._executor = executor
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
        self._claim_lock = asyncio.Lock()
        self._renewed_at: float | None = None
        self._grace_until = 0.0
        """Until then, nothing is taken from those whose lease has merely run out."""

    def start(self) -> None:
        if not self._tasks:
            self._journal.leases_valid_until = time.monotonic() + self._lease_seconds
            tasks = (self._renew_loop(), self._maintenance_loop(), self._listen_loop(), self._expire_waiters())
            self._tasks = [asyncio.create_task(task) for task in tasks]

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def adopt(self) -> None:
        """Takes over what other processes left unfinished: now, and from now on."""
        self.adopts_orphans = True
        await self._claim()
        self.start()

    async def _claim(self) -> None:
        """Some at a time, so that others who live take theirs of many."""
        async with self._claim_lock:
            while True:
                if not await self._claim_some():
                    return
                await asyncio.sleep(_CLAIM_INTERVAL_SECONDS)

    async def _claim_some(self) -> bool:
        """Whether there may be more."""
        there = await self._database.read(leases.owners(self._clock()))
        dead = [owner for owner in there if owner is not None and is_dead(owner, self._owner)]
        most = min(_CLAIM_BATCH, self._executor.spare_capacity)
        fresh: list[str] = []
        if most and (dead or (not all(there.values()) and not self._is_in_grace_period)):
            claim = leases.claim(self._owner, dead, self._lease_seconds, self._clock(), max_runs=most)
            fresh = await self._database.write(claim)
            self._claimed |= set(fresh)
        for run_id in sorted(self._claimed):
            found = await self._database.read(db.interrupted_run(run_id))
            self._claimed.discard(run_id)
            if found is not None:
                log.info("The run %s goes on where it was interrupted.", run_id, extra={"run_id": run_id})
                self._executor.execute(self._restore_run(found))
        return 0 < most == len(fresh)

    def _restore_run(self, found: db.InterruptedRun) -> LiveRun:
        row = found.row
        asked = stored.request_decoder.decode(row.asked)
        head = RunHead(row.id, row.session_id, row.user_id, row.question_id, row.message_id, asked)
        live = LiveRun(head, db.Lease(row.id, row.fence), self._journal, self._clock, interrupted=found)
        if row.cancel_wanted or found.origin == "api":  # the call that it was the answer to is gone with the process
            live.cancel.cancel()
        return live

    async def _renew_loop(self) -> None:
        """By itself: whatever else takes its time, a lease does not wait for it."""
        pause = self._lease_seconds / 3
        while True:
            await asyncio.sleep(pause)
            pause = self._lease_seconds / 3 if await self._try(self._renew_leases) else _RETRY_SECONDS

    async def _maintenance_loop(self) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            await self._try(self._maintain)

    async def _listen_loop(self) -> None:
        """What others say that should be looked at now; b"": something may have been missed."""
        with self._bus.listen(SUPERVISORS_TOPIC) as listener:
            while True:
                message = await listener.next() or b""
                if not message or cancelled_run_id(message) in self._executor.live_runs:
                    await self._try(self._renew_leases)
                if not message or decided_run_id(message) is not None:
                    self._executor.wake_approvals(decided_run_id(message))
                if self.adopts_orphans and message in (b"", ORPHANS_MESSAGE):
                    await self._try(self._claim)

    async def _try(self, act: Callable[[], Awaitable[None]]) -> bool:
        try:
            await act()
        except (DatabaseFailed, db.LeaseLost) as error:
            log.debug("Runs cannot be looked after at the moment: %s", error.message)  # the database tells of itself
            return False
        return True

    async def _maintain(self) -> None:
        """Stores what is owed, takes over what is orphaned, forgets old events, and removes sessions that were
        abandoned and what nothing needs from the storage."""
        await self._executor.store_pending_endings()
        if self.adopts_orphans:
            await self._claim()
            if self._clock() - self._pruned_at > EVENT_RETENTION_SECONDS / 6:
                self._pruned_at = self._clock()
                await self._database.write(db.prune_events(self._pruned_at - EVENT_RETENTION_SECONDS))
                await self._clean_up()

    async def _renew_leases(self) -> None:
        """Where replicas share the database, also without any run: one that begins is held from its first moment. A
        server by itself that has nothing to do writes nothing."""
        began = time.monotonic()
        mine = dict(self._executor.live_runs)
        held: list[tuple[str, int, bool]] = []
        if mine or self._executor.pending_endings or self._claimed or self._database.is_shared:
            held = await self._database.write(leases.heartbeat(self._owner, self._lease_seconds, self._clock()))
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
            self._grace_until = time.monotonic() + self._lease_seconds
        self._renewed_at = began
        self._journal.leases_valid_until = began + self._lease_seconds

    @property
    def _is_late(self) -> bool:
        """The database was away, or this process stood still."""
        return self._renewed_at is not None and time.monotonic() - self._renewed_at > self._lease_seconds

    @property
    def _is_in_grace_period(self) -> bool:
        """Others may have fared as this process did, and live: they get the time to say so."""
        return self._is_late or time.monotonic() < self._grace_until

    async def _expire_waiters(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            for live in list(self._executor.live_runs.values()):
                live.log.expire_waiters(loop.time())
