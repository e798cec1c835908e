"""A bus that is a server elsewhere: the connection to it comes and goes, and whoever uses the bus does not mind."""

import asyncio
import logging
import random
import time
from collections import deque
from contextlib import suppress
from typing import Protocol, TypeAlias

from footnote.bus.base import BusDown, BusState
from footnote.bus.local import Buckets
from footnote.bus.subscriptions import Listener, Subscriptions

MAX_MESSAGES = 10_000
MAX_OUTBOX_BYTES = 32_000_000
MAX_BATCH = 500

Message: TypeAlias = tuple[str, bytes]


class Outbox:
    def __init__(self) -> None:
        self.dropped = 0
        self._messages: deque[Message] = deque()
        self._bytes = 0
        self._not_empty = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self._messages)

    def add(self, topic: str, message: bytes) -> None:
        self._messages.append((topic, message))
        self._bytes += len(message)
        while len(self._messages) > MAX_MESSAGES or self._bytes > MAX_OUTBOX_BYTES:
            _, old = self._messages.popleft()
            self._bytes -= len(old)
            self.dropped += 1
        self._not_empty.set()

    async def wait(self) -> None:
        """Until there is something in it."""
        if not self._messages:
            self._not_empty.clear()
            await self._not_empty.wait()

    def next_batch(self) -> list[Message]:
        """What is to be sent next, in one go."""
        taken = [self._messages.popleft() for _ in range(min(len(self._messages), MAX_BATCH))]
        self._bytes -= sum(len(message) for _, message in taken)
        return taken


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
_INITIAL_BACKOFF = 0.1
_MAX_BACKOFF = 3.0

log = logging.getLogger(__name__)


class BusConnection(Protocol):
    """A way to the server. Raises `BusDown` and nothing else."""

    kind: str
    name: str
    """What it is called in the log, without a password."""
    max_bytes: int

    async def connect(self, topics: Subscriptions) -> None:
        """Then `topics` go live, one after the other or all at once."""
        ...

    async def serve(self) -> None:
        """Delivers what comes, until the connection is lost."""
        ...

    def update_subscription(self, topic: str) -> None:
        """Somebody listens to it from now on, or nobody any more."""
        ...

    async def send(self, messages: list[Message]) -> None: ...

    async def acquire_token(self, key: str, size: float, per_minute: float) -> float: ...

    async def disconnect(self) -> None: ...


class RemoteBus:
    """One for each process. What cannot be sent is dropped; who listens is told when something may have been missed."""

    reaches_others = True

    def __init__(self, connection: BusConnection) -> None:
        self.max_bytes = connection.max_bytes
        self._connection = connection
        self._subscriptions = Subscriptions(self._update_subscription)
        self._outbox = Outbox()
        self._local_buckets = Buckets()
        self._published = 0
        self._unsent = 0
        self._connections = 0
        self._connected = asyncio.Event()
        self._drained = asyncio.Event()
        self._local_limits_until = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    def publish(self, topic: str, message: bytes) -> None:
        self._start()
        self._outbox.add(topic, message)
        self._drained.clear()

    def listen(self, topic: str) -> Listener:
        self._start()
        return self._subscriptions.listen(topic)

    async def acquire_token(self, key: str, size: float, per_minute: float) -> float:
        """Counted here as well: who has had all of it here alone is refused without a question, and when the bus goes
        down, it is known what was taken."""
        wait = self._local_buckets.acquire_token(key, size, per_minute)
        if wait > 0:
            return wait
        self._start()
        if not self._connected.is_set() or time.monotonic() < self._local_limits_until:
            return 0.0
        try:
            async with asyncio.timeout(TAKE_SECONDS):
                return await self._connection.acquire_token(key, size, per_minute)
        except (BusDown, TimeoutError) as error:
            # Not everybody who asks is to wait as long as this one.
            self._local_limits_until = time.monotonic() + PING_SECONDS
            reason = error.message if isinstance(error, BusDown) else f"no answer from {self._connection.name}"
            log.warning("For a while, every replica counts its limits for itself: %s", reason)
            return 0.0

    @property
    def state(self) -> BusState:
        return BusState(
            self._connection.kind,
            is_connected=self._connected.is_set(),
            published=self._published,
            received=self._subscriptions.received,
            dropped=self._outbox.dropped + self._unsent,
            reconnects=max(0, self._connections - 1),
        )

    async def close(self) -> None:
        if self._tasks:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._drained.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        await self._connection.disconnect()

    # The connection ----------------------------------------------------------------------------------------

    def _start(self) -> None:
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._connect_loop()), asyncio.create_task(self._send_loop())]

    async def _connect_loop(self) -> None:
        pause = _INITIAL_BACKOFF
        is_told = False
        while True:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._connection.connect(self._subscriptions)
                self._connected.set()
                self._connections += 1
                if is_told:
                    log.warning("%s is there again.", self._connection.name)
                pause, is_told = _INITIAL_BACKOFF, False
                await self._connection.serve()
            except (BusDown, TimeoutError) as error:
                reason = error.message if isinstance(error, BusDown) else f"{self._connection.name} does not answer"
                if not is_told:
                    log.warning("Other replicas are not heard of at once, and limits are not shared: %s", reason)
                is_told = True
            finally:
                self._connected.clear()
                self._subscriptions.mark_disconnected()
                await self._connection.disconnect()
            # Not all replicas at the same moment, when it comes back.
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - nothing is kept secret by it
            pause = min(pause * 2, _MAX_BACKOFF)

    async def _send_loop(self) -> None:
        while True:
            if not self._outbox:
                self._drained.set()
            await self._outbox.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(_HOLD_SECONDS):
                    await self._connected.wait()
            messages = self._outbox.next_batch()
            try:
                if not self._connected.is_set():
                    raise BusDown(f"{self._connection.name} is not there.")
                await self._connection.send(messages)
                self._published += len(messages)
            except BusDown as error:
                self._unsent += len(messages)
                log.debug("%d messages were not sent: %s", len(messages), error.message)

    def _update_subscription(self, topic: str) -> None:
        if self._connected.is_set():
            self._connection.update_subscription(topic)
