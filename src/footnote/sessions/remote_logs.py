"""Runs that are carried on elsewhere: each is listened to once, whoever follows it here, and becomes a log as if its
owner were here.

    subscribe ▸ look into the database ▸ take what the bus brings, as long as it follows what there is ▸ look again …

Every row of events has been stored before it is heard of, so that a look finds whatever was missed.
"""

import asyncio
import logging
import time
from bisect import bisect_right
from collections.abc import Callable

from footnote.bus.base import Bus
from footnote.bus.subscriptions import Listener
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.runs import EventRow, RunStatus, run_statuses
from footnote.sessions.bus_messages import decode_events, is_last_event, run_topic
from footnote.sessions.event_log import IDS_PER_FENCE, FollowedLog, RunLog, events_after

POLL_SECONDS = 0.25
"""How often a run is looked at of which nobody brings word."""
FALLBACK_POLL_SECONDS = 2.0
"""How often, when somebody should, but the word may have been lost on the way."""
SUBSCRIBE_SECONDS = 1.0
WINDOW_BYTES = 256_000
"""Of events that are held for those who follow. Who is further behind reads them from the database."""
_BATCH_ROWS = 50
_RETRY_SECONDS = 0.5

log = logging.getLogger(__name__)


class RemoteLog(FollowedLog):
    """Some of the events of a run, as they were stored: those after `floor`."""

    def __init__(self, floor: int) -> None:
        super().__init__()
        self.floor = floor
        self.bytes = 0
        self._rows: list[EventRow] = []
        self._last_ids: list[int] = []

    @property
    def last_id(self) -> int:
        return self._last_ids[-1] if self._last_ids else self.floor

    def append(self, row: EventRow) -> None:
        self._rows.append(row)
        self._last_ids.append(row.last_id)
        self.bytes += len(row.frames)
        self.wake()

    def frames_after(self, event_id: int) -> bytes:
        """All events with a higher id, in one piece; b"": there are none."""
        if event_id >= self.last_id:
            return b""
        first, *rest = self._rows[bisect_right(self._last_ids, event_id) :]
        piece = events_after(first, event_id)
        return b"".join([piece, *(row.frames for row in rest)]) if rest else piece


class RemoteRun:
    """One run. `followers` counts those who read its log."""

    def __init__(self, database: Database, bus: Bus, run_id: str, local_log: Callable[[str], RunLog | None]) -> None:
        self.run_id = run_id
        self.follower_count = 0
        self.is_done = False
        self._database = database
        self._local_log = local_log
        self._log: RemoteLog | None = None
        self._log_ready = asyncio.Event()
        self._received_at = time.monotonic()
        self._listener = bus.listen(run_topic(run_id))
        self._task = asyncio.create_task(self._follow())

    async def log(self) -> RemoteLog:
        """What is said from now on. It ends with the run, or when the rest of it is found elsewhere (`moved`)."""
        await self._log_ready.wait()
        assert self._log is not None  # noqa: S101 - it has begun
        return self._log

    def close(self) -> None:
        """Whoever still follows is told that nothing more comes from here."""
        self._task.cancel()
        self._listener.close()  # a task that has not begun would not do it
        if self._log is None:
            self._log = RemoteLog(0)
            self._log_ready.set()
        self._end(moved=False)

    def is_idle(self, seconds: float) -> bool:
        """Nothing was heard for so long: it may be worth a look."""
        return self._log is not None and time.monotonic() - self._received_at > seconds

    def check_status(self, status: RunStatus | None) -> None:
        """With what the database has of it; None: nothing. A look is for those that have changed."""
        is_here = self._local_log(self.run_id) is not None
        if status is None or status.has_ended or self._log is None or status.last_id > self._log.last_id or is_here:
            self._listener.push(b"")

    def expire_waiters(self) -> None:
        if self._log is not None:
            self._log.expire_waiters(asyncio.get_running_loop().time())

    async def _follow(self) -> None:
        with self._listener as listener:
            # First this, then the look: what is stored in between is heard of.
            await listener.wait_ready(SUBSCRIBE_SECONDS)
            while not self.is_done:
                try:
                    await self._poll()
                    await self._receive(listener)
                except DatabaseFailed as error:
                    log.debug("The run %s cannot be looked at yet: %s", self.run_id, error.message)
                    await asyncio.sleep(_RETRY_SECONDS)

    async def _poll(self) -> None:
        run = await self._database.read(db.run(self.run_id))
        if self._log is None:
            self._log = RemoteLog(await self._database.read(db.last_event_id(self.run_id)))
            self._log_ready.set()
        await self._catch_up()
        if run is None or run.ended_at is not None:
            self._end(moved=False)
        elif self._local_log(self.run_id) is not None:
            self._end(moved=True)

    async def _catch_up(self) -> None:
        assert self._log is not None  # noqa: S101 - it was looked for
        while rows := await self._database.read(db.event_rows(self.run_id, self._log.last_id, _BATCH_ROWS)):
            for row in rows:
                self._append(row)

    async def _receive(self, listener: Listener) -> None:
        """Until something may have been missed."""
        assert self._log is not None  # noqa: S101 - it was looked for
        while not self.is_done:
            message = await listener.next()
            self._received_at = time.monotonic()
            row = decode_events(self.run_id, message) if message else None
            if row is None:
                return
            if row.last_id <= self._log.last_id:
                continue
            if row.frames and _is_contiguous(row, self._log.last_id):
                self._append(row)
            else:
                await self._catch_up()

    def _append(self, row: EventRow) -> None:
        assert self._log is not None  # noqa: S101 - it was looked for
        if self._log.bytes > WINDOW_BYTES:
            full, self._log = self._log, RemoteLog(self._log.last_id)
            full.end(moved=True)
        self._log.append(row)
        if is_last_event(row):
            self._end(moved=False)

    def _end(self, *, moved: bool) -> None:
        assert self._log is not None  # noqa: S101 - it was looked for
        if not self.is_done:
            self.is_done = True
            self._log.end(moved=moved)


