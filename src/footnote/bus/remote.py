"""A bus on a server: reconnects when the connection is lost, while its callers go on without it."""

import asyncio
import logging
import random
import time
from collections import deque
from contextlib import suppress
from typing import Protocol, TypeAlias

from footnote.bus.base import Buckets, BusDown, BusState, Listener, Subscriptions

MAX_MESSAGES = 10_000
MAX_OUTBOX_BYTES = 32_000_000
MAX_BATCH = 500

Message: TypeAlias = tuple[str, bytes]


class Outbox:
    """Messages that wait to be sent. When there are too many, the oldest are dropped."""

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
        """Waits until the outbox holds a message."""
        if not self._messages:
            self._not_empty.clear()
            await self._not_empty.wait()

    def next_batch(self) -> list[Message]:
        batch = [self._messages.popleft() for _ in range(min(len(self._messages), MAX_BATCH))]
        self._bytes -= sum(len(message) for _, message in batch)
        return batch


CONNECT_SECONDS = 5.0
PING_SECONDS = 3.0
"""Seconds without incoming data after which the connection is pinged."""
SILENT_SECONDS = 3 * PING_SECONDS
"""Seconds without incoming data after which the connection is given up."""
TOKEN_SECONDS = 1.0
"""Time limit for acquiring a token: a bus that does not answer must not delay a request."""
_CLOSE_SECONDS = 1.0
_HOLD_SECONDS = 1.0
"""How long messages wait for a connection before they are too old to be useful."""
_INITIAL_BACKOFF = 0.1
_MAX_BACKOFF = 3.0

log = logging.getLogger(__name__)


class BusConnection(Protocol):
    """A connection to the server. It raises `BusDown` and no other error."""

    kind: str
    name: str
    """The name of the bus in the log, without a password."""
    max_bytes: int

    async def connect(self, topics: Subscriptions) -> None:
        """Connects and subscribes to `topics`; each of them is live once the server has confirmed it."""
        ...

    async def serve(self) -> None:
        """Delivers incoming messages until the connection is lost."""
        ...

    def update_subscription(self, topic: str) -> None:
        """Subscribes to a topic that has its first listener, or unsubscribes from one that has lost its last."""
        ...

    async def send(self, messages: list[Message]) -> None: ...

    async def acquire_token(self, key: str, size: float, per_minute: float) -> float: ...

    async def disconnect(self) -> None: ...


class RemoteBus:
    """The bus of one process. Messages that cannot be sent are dropped; listeners are notified when they may have
    missed some."""

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
        """Tokens are counted locally as well: a caller that has used up its bucket here is refused without a request to
        the server, and when the bus goes down the local count goes on."""
        wait = self._local_buckets.acquire_token(key, size, per_minute)
        if wait > 0:
            return wait
        self._start()
        if not self._connected.is_set() or time.monotonic() < self._local_limits_until:
            return 0.0
        try:
            async with asyncio.timeout(TOKEN_SECONDS):
                return await self._connection.acquire_token(key, size, per_minute)
        except (BusDown, TimeoutError) as error:
            # One caller has waited for the timeout; the next ones use the local count.
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
        is_logged = False
        while True:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._connection.connect(self._subscriptions)
                self._connected.set()
                self._connections += 1
                if is_logged:
                    log.warning("%s is there again.", self._connection.name)
                pause, is_logged = _INITIAL_BACKOFF, False
                await self._connection.serve()
            except (BusDown, TimeoutError) as error:
                reason = error.message if isinstance(error, BusDown) else f"{self._connection.name} does not answer"
                if not is_logged:
                    log.warning("Other replicas are not heard of at once, and limits are not shared: %s", reason)
                is_logged = True
            finally:
                self._connected.clear()
                self._subscriptions.mark_disconnected()
                await self._connection.disconnect()
            # Random backoff: replicas must not all reconnect at the same moment.
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - jitter needs no secure random
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
