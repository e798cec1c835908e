"""The event log of a run: one writer, any number of followers, and the rows that are still to be stored.

An id is `fence * 10**9 + seq`. Ids only grow, also over a crash: the next owner of a run has a higher fence, so that an
id that was sent and not stored is never given to another event.
"""

import asyncio
from bisect import bisect_right
from operator import attrgetter

from footnote.db.runs import EventRow, Lease
from footnote.protocol.events import Event, Gap, RoundRestart
from footnote.protocol.sse import frame, frame_fields, join_frames

IDS_PER_FENCE = 10**9
"""More events than any owner of a run sends."""
_last_id = attrgetter("last_id")


class FollowedLog:
    """A log that followers wait for. Each reads at its own pace, and none of them blocks the writer."""

    def __init__(self, floor: int) -> None:
        self.floor = floor
        """The last id before this log: events up to it are in the database."""
        self.last_id: int = floor
        self.has_ended = False
        self.has_moved = False
        """This log has ended, and the events that follow are in another one."""
        self._rows: list[EventRow] = []
        self._waiters: list[tuple[asyncio.Future[None], float]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def frames_after(self, event_id: int) -> bytes:
        """All events with a higher id, in one piece; b"": there are none."""
        if event_id >= self.last_id or not (rows := self._framed_rows()):
            return b""
        if len(rows) == 1 or rows[-2].last_id <= event_id:  # nearly always: a follower has all but the last row
            return events_after(rows[-1], event_id)
        first, *rest = rows[bisect_right(rows, event_id, key=_last_id) :]
        return b"".join([events_after(first, event_id), *(row.frames for row in rest)])

    def _framed_rows(self) -> list[EventRow]:
        """The rows of all events."""
        return self._rows

    def end(self, *, moved: bool = False) -> None:
        """Ends the log. `moved`: the run goes on elsewhere."""
        self.has_ended = True
        self.has_moved = self.has_moved or moved
        self.wake()

    async def wait_for_events(self, seconds: float | None) -> bool:
        """Waits for another event, or for the end; False: that took longer than `seconds`."""
        # Cached: get_running_loop makes a system call (getpid), and followers wait for every delta.
        loop = self._loop = self._loop or asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        until = loop.time() + seconds if seconds is not None else float("inf")
        known = self.last_id
        self._waiters.append((waiter, until))
        await waiter
        return self.has_ended or self.last_id > known

    def expire_waiters(self, now: float) -> None:
        """Wakes the waiters whose time is over."""
        for waiter, until in self._waiters:
            if until <= now and not waiter.done():
                waiter.set_result(None)
        self._waiters = [(waiter, until) for waiter, until in self._waiters if not waiter.done()]

    def wake(self) -> None:
        waiting, self._waiters = self._waiters, []
        for waiter, _ in waiting:
            if not waiter.done():  # a follower that has left cancelled it
                waiter.set_result(None)


class RunLog(FollowedLog):
    """The events of one owner of a run.

    An event is encoded at once and framed later, together with all that came since: when a follower, or the database,
    asks for them. What is read from one response at a time so becomes one piece of bytes.
    """

    def __init__(self, lease: Lease, last_id: int = 0) -> None:
        super().__init__(lease.fence * IDS_PER_FENCE + last_id % IDS_PER_FENCE)
        self.lease = lease
        self._unframed: list[int | bytes] = []
        """The fields of the events after the last row."""
        self._row_offset = 0
        """The rows up to it were given to the database."""
        self._unstored: list[EventRow] = []

    @property
    def is_empty(self) -> bool:
        return self.last_id == self.floor

    def append(self, event: Event) -> None:
        """Appends the event and wakes the followers."""
        fields = frame_fields(self.last_id + 1, event)  # first, since an event that cannot be encoded has no id
        self._unframed += fields
        self.last_id += 1
        if self._waiters:
            self.wake()

    def _framed_rows(self) -> list[EventRow]:
        """The rows of all events: those that are not framed yet become one."""
        rows = self._rows
        if unframed := self._unframed:
            first_id = rows[-1].last_id + 1 if rows else self.floor + 1
            rows.append(EventRow(self.lease.run_id, first_id, self.last_id, join_frames(unframed)))
            unframed.clear()
        return rows

    # To the database ---------------------------------------------------------------------------------------

    def unstored_rows(self, *more: Event) -> tuple[EventRow, ...]:
        """The rows that are not stored yet, and `more` events in a row of their own, which are appended once stored.

        A row that was returned before and not marked as stored is returned again, unchanged.
        """
        rows = self._framed_rows()
        if fresh := rows[self._row_offset :]:
            if len(fresh) > 1:  # followers have read some of them earlier than the others
                frames = b"".join([row.frames for row in fresh])
                rows[self._row_offset :] = [EventRow(self.lease.run_id, fresh[0].first_id, self.last_id, frames)]
            self._unstored.append(rows[-1])
            self._row_offset = len(rows)
        if not more:
            return tuple(self._unstored)
        ahead = b"".join([frame(self.last_id + number, event) for number, event in enumerate(more, 1)])
        row = EventRow(self.lease.run_id, self.last_id + 1, self.last_id + len(more), ahead)
        return (*self._unstored, row)

    def mark_stored(self, rows: tuple[EventRow, ...]) -> None:
        last = rows[-1].last_id if rows else 0
        if self._unstored:
            self._unstored = [row for row in self._unstored if row.last_id > last]

    def append_stored(self, *events: Event) -> None:
        """Appends events that were stored before they are sent."""
        for event in events:
            self.append(event)
        self._row_offset = len(self._framed_rows())


def events_after(row: EventRow, after: int) -> bytes:
    """The events of a row that come after an id."""
    if row.first_id > after:
        return row.frames
    # Ids within a row are contiguous, so that the position of the first one is known.
    frames = row.frames.split(b"\n\n")
    return b"\n\n".join(frames[after - row.first_id + 1 :])


def gap_frame(after: int, pruned_to: int) -> bytes:
    """Stands for the events that were pruned."""
    return frame(pruned_to, Gap(after, pruned_to + 1))


def restart_frame() -> bytes:
    """Tells a follower whose last event id is ahead of the log to drop all that it has."""
    return frame(0, RoundRestart(0))