def _is_contiguous(row: EventRow, last_id: int) -> bool:
    """Within what one owner says there are no gaps; what another one begins with is better looked up."""
    return row.first_id == last_id + 1 and row.first_id // IDS_PER_FENCE == last_id // IDS_PER_FENCE


class RemoteLogs:
    """Those of this process. `said`: what it has to say of a run itself, if it carries it on."""

    def __init__(self, database: Database, bus: Bus, local_log: Callable[[str], RunLog | None]) -> None:
        self._database = database
        self._bus = bus
        self._local_log = local_log
        self._remote_runs: dict[str, RemoteRun] = {}
        self._poll_task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._remote_runs)

    def join(self, run_id: str) -> RemoteRun:
        """To be left again."""
        relay = self._remote_runs.get(run_id)
        if relay is None or relay.is_done:
            relay = self._remote_runs[run_id] = RemoteRun(self._database, self._bus, run_id, self._local_log)
        relay.follower_count += 1
        if self._poll_task is None or self._poll_task.done():
            self._poll_task = asyncio.create_task(self._poll_idle())
        return relay

    def leave(self, relay: RemoteRun) -> None:
        relay.follower_count -= 1
        if not relay.follower_count:
            relay.close()
            if self._remote_runs.get(relay.run_id) is relay:
                del self._remote_runs[relay.run_id]

    async def _poll_idle(self) -> None:
        """All that nothing is heard of, in one question."""
        every = FALLBACK_POLL_SECONDS if self._bus.reaches_others else POLL_SECONDS
        while self._remote_runs:
            await asyncio.sleep(every)
            quiet = [relay for relay in self._remote_runs.values() if relay.is_idle(every)]
            for relay in quiet:
                relay.expire_waiters()
            try:
                found = await self._database.read(run_statuses([relay.run_id for relay in quiet])) if quiet else {}
            except DatabaseFailed as error:
                log.warning("Runs that are carried on elsewhere cannot be looked at yet: %s", error.message)
                continue
            for relay in quiet:
                relay.check_status(found.get(relay.run_id))

    def close(self) -> None:
        if self._poll_task is not None:
            self._poll_task.cancel()
        for relay in self._remote_runs.values():
            relay.close()
