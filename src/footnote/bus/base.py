"""The interface of a message bus, and the bus within one process.

The database is the source of truth; a bus only carries notifications. A message may be late, lost or delivered twice,
so a listener also polls the database now and then, and whenever it receives `b""` in place of a message.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct

from footnote.protocol.errors import FootnoteError

MAX_WAITING = 1000
"""The size of a listener's queue. A listener that falls further behind has to query the database."""


class Listener:
    """The messages of one topic, for one consumer."""

    __slots__ = ("_close", "_has_messages", "_messages", "_ready", "topic")

    def __init__(self, topic: str, close: Callable[["Listener"], None]) -> None:
        self.topic = topic
        self._close = close
        self._messages: deque[bytes] = deque()
        self._has_messages = asyncio.Event()
        self._ready = asyncio.Event()

    async def wait_ready(self, seconds: float) -> bool:
        """Waits until the subscription is live; False: the bus does not answer."""
        try:
            async with asyncio.timeout(seconds):
                await self._ready.wait()
        except TimeoutError:
            return False
        return True

    async def next(self, seconds: float | None = None) -> bytes | None:
        """The next message; b"": some may have been missed; None: none arrived within `seconds`."""
        if not self._messages:
            self._has_messages.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self._has_messages.wait()
            except TimeoutError:
                return None
        return self._messages.popleft()

    def push(self, message: bytes) -> None:
        if len(self._messages) >= MAX_WAITING:
            self._messages.clear()
            message = b""
        self._messages.append(message)
        self._has_messages.set()

    def mark_live(self) -> None:
        """Messages from before this moment may have been missed; from now on none is."""
        self._ready.set()
        self.push(b"")

    def close(self) -> None:
        """May be called more than once."""
        self._close(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Subscriptions:
    """The listeners of this process by topic. `on_change` is called with a topic that got its first listener or lost
    its last one."""

    def __init__(self, on_change: Callable[[str], None] | None = None) -> None:
        self.received = 0
        self._on_change = on_change
        self._listeners: dict[str, set[Listener]] = {}
        self._live: set[str] = set()
        """Topics whose subscription the server has confirmed."""

    def __contains__(self, topic: str) -> bool:
        return topic in self._listeners

    @property
    def names(self) -> list[str]:
        return list(self._listeners)

    def listen(self, topic: str, *, live: bool = False) -> Listener:
        """`live`: the subscription is confirmed already."""
        listener = Listener(topic, self._unsubscribe)
        others = self._listeners.setdefault(topic, set())
        others.add(listener)
        if live:
            self._live.add(topic)
        if topic in self._live:
            listener.mark_live()
        if len(others) == 1 and self._on_change is not None:
            self._on_change(topic)
        return listener

    def deliver(self, topic: str, message: bytes) -> None:
        for listener in self._listeners.get(topic, ()):
            self.received += 1
            listener.push(message)

    def mark_live(self, topic: str) -> None:
        """Marks the subscription of a topic as confirmed."""
        self._live.add(topic)
        for listener in self._listeners.get(topic, ()):
            listener.mark_live()

    def mark_disconnected(self) -> None:
        """Marks all subscriptions as lost."""
        self._live.clear()

    def _unsubscribe(self, listener: Listener) -> None:
        others = self._listeners.get(listener.topic, set())
        others.discard(listener)
        if not others and listener.topic in self._listeners:
            del self._listeners[listener.topic]
            self._live.discard(listener.topic)
            if self._on_change is not None:
                self._on_change(listener.topic)


class BusDown(FootnoteError):
    """The bus is unreachable or does not answer. The message names the bus without its password."""

    type = "bus_down"
    retryable = True


class BusState(Struct, frozen=True):
    """`dropped`: messages that were not sent because the bus was down or slower than this process."""

    kind: str
    is_connected: bool
    published: int = 0
    received: int = 0
    dropped: int = 0
    reconnects: int = 0


class Bus(Protocol):
    """A bus connects on first use."""

    @property
    def reaches_others(self) -> bool:
        """Whether other processes receive what this one publishes."""
        ...

    @property
    def max_bytes(self) -> int:
        """The recommended maximum size of a message. Where it is small, a message can only be a notification."""
        ...

    def publish(self, topic: str, message: bytes) -> None:
        """Queues a message for sending. Never waits and never fails."""
        ...

    def listen(self, topic: str) -> Listener:
        """A listener for the messages of a topic from now on, including those of this process. The caller closes it."""
        ...

    async def acquire_token(self, key: str, size: float, per_minute: float) -> float:
        """Takes a token from the bucket `key`, which holds `size` tokens and gains `per_minute`, counted over all
        replicas.

        Returns 0, or the seconds until a token is available. While the bus is down, each replica counts for itself.
        """
        ...

    @property
    def state(self) -> BusState: ...

    async def close(self) -> None:
        """Flushes the outbox, within a short time limit."""
        ...


# Within one process --------------------------------------------------------------------------------------


MAX_BUCKETS = 10_000
"""Above this number, buckets that are full again are dropped: a full bucket limits no request."""


class Buckets:
    """Token buckets in memory, which limit the requests of this process."""

    __slots__ = ("_buckets", "_clock")

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float, float, float]] = {}
        """Tokens left, time of the last request, capacity, and tokens gained per second."""

    def __len__(self) -> int:
        return len(self._buckets)

    def acquire_token(self, key: str, size: float, per_minute: float) -> float:
        """Takes a token. Returns 0, or the seconds until one is available."""
        now = self._clock()
        per_second = per_minute / 60
        left, at, _, _ = self._buckets.get(key, (size, now, size, per_second))
        left = min(size, left + (now - at) * per_second)
        if left < 1:
            return (1 - left) / per_second
        self._buckets[key] = (left - 1, now, size, per_second)
        if len(self._buckets) > MAX_BUCKETS:
            self._evict(now)
        return 0.0

    def _evict(self, now: float) -> None:
        in_use = [
            (key, bucket)
            for key, bucket in self._buckets.items()
            if bucket[0] + (now - bucket[1]) * bucket[3] < bucket[2]
        ]
        # If nearly all buckets are in use, the oldest are dropped: bounded memory matters more than their limits.
        self._buckets = dict(in_use[-MAX_BUCKETS // 2 :])


class LocalBus:
    reaches_others = False
    max_bytes = 1_000_000

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.buckets = Buckets(clock=clock)
        self._subscriptions = Subscriptions()
        self._published = 0

    def publish(self, topic: str, message: bytes) -> None:
        self._published += 1
        self._subscriptions.deliver(topic, message)

    def listen(self, topic: str) -> Listener:
        return self._subscriptions.listen(topic, live=True)

    async def acquire_token(self, key: str, size: float, per_minute: float) -> float:
        return self.buckets.acquire_token(key, size, per_minute)

    @property
    def state(self) -> BusState:
        return BusState("local", is_connected=True, published=self._published, received=self._subscriptions.received)

    async def close(self) -> None: ...
