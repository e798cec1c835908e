"""Supervises runs: renews the leases of those that this process executes, and adopts those of dead processes."""

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
from footnote.sessions.bus_messages import (
    ORPHANS_MESSAGE,
    SUPERVISORS_TOPIC,
    cancelled_run_id,
    decided_run_id,
    planned_run_id,
)
from footnote.sessions.executor import RunExecutor
from footnote.sessions.journal import Journal
from footnote.sessions.run import LiveRun, RunHead, RunPhase

LEASE_SECONDS = 15.0
"""A run is adopted once its owner has not renewed the lease for so long."""
SHARED_LEASE_SECONDS = 6.0
"""The same where replicas share a database: there only the lease shows that a process on another machine is gone."""


def new_owner() -> str:
    """`machine/pid/random`."""
    return f"{_machine_id()}/{os.getpid()}/{secrets.token_hex(4)}"


def is_dead(owner: str, mine: str) -> bool:
    """Whether the owner is certainly dead: a process of this machine that has ended, or whose pid is ours now. About
    other machines only the lease can tell."""
    machine, _, rest = owner.rpartition("/")[0].rpartition("/")
    if owner == mine or machine != _machine_id() or not rest.isdecimal():
        return False
    return int(rest) == os.getpid() or not _is_alive(int(rest))


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # on Windows, os.kill(pid, 0) would end the process
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
    """Identifies the scope of a pid, since containers may share a host name but not the processes, and machines a host
    name and the number of their first pid namespace."""
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
        """Claimed runs that are not executed yet, for example because they could not be read."""
        self._claim_lock = asyncio.Lock()
        self._renewed_at: float | None = None
        self._grace_until = 0.0
        """Until then, no run is claimed just because its lease has expired."""

    def start(self) -> None:
        if not self._tasks:
            self._journal.leases_valid_until = time.monotonic() + self._lease_seconds
            tasks = (self._renew_loop(), self._maintenance_loop(), self._listen_loop(), self._expire_waiters())
            self._tasks = [asyncio.create_task(task) for task in tasks]

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def adopt(self) -> None:
        """Adopts the unfinished runs of dead processes, now and from now on."""
        self.adopts_orphans = True
        await self._claim()
        self.start()

    async def _claim(self) -> None:
        """Claims orphaned runs in batches, so that the live replicas share many of them."""
        async with self._claim_lock:
            while True:
                if not await self._claim_some():
                    return
                await asyncio.sleep(_CLAIM_INTERVAL_SECONDS)

    async def _claim_some(self) -> bool:
        """Claims one batch; true: there may be more."""
        there = await self._database.read(leases.owners(self._clock()))
        dead = [owner for owner in there if owner is not None and is_dead(owner, self._owner)]
        max_runs = min(_CLAIM_BATCH, self._executor.spare_capacity)
        fresh: list[str] = []
        if max_runs and (dead or (not all(there.values()) and not self._is_in_grace_period)):
            claim = leases.claim(self._owner, dead, self._lease_seconds, self._clock(), max_runs=max_runs)
            fresh = await self._database.write(claim)
            self._claimed |= set(fresh)
        for run_id in sorted(self._claimed):
            found = await self._database.read(db.interrupted_run(run_id))
            self._claimed.discard(run_id)
            if found is not None:
                log.info("The run %s goes on where it was interrupted.", run_id, extra={"run_id": run_id})
                self._executor.execute(self._restore_run(found))
        return 0 < max_runs == len(fresh)

    def _restore_run(self, found: db.InterruptedRun) -> LiveRun:
        row = found.row
        live = LiveRun(
            RunHead.from_row(row), db.Lease(row.id, row.fence), self._journal, self._clock, interrupted=found
        )
        if (
            row.cancel_wanted or found.origin == "api"
        ):  # the API request that it would have answered ended with the process
            live.cancel.cancel()
        return live

    async def _renew_loop(self) -> None:
        """A task of its own, so that slow maintenance cannot delay the renewal."""
        pause = self._lease_seconds / 3
        while True:
            await asyncio.sleep(pause)
            pause = self._lease_seconds / 3 if await self._try(self._renew_leases) else _RETRY_SECONDS

    async def _maintenance_loop(self) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            await self._try(self._maintain)

    async def _listen_loop(self) -> None:
        """Reacts to messages of other replicas; b"": messages may have been lost."""
        with self._bus.listen(SUPERVISORS_TOPIC) as listener:
            while True:
                message = await listener.next() or b""
                if not message or cancelled_run_id(message) in self._executor.live_runs:
                    await self._try(self._renew_leases)
                if not message or decided_run_id(message) is not None:
                    self._executor.wake_approvals(decided_run_id(message))
                if not message or planned_run_id(message) is not None:
                    self._executor.wake_plans(planned_run_id(message))
                if self.adopts_orphans and message in (b"", ORPHANS_MESSAGE):
                    await self._try(self._claim)

    async def _try(self, act: Callable[[], Awaitable[None]]) -> bool:
        try:
            await act()
        except (DatabaseFailed, db.LeaseLost) as error:
            log.debug("Runs cannot be looked after at the moment: %s", error.message)  # the database logs its own state
            return False
        return True

    async def _maintain(self) -> None:
        """Stores pending endings, adopts orphaned runs, prunes old events, and removes abandoned sessions and
        unreferenced contents."""
        await self._executor.store_pending_endings()
        if self.adopts_orphans:
            await self._claim()
            if self._clock() - self._pruned_at > EVENT_RETENTION_SECONDS / 6:
                self._pruned_at = self._clock()
                await self._database.write(db.prune_events(self._pruned_at - EVENT_RETENTION_SECONDS))
                await self._clean_up()

    async def _renew_leases(self) -> None:
        """Where replicas share the database, the lease is renewed also without any run, so that a new run is protected
        from its start. An idle server on its own database writes nothing."""
        began = time.monotonic()
        mine = dict(self._executor.live_runs)
        held: list[tuple[str, int, bool]] = []
        if mine or self._executor.pending_endings or self._claimed or self._database.is_shared:
            held = await self._database.write(leases.heartbeat(self._owner, self._lease_seconds, self._clock()))
        fences = {run_id: fence for run_id, fence, _ in held}
        for run_id, live in mine.items():
            if fences.get(run_id) != live.log.lease.fence and live.is_active and live.task is not None:
                facts = {"run_id": run_id}
                log.warning("The run %s was deleted, or is carried on by another process.", run_id, extra=facts)
                live.move(RunPhase.LOST)
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
        """Whether a renewal is overdue: the database was away, or this process stood still."""
        return self._renewed_at is not None and time.monotonic() - self._renewed_at > self._lease_seconds

    @property
    def _is_in_grace_period(self) -> bool:
        """After an outage other replicas may be alive with expired leases: they get the time to renew them."""
        return self._is_late or time.monotonic() < self._grace_until

    async def _expire_waiters(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            for live in list(self._executor.live_runs.values()):
                live.log.expire_waiters(loop.time())
