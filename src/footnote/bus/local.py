"""`local:`: for this process alone, with nothing to install or to run."""

import time
from collections.abc import Callable

from footnote.bus.base import BusState
from footnote.bus.subscriptions import Listener, Subscriptions

MAX_BUCKETS = 10_000
"""Buckets that are full again are forgotten from here on; what is forgotten was no limit to anybody."""


class Buckets:
    __slots__ = ("_buckets", "_clock")

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float, float, float]] = {}
        """What was left, when, and how much the bucket holds and gains in a second."""

    def __len__(self) -> int:
        return len(self._buckets)

    def acquire_token(self, key: str, size: float, per_minute: float) -> float:
        """Takes one. Returns 0, or how many seconds it takes until there is one."""
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
        # Where nearly all of them are in use, the oldest go: a bounded memory matters more than their limit.
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

    async def close(self) -> None:
        """Nothing is held."""
