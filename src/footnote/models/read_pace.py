"""Coalescing under load: how long a response is left alone before it is read again.

Most of what a delta costs is waking up for it: the read from its socket, the run's task, a write to each follower. A
process that reads few responses passes each delta on the moment it arrives. One that reads many of them leaves what
arrives in the socket's buffer for up to 120 ms and reads it in one piece: the same events, in fewer reads, wakes and
writes.
"""

import asyncio
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager

from footnote.net.client import Response

FREE_RESPONSES = 50
"""Up to this many responses at once, nothing waits."""
FULL_RESPONSES = 250
"""From this many on, the wait is at its longest."""
TICK_SECONDS = 0.02
MAX_TICKS = 6


class ReadPace:
    """Counts the responses that are being read, and lets them wait on one timer. One for all models of a process."""

    def __init__(
        self, free: int = FREE_RESPONSES, full: int = FULL_RESPONSES, tick_seconds: float = TICK_SECONDS
    ) -> None:
        self._free = free
        self._full = full
        self._tick_seconds = tick_seconds
        self._responses = 0
        self._waiting: deque[list[asyncio.Future[None]]] = deque([] for _ in range(MAX_TICKS))
        """By the number of ticks until they are woken: a timing wheel, which costs an append for each of them."""
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def count_response(self) -> Generator[None]:
        """Counts one response until the block ends."""
        self._responses += 1
        try:
            yield
        finally:
            self._responses -= 1

    async def throttle(self, response: Response) -> None:
        """Waits for as long as the number of responses asks for, while nothing is read from this one's socket."""
        load = (self._responses - self._free) / (self._full - self._free)
        ticks = round(MAX_TICKS * min(1.0, load))
        if ticks < 1:
            return
        loop = asyncio.get_running_loop()
        if self._timer is None:
            self._timer = loop.call_later(self._tick_seconds, self._tick, loop)
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiting[ticks - 1].append(waiter)
        response.pause()
        try:
            await waiter
        finally:
            response.resume()

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        due = self._waiting.popleft()
        self._waiting.append([])
        for waiter in due:
            if not waiter.done():  # its run may have been cancelled
                waiter.set_result(None)
        self._timer = loop.call_later(self._tick_seconds, self._tick, loop) if any(self._waiting) else None
