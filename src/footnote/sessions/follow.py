"""Following a run: first its stored events, then its live log, wherever the run is executed.

The log of a run on another replica is rebuilt here, once for all followers:

    subscribe ▸ read the database ▸ append what the bus delivers, while it is contiguous ▸ read the database again …

Every row of events is stored before it is published, so that reading the database finds whatever the bus lost.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Self

from footnote.bus.base import Bus, Listener
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.runs import EventRow, RunStatus, run_statuses
from footnote.sessions.bus_messages import decode_events, is_last_event, run_topic
from footnote.sessions.event_log import IDS_PER_FENCE, FollowedLog, RunLog, events_after, gap_frame, restart_frame

POLL_SECONDS = 0.25
"""How often the database is polled for a run, where the bus does not reach other processes."""
FALLBACK_POLL_SECONDS = 2.0
"""The same where the bus does, in case it has lost a message."""
SUBSCRIBE_SECONDS = 1.0
WINDOW_BYTES = 256_000
"""Bytes of events in memory for followers. A follower that is further behind reads them from the database."""
_BATCH_ROWS = 50
_RETRY_SECONDS = 0.5

log = logging.getLogger(__name__)


class RemoteLog(FollowedLog):
    """Some of the events of a run, as they were stored: those after `floor`."""

    def __init__(self, floor: int) -> None:
        super().__init__(floor)
        self.bytes = 0

    def append(self, row: EventRow) -> None:
        self._rows.append(row)
        self.last_id = row.last_id
        self.bytes += len(row.frames)
        self.wake()


class RemoteRun:
    """One run of another process, with the number of its followers here."""

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
        """The events from now on. The log ends with the run, or when the rest is to be read elsewhere (`has_moved`)."""
        await self._log_ready.wait()
        assert self._log is not None  # noqa: S101 - set before the event
        return self._log

    def close(self) -> None:
        """Ends the log for all followers."""
        self._task.cancel()
        self._listener.close()  # a task that has not begun would not do it
        if self._log is None:
            self._log = RemoteLog(0)
            self._log_ready.set()
        self._end(moved=False)

    def is_idle(self, seconds: float) -> bool:
        """The bus has delivered nothing for so long."""
        return self._log is not None and time.monotonic() - self._received_at > seconds

    def check_status(self, status: RunStatus | None) -> None:
        """Wakes the reader if the database has something new. None: the run is deleted."""
        is_here = self._local_log(self.run_id) is not None
        if status is None or status.has_ended or self._log is None or status.last_id > self._log.last_id or is_here:
            self._listener.push(b"")

    def expire_waiters(self) -> None:
        if self._log is not None:
            self._log.expire_waiters(asyncio.get_running_loop().time())

    async def _follow(self) -> None:
        with self._listener as listener:
            # Subscribe before reading the database: a row that is stored in between is then delivered by the bus.
            await listener.wait_ready(SUBSCRIBE_SECONDS)
            while not self.is_done:
                try:
                    await self._poll()
                    await self._receive(listener)
                except DatabaseFailed as error:
                    log.debug("The run %s cannot be read from the database yet: %s", self.run_id, error.message)
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
        assert self._log is not None  # noqa: S101 - set by the first poll
        while rows := await self._database.read(db.event_rows(self.run_id, self._log.last_id, _BATCH_ROWS)):
            for row in rows:
                self._append(row)

    async def _receive(self, listener: Listener) -> None:
        """Appends what the bus delivers, until a message may have been lost."""
        assert self._log is not None  # noqa: S101 - set by the first poll
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
        assert self._log is not None  # noqa: S101 - set by the first poll
        if self._log.bytes > WINDOW_BYTES:
            full, self._log = self._log, RemoteLog(self._log.last_id)
            full.end(moved=True)
        self._log.append(row)
        if is_last_event(row):
            self._end(moved=False)

    def _end(self, *, moved: bool) -> None:
        assert self._log is not None  # noqa: S101 - set by the first poll
        if not self.is_done:
            self.is_done = True
            self._log.end(moved=moved)


def _is_contiguous(row: EventRow, last_id: int) -> bool:
    """The events of one owner have no gaps. The first event of another owner is read from the database."""
    return row.first_id == last_id + 1 and row.first_id // IDS_PER_FENCE == last_id // IDS_PER_FENCE


class RemoteLogs:
    """The remote runs that are followed in this process. `local_log`: the log of a run that it executes itself."""

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


async def follow(
    database: Database,
    local_log: Callable[[str], RunLog | None],
    remote_logs: RemoteLogs,
    run_id: str,
    after: int,
    idle_seconds: float | None,
) -> AsyncGenerator[bytes, None]:
    """The events of a run after an id, to its end; b"" after `idle_seconds` without any.

    `local_log` has the log of a run that this process executes, `remote_logs` those of other processes.
    """
    with _RemoteSubscription(remote_logs, run_id) as remote:
        while (row := await database.read(db.run(run_id))) is not None:
            own = local_log(run_id)
            has_ended = row.ended_at is not None
            run_log = own if own is not None or has_ended else await remote.log()
            if after < row.pruned_to:
                yield gap_frame(after, row.pruned_to)
                after = row.pruned_to
            async with aclosing(_stored_frames(database, run_id, after, run_log.floor if run_log else None)) as pieces:
                async for piece, last_id in pieces:
                    yield piece
                    after = last_id
            # A client whose last event id is ahead of the log restarts from zero. Only the log of the owner, or of a
            # run that has ended, is certain to be complete.
            if (own or has_ended) and after > (own.last_id if own else await database.read(db.last_event_id(run_id))):
                yield restart_frame()
                after = 0
                continue
            del row  # thousands of followers wait below, each with its local variables in memory
            if run_log is None:
                return
            # One loop to the end of the log, without further calls: thousands of followers wait in it.
            while True:
                if piece := run_log.frames_after(after):
                    after = run_log.last_id
                    yield piece
                elif run_log.has_ended:
                    break
                elif not await run_log.wait_for_events(idle_seconds):
                    yield b""
            # A client that is still ahead of an ended log goes round once more, and is told to restart.
            if not run_log.has_moved and after <= run_log.last_id:
                return


class _RemoteSubscription:
    """The log of a run that another process executes: joined when it is first needed, and left at the end."""

    __slots__ = ("_remote_logs", "_remote_run", "_run_id")

    def __init__(self, remote_logs: RemoteLogs, run_id: str) -> None:
        self._remote_logs = remote_logs
        self._run_id = run_id
        self._remote_run: RemoteRun | None = None

    def __enter__(self) -> Self:
        return self

    async def log(self) -> RemoteLog:
        if self._remote_run is None or self._remote_run.is_done:
            self._leave()
            self._remote_run = self._remote_logs.join(self._run_id)
        return await self._remote_run.log()

    def _leave(self) -> None:
        remote_run, self._remote_run = self._remote_run, None
        if remote_run is not None:
            self._remote_logs.leave(remote_run)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()


async def _stored_frames(
    database: Database, run_id: str, after: int, floor: int | None
) -> AsyncGenerator[tuple[bytes, int], None]:
    """Stored events after an id, up to those that a log has, with the last id of each piece."""
    if floor is not None and floor <= after:
        return
    while rows := await database.read(db.event_rows(run_id, after, _BATCH_ROWS)):
        for row in rows:
            if floor is not None and row.first_id > floor:
                return
            yield events_after(row, after), row.last_id
            after = row.last_id
