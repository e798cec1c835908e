"""Writes the event logs of live runs to the database: events in batches, checkpoints at once. Stored rows are published
to other replicas.
"""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from footnote.bus.base import Bus
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed, DatabaseRefused
from footnote.db.runs import EventRow, append_events, append_events_and
from footnote.db.script import Script
from footnote.protocol.events import Event
from footnote.sessions.bus_messages import encode_events, run_topic
from footnote.sessions.event_log import RunLog
from footnote.tracing import Operation

FLUSH_SECONDS = 0.08
"""How long events are collected before they are written, all runs in one transaction: a tenth of a second with the
write itself."""
RETRY_SECONDS = 10.0
"""How long a run waits for a database that cannot be written, before it gives up."""
_INITIAL_BACKOFF = 0.1
_MAX_BACKOFF = 2.0

FLUSHES = Operation("flush", "Batches of events, until they were stored.")

log = logging.getLogger(__name__)
T = TypeVar("T")


async def retry(act: Callable[[], Awaitable[T]], seconds: float = RETRY_SECONDS) -> T:
    """The result of `act`, which is called again while the database fails. `DatabaseFailed`: that took longer than so
    many seconds, or the database will always refuse it."""
    last = time.monotonic() + seconds
    pause = _INITIAL_BACKOFF
    while True:
        try:
            return await act()
        except DatabaseFailed as error:
            if isinstance(error, DatabaseRefused) or time.monotonic() + pause > last:
                raise
            log.debug("A run cannot use the database now: %s", error.message)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _MAX_BACKOFF)


class Journal:
    """One journal for all runs of a process."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self.event_count = 0
        self.retry_seconds = RETRY_SECONDS
        self.leases_valid_until = math.inf
        """Until then, by the monotonic clock, this process is certain to hold the leases of its runs."""
        self._database = database
        self._bus = bus
        self._unflushed: set[RunLog] = set()
        self._flush_task: asyncio.Task[None] | None = None

    def append(self, run: RunLog, event: Event) -> None:
        """Sends an event to followers now, and stores it with the next batch."""
        run.append(event)
        self.event_count += 1
        if run not in self._unflushed:
            self._unflushed.add(run)
            if self._flush_task is None:
                self._flush_task = asyncio.create_task(self._flush_loop())

    async def write(
        self,
        run: RunLog,
        then: Callable[[], Script[None]] | None = None,
        *events: Event,
        retry_seconds: float | None = None,
    ) -> None:
        """Stores all events so far, the effects of `then` and `events` in one transaction; then sends `events`.

        `DatabaseFailed`: that failed for longer than `retry_seconds`.
        """

        async def write() -> tuple[EventRow, ...]:
            rows = run.unstored_rows(*events)
            await self._database.write(append_events_and(run.lease, rows, then() if then is not None else None))
            return rows

        rows = await retry(write, self.retry_seconds if retry_seconds is None else retry_seconds)
        run.mark_stored(rows)
        run.append_stored(*events)
        self.event_count += len(events)
        self._publish(rows)

    async def close(self) -> None:
        """Stores the rest, if the database can be written."""
        if self._flush_task is not None:
            self._flush_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._flush_task
        if self._unflushed:
            with suppress(DatabaseFailed):
                await self._flush()

    async def _flush_loop(self) -> None:
        pause = _INITIAL_BACKOFF
        while self._unflushed:
            await asyncio.sleep(FLUSH_SECONDS)
            try:
                await self._flush()
                pause = _INITIAL_BACKOFF
            except DatabaseFailed as error:
                log.debug("The events of %d runs cannot be stored yet: %s", len(self._unflushed), error.message)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _MAX_BACKOFF)
        self._flush_task = None

    async def _flush(self) -> None:
        began = time.perf_counter()
        runs, self._unflushed = self._unflushed, set()
        rows = {run: run.unstored_rows() for run in runs}
        try:
            await self._database.write(append_events((row, run.lease.fence) for run in runs for row in rows[run]))
        except BaseException:
            self._unflushed |= runs
            raise
        # The database ignores rows of a lost lease without an error: publish only what is certain to be stored.
        is_certain = time.monotonic() < self.leases_valid_until
        for run in runs:
            run.mark_stored(rows[run])
            if is_certain:
                self._publish(rows[run])
        FLUSHES.observe(time.perf_counter() - began)

    def _publish(self, rows: tuple[EventRow, ...]) -> None:
        bus = self._bus
        if bus.reaches_others:
            for row in rows:
                bus.publish(run_topic(row.run_id), encode_events(row, bus.max_bytes))
