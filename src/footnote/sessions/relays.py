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
from footnote.bus.topics import Listener
from footnote.db import runs as db
from footnote.db.engine import Database
from footnote.db.failures import DatabaseFailed
from footnote.db.runs import EventRow
from footnote.db.standing import Standing, standing
from footnote.sessions.hints import heard, is_last, topic_of
from footnote.sessions.log import EPOCH, Followed, RunLog, events_after

LOOK_SECONDS = 0.25
"""How often a run is looked at of which nobody brings word."""
LOOK_AT_LEAST_SECONDS = 2.0
"""How often, when somebody should, but the word may have been lost on the way."""
READY_SECONDS = 1.0
WINDOW_BYTES = 256_000
"""Of events that are held for those who follow. Who is further behind reads them from the database."""
_ROWS_AT_ONCE = 50
_PAUSE_SECONDS = 0.5

log = logging.getLogger(__name__)


class RelayedLog(Followed):
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

    def take(self, row: EventRow) -> None:
        self._rows.append(row)
        self._last_ids.append(row.last_id)
        self.bytes += len(row.frames)
        self.wake()

    def after(self, event_id: int) -> bytes:
        """All events with a higher id, in one piece; b"": there are none."""
        if event_id >= self.last_id:
            return b""
        first, *rest = self._rows[bisect_right(self._last_ids, event_id) :]
        piece = events_after(first, event_id)
        return b"".join([piece, *(row.frames for row in rest)]) if rest else piece


class Relay:
    """One run. `followers` counts those who read its log."""

    def __init__(self, database: Database, bus: Bus, run_id: str, said: Callable[[str], RunLog | None]) -> None:
        self.run_id = run_id
        self.followers = 0
        self.is_done = False
        self._database = database
        self._said = said
        self._log: RelayedLog | None = None
        self._begun = asyncio.Event()
        self._heard_at = time.monotonic()
        self._listener = bus.listen(topic_of(run_id))
        self._task = asyncio.create_task(self._relay())

    async def log(self) -> RelayedLog:
        """What is said from now on. It ends with the run, or when the rest of it is found elsewhere (`moved`)."""
        await self._begun.wait()
        assert self._log is not None  # noqa: S101 - it has begun
        return self._log

    def close(self) -> None:
        """Whoever still follows is told that nothing more comes from here."""
        self._task.cancel()
        self._listener.close()  # a task that has not begun would not do it
        if self._log is None:
            self._log = RelayedLog(0)
            self._begun.set()
        self._end(moved=False)

    def has_been_quiet(self, seconds: float) -> bool:
        """Nothing was heard for so long: it may be worth a look."""
        return self._log is not None and time.monotonic() - self._heard_at > seconds

    def compare(self, found: Standing | None) -> None:
        """With what the database has of it; None: nothing. A look is for those that have changed."""
        is_here = self._said(self.run_id) is not None
        if found is None or found.has_ended or self._log is None or found.last_id > self._log.last_id or is_here:
            self._listener.hear(b"")

    def tick(self) -> None:
        if self._log is not None:
            self._log.tick(asyncio.get_running_loop().time())

    async def _relay(self) -> None:
        with self._listener as listener:
            # First this, then the look: what is stored in between is heard of.
            await listener.ready(READY_SECONDS)
            while not self.is_done:
                try:
                    await self._look()
                    await self._hear(listener)
                except DatabaseFailed as error:
                    log.debug("The run %s cannot be looked at yet: %s", self.run_id, error.message)
                    await asyncio.sleep(_PAUSE_SECONDS)

    async def _look(self) -> None:
        run = await self._database.read(db.run(self.run_id))
        if self._log is None:
            self._log = RelayedLog(await self._database.read(db.last_event(self.run_id)))
            self._begun.set()
        await self._catch_up()
        if run is None or run.ended_at is not None:
            self._end(moved=False)
        elif self._said(self.run_id) is not None:
            self._end(moved=True)

    async def _catch_up(self) -> None:
        assert self._log is not None  # noqa: S101 - it was looked for
        while rows := await self._database.read(db.events(self.run_id, self._log.last_id, _ROWS_AT_ONCE)):
            for row in rows:
                self._take(row)

    async def _hear(self, listener: Listener) -> None:
        """Until something may have been missed."""
        assert self._log is not None  # noqa: S101 - it was looked for
        while not self.is_done:
            message = await listener.next()
            self._heard_at = time.monotonic()
            row = heard(self.run_id, message) if message else None
            if row is None:
                return
            if row.last_id <= self._log.last_id:
                continue
            if row.frames and _follows(row, self._log.last_id):
                self._take(row)
            else:
                await self._catch_up()

    def _take(self, row: EventRow) -> None:
        assert self._log is not None  # noqa: S101 - it was looked for
        if self._log.bytes > WINDOW_BYTES:
            full, self._log = self._log, RelayedLog(self._log.last_id)
            full.end(moved=True)
        self._log.take(row)
        if is_last(row):
            self._end(moved=False)

    def _end(self, *, moved: bool) -> None:
        assert self._log is not None  # noqa: S101 - it was looked for
        if not self.is_done:
            self.is_done = True
            self._log.end(moved=moved)


def _follows(row: EventRow, last_id: int) -> bool:
    """Within what one owner says there are no gaps; what another one begins with is better looked up."""
    return row.first_id == last_id + 1 and row.first_id // EPOCH == last_id // EPOCH


class Relays:
    """Those of this process. `said`: what it has to say of a run itself, if it carries it on."""

    def __init__(self, database: Database, bus: Bus, said: Callable[[str], RunLog | None]) -> None:
        self._database = database
        self._bus = bus
        self._said = said
        self._relays: dict[str, Relay] = {}
        self._looking: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._relays)

    def join(self, run_id: str) -> Relay:
        """To be left again."""
        relay = self._relays.get(run_id)
        if relay is None or relay.is_done:
            relay = self._relays[run_id] = Relay(self._database, self._bus, run_id, self._said)
        relay.followers += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_around())
        return relay

    def leave(self, relay: Relay) -> None:
        relay.followers -= 1
        if not relay.followers:
            relay.close()
            if self._relays.get(relay.run_id) is relay:
                del self._relays[relay.run_id]

    async def _look_around(self) -> None:
        """All that nothing is heard of, in one question."""
        every = LOOK_AT_LEAST_SECONDS if self._bus.reaches_others else LOOK_SECONDS
        while self._relays:
            await asyncio.sleep(every)
            quiet = [relay for relay in self._relays.values() if relay.has_been_quiet(every)]
            for relay in quiet:
                relay.tick()
            try:
                found = await self._database.read(standing([relay.run_id for relay in quiet])) if quiet else {}
            except DatabaseFailed as error:
                log.warning("Runs that are carried on elsewhere cannot be looked at yet: %s", error.message)
                continue
            for relay in quiet:
                relay.compare(found.get(relay.run_id))

    def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        for relay in self._relays.values():
            relay.close()
