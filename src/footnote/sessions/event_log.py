"""The events of a run: one writer, any number of followers, and rows of them on the way to the database.

An id is `fence * 10**9 + seq`. Ids only grow, also over a crash: the next owner of a run has a higher fence, so that an
id that was sent and not stored is never given to another event.
"""

import asyncio

from footnote.db.runs import EventRow, Lease
from footnote.protocol.events import BlockStart, BlockStop, Event, Gap, RoundRestart
from footnote.protocol.sse import frame

IDS_PER_FENCE = 10**9
"""More events than any owner of a run will ever send."""


class FollowedLog:
    """What others wait for. They read it at their own pace; none of them holds it up."""

    def __init__(self) -> None:
        self.has_ended = False
        self.has_moved = False
        """It has ended here, and what comes after stands elsewhere."""
        self._waiters: list[tuple[asyncio.Future[None], float]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def last_id(self) -> int:
        raise NotImplementedError

    def end(self, *, moved: bool = False) -> None:
        """Nothing comes after what is there, or nothing here."""
        self.has_ended = True
        self.has_moved = self.has_moved or moved
        self.wake()

    async def wait_for_events(self, seconds: float | None) -> bool:
        """Waits for another event, or for the end; False: that took longer than `seconds`."""
        # Kept, because asking for the running one is a system call, and followers wait for every delta.
        loop = self._loop = self._loop or asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        until = loop.time() + seconds if seconds is not None else float("inf")
        known = self.last_id
        self._waiters.append((waiter, until))
        await waiter
        return self.has_ended or self.last_id > known

    def expire_waiters(self, now: float) -> None:
        """Wakes those who have waited for as long as they wanted to."""
        for waiter, until in self._waiters:
            if until <= now and not waiter.done():
                waiter.set_result(None)
        self._waiters = [(waiter, until) for waiter, until in self._waiters if not waiter.done()]

    def wake(self) -> None:
        waiting, self._waiters = self._waiters, []
        for waiter, _ in waiting:
            if not waiter.done():  # its follower may have left
                waiter.set_result(None)


class RunLog(FollowedLog):
    """What one owner of a run has to say about it, from its first word on."""

    def __init__(self, lease: Lease, last_id: int = 0) -> None:
        super().__init__()
        self.lease = lease
        self.first_id = lease.fence * IDS_PER_FENCE + last_id % IDS_PER_FENCE + 1
        self.open_block: int | None = None
        """The block that has begun and not ended: whoever ends the run early has to close it."""
        self._frames: list[bytes] = []
        self._row_offset = 0
        self._unstored: list[EventRow] = []

    @property
    def floor(self) -> int:
        """What came before it: up to here, events are in the database."""
        return self.first_id - 1

    @property
    def is_empty(self) -> bool:
        return not self._frames

    @property
    def last_id(self) -> int:
        return self.first_id + len(self._frames) - 1

    def append(self, event: Event) -> None:
        """Says the event to all who follow."""
        if isinstance(event, BlockStart):
            self.open_block = event.index
        elif isinstance(event, BlockStop):
            self.open_block = None
        self._frames.append(frame(self.last_id + 1, event))
        self.wake()

    # To the database ---------------------------------------------------------------------------------------

    def unstored_rows(self, *more: Event) -> tuple[EventRow, ...]:
        """What has not been stored yet, and `more` events in a row of their own, which are added once that is done.

        A row that was handed out before and not confirmed comes again, unchanged.
        """
        if self._row_offset < len(self._frames):
            self._unstored.append(self._event_row(self._frames[self._row_offset :], self.first_id + self._row_offset))
            self._row_offset = len(self._frames)
        if not more:
            return tuple(self._unstored)
        ahead = [frame(self.last_id + number, event) for number, event in enumerate(more, 1)]
        return (*self._unstored, self._event_row(ahead, self.last_id + 1))

    def mark_stored(self, rows: tuple[EventRow, ...]) -> None:
        """These are safe."""
        last = rows[-1].last_id if rows else 0
        self._unstored = [row for row in self._unstored if row.last_id > last]

    def append_stored(self, *events: Event) -> None:
        """Says events that were stored first."""
        for event in events:
            self.append(event)
        self._row_offset = len(self._frames)

    def _event_row(self, frames: list[bytes], first_id: int) -> EventRow:
        return EventRow(self.lease.run_id, first_id, first_id + len(frames) - 1, b"".join(frames))

    # To those who follow -----------------------------------------------------------------------------------

    def frames_after(self, event_id: int) -> bytes:
        """All events with a higher id, in one piece; b"": there are none."""
        at = max(0, event_id - self.first_id + 1)
        fresh = len(self._frames) - at
        if fresh == 1:
            return self._frames[at]
        return b"".join(self._frames[at:]) if fresh > 1 else b""


def events_after(row: EventRow, after: int) -> bytes:
    """The events of a row that come after an id."""
    if row.first_id > after:
        return row.frames
    # Ids within a row follow each other, so that the place of the first wanted one is known.
    frames = row.frames.split(b"\n\n")
    return b"\n\n".join(frames[after - row.first_id + 1 :])


def gap_frame(after: int, pruned_to: int) -> bytes:
    """Instead of the events that are no longer kept."""
    return frame(pruned_to, Gap(after, pruned_to + 1))


def restart_frame() -> bytes:
    """To a follower whose last event was never sent: all that it has is to be dropped."""
    return frame(0, RoundRestart(0))
