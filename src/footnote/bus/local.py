"""`local:`: for this process alone, with nothing to install or to run."""

import time
from collections.abc import Callable

from footnote.bus.base import BusState
from footnote.bus.buckets import Buckets
from footnote.bus.topics import Listener, Topics


class LocalBus:
    reaches_others = False
    most_bytes = 1_000_000

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.buckets = Buckets(clock=clock)
        self._topics = Topics()
        self._published = 0

    def publish(self, topic: str, message: bytes) -> None:
        self._published += 1
        self._topics.deliver(topic, message)

    def listen(self, topic: str) -> Listener:
        return self._topics.listen(topic, live=True)

    async def take(self, key: str, size: float, per_minute: float) -> float:
        return self.buckets.take(key, size, per_minute)

    @property
    def state(self) -> BusState:
        return BusState("local", is_connected=True, published=self._published, received=self._topics.received)

    async def close(self) -> None:
        """Nothing is held."""
