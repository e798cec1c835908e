"""From the logs of live runs to the database: in batches for events, at once for what must not be lost. Other replicas
hear of what is stored.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress

from footnote.bus.base import Bus
from footnote.db.engine import Database
from footnote.db.failures import DatabaseFailed, DatabaseRefused
from footnote.db.runs import EventRow, append, go_on
from footnote.db.script import Script
from footnote.protocol.events import Event
from footnote.sessions.hints import told, topic_of
from footnote.sessions.log import RunLog
from footnote.tracing import Work

FLUSH_SECONDS = 0.08
"""How long events wait for others before they are written, all runs together in one transaction: a tenth of a second
with the writing itself."""
PATIENCE_SECONDS = 10.0
"""How long a run waits for a database that cannot be written, before it gives up."""
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0

FLUSHES = Work("flush", "Batches of events, until they were stored.")

log = logging.getLogger(__name__)


class Journal:
    """One for all runs of a process."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self.events = 0
        self.patience = PATIENCE_SECONDS
        self.held_until = math.inf
        """Until then, by the clock that only grows, the leases of all runs are certain to be ours."""
        self._database = database
        self._bus = bus
        self._waiting: set[RunLog] = set()
        self._flushing: asyncio.Task[None] | None = None

    def add(self, run: RunLog, event: Event) -> None:
        """Says an event now and stores it soon."""
        run.add(event)
        self.events += 1
        if run not in self._waiting:
            self._waiting.add(run)
            if self._flushing is None:
                self._flushing = asyncio.create_task(self._flush_soon())

    async def write(
        self,
        run: RunLog,
        rest: Callable[[], Script[None]] | None = None,
        *events: Event,
        patience: float | None = None,
    ) -> None:
        """Stores all that was said so far with `rest`, or nothing of it; then says `events`, which are stored too.

        `DatabaseFailed`: it could not be done, for longer than `patience` seconds.
        """
        last = time.monotonic() + (self.patience if patience is None else patience)
        pause = _FIRST_PAUSE
        while True:
            rows = run.unstored(*events)
            try:
                await self._database.write(go_on(run.lease, rows, rest() if rest is not None else None))
            except DatabaseFailed as error:
                if isinstance(error, DatabaseRefused) or time.monotonic() + pause > last:
                    raise
                log.debug("What a run says cannot be stored yet: %s", error.message)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                break
        run.stored(rows)
        run.add_stored(*events)
        self.events += len(events)
        self._tell(rows)

    async def close(self) -> None:
        """Stores what is left, if that can be done."""
        if self._flushing is not None:
            self._flushing.cancel()
            with suppress(asyncio.CancelledError):
                await self._flushing
        if self._waiting:
            with suppress(DatabaseFailed):
                await self._flush()

    async def _flush_soon(self) -> None:
        pause = _FIRST_PAUSE
        while self._waiting:
            await asyncio.sleep(FLUSH_SECONDS)
            try:
                await self._flush()
                pause = _FIRST_PAUSE
            except DatabaseFailed as error:
                log.debug("The events of %d runs cannot be stored yet: %s", len(self._waiting), error.message)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
        self._flushing = None

    async def _flush(self) -> None:
        began = time.perf_counter()
        runs, self._waiting = self._waiting, set()
        rows = {run: run.unstored() for run in runs}
        try:
            await self._database.write(append((row, run.lease.fence) for run in runs for row in rows[run]))
        except BaseException:
            self._waiting |= runs
            raise
        # Without the lease nothing was stored: it says so to nobody.
        is_certain = time.monotonic() < self.held_until
        for run in runs:
            run.stored(rows[run])
            if is_certain:
                self._tell(rows[run])
        FLUSHES.took(time.perf_counter() - began)

    def _tell(self, rows: tuple[EventRow, ...]) -> None:
        bus = self._bus
        if bus.reaches_others:
            for row in rows:
                bus.publish(topic_of(row.run_id), told(row, bus.most_bytes))
