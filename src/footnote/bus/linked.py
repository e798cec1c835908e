"""A bus that is a server elsewhere: the connection to it comes and goes, and whoever uses the bus does not mind."""

import asyncio
import logging
import random
import time
from contextlib import suppress
from typing import Protocol

from footnote.bus.base import BusState
from footnote.bus.buckets import Buckets
from footnote.bus.failures import BusDown
from footnote.bus.outbox import Message, Outbox
from footnote.bus.topics import Listener, Topics

CONNECT_SECONDS = 5.0
PING_SECONDS = 3.0
"""A connection on which nothing comes for so long is asked whether it still stands."""
SILENT_SECONDS = 3 * PING_SECONDS
"""One on which nothing comes for so long all the same is given up."""
TAKE_SECONDS = 1.0
"""How long somebody who asks may be held up by a bus that does not say whether they may."""
_CLOSE_SECONDS = 1.0
_HOLD_SECONDS = 1.0
"""How long messages wait for a connection, before they are too old to be of use."""
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 3.0

log = logging.getLogger(__name__)


class Link(Protocol):
    """A way to the server. Raises `BusDown` and nothing else."""

    kind: str
    name: str
    """What it is called in the log, without a password."""
    most_bytes: int

    async def connect(self, topics: Topics) -> None:
        """Then `topics` go live, one after the other or all at once."""
        ...

    async def serve(self) -> None:
        """Delivers what comes, until the connection is lost."""
        ...

    def follow(self, topic: str) -> None:
        """Somebody listens to it from now on, or nobody any more."""
        ...

    async def send(self, messages: list[Message]) -> None: ...

    async def take(self, key: str, size: float, per_minute: float) -> float: ...

    async def disconnect(self) -> None: ...


class LinkedBus:
    """One for each process. What cannot be sent is dropped; who listens is told when something may have been missed."""

    reaches_others = True

    def __init__(self, link: Link) -> None:
        self.most_bytes = link.most_bytes
        self._link = link
        self._topics = Topics(self._follow)
        self._outbox = Outbox()
        self._own = Buckets()
        self._published = 0
        self._unsent = 0
        self._connections = 0
        self._up = asyncio.Event()
        self._sent = asyncio.Event()
        self._no_limits_until = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    def publish(self, topic: str, message: bytes) -> None:
        self._start()
        self._outbox.add(topic, message)
        self._sent.clear()

    def listen(self, topic: str) -> Listener:
        self._start()
        return self._topics.listen(topic)

    async def take(self, key: str, size: float, per_minute: float) -> float:
        """Counted here as well: who has had all of it here alone is refused without a question, and when the bus goes
        down, it is known what was taken."""
        wait = self._own.take(key, size, per_minute)
        if wait > 0:
            return wait
        self._start()
        if not self._up.is_set() or time.monotonic() < self._no_limits_until:
            return 0.0
        try:
            async with asyncio.timeout(TAKE_SECONDS):
                return await self._link.take(key, size, per_minute)
        except (BusDown, TimeoutError) as error:
            # Not everybody who asks is to wait as long as this one.
            self._no_limits_until = time.monotonic() + PING_SECONDS
            reason = error.message if isinstance(error, BusDown) else f"no answer from {self._link.name}"
            log.warning("For a while, every replica counts its limits for itself: %s", reason)
            return 0.0

    @property
    def state(self) -> BusState:
        return BusState(
            self._link.kind,
            is_connected=self._up.is_set(),
            published=self._published,
            received=self._topics.received,
            dropped=self._outbox.dropped + self._unsent,
            reconnects=max(0, self._connections - 1),
        )

    async def close(self) -> None:
        if self._tasks:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._sent.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        await self._link.disconnect()

    # The connection ----------------------------------------------------------------------------------------

    def _start(self) -> None:
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._stay_connected()), asyncio.create_task(self._send())]

    async def _stay_connected(self) -> None:
        pause = _FIRST_PAUSE
        is_told = False
        while True:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._link.connect(self._topics)
                self._up.set()
                self._connections += 1
                if is_told:
                    log.warning("%s is there again.", self._link.name)
                pause, is_told = _FIRST_PAUSE, False
                await self._link.serve()
            except (BusDown, TimeoutError) as error:
                reason = error.message if isinstance(error, BusDown) else f"{self._link.name} does not answer"
                if not is_told:
                    log.warning("Other replicas are not heard of at once, and limits are not shared: %s", reason)
                is_told = True
            finally:
                self._up.clear()
                self._topics.fall_silent()
                await self._link.disconnect()
            # Not all replicas at the same moment, when it comes back.
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - nothing is kept secret by it
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _send(self) -> None:
        while True:
            if not self._outbox:
                self._sent.set()
            await self._outbox.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(_HOLD_SECONDS):
                    await self._up.wait()
            messages = self._outbox.take()
            try:
                if not self._up.is_set():
                    raise BusDown(f"{self._link.name} is not there.")
                await self._link.send(messages)
                self._published += len(messages)
            except BusDown as error:
                self._unsent += len(messages)
                log.debug("%d messages were not sent: %s", len(messages), error.message)

    def _follow(self, topic: str) -> None:
        if self._up.is_set():
            self._link.follow(topic)
