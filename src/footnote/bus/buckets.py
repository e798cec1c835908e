"""Buckets of this process alone: each may be taken from, and fills again with time."""

import time
from collections.abc import Callable

MOST_BUCKETS = 10_000
"""Buckets that are full again are forgotten from here on; what is forgotten was no limit to anybody."""


class Buckets:
    __slots__ = ("_buckets", "_clock")

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float, float, float]] = {}
        """What was left, when, and how much the bucket holds and gains in a second."""

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str, size: float, per_minute: float) -> float:
        """Takes one. Returns 0, or how many seconds it takes until there is one."""
        now = self._clock()
        per_second = per_minute / 60
        left, at, _, _ = self._buckets.get(key, (size, now, size, per_second))
        left = min(size, left + (now - at) * per_second)
        if left < 1:
            return (1 - left) / per_second
        self._buckets[key] = (left - 1, now, size, per_second)
        if len(self._buckets) > MOST_BUCKETS:
            self._forget(now)
        return 0.0

    def _forget(self, now: float) -> None:
        in_use = [
            (key, bucket)
            for key, bucket in self._buckets.items()
            if bucket[0] + (now - bucket[1]) * bucket[3] < bucket[2]
        ]
        # Where nearly all of them are in use, the oldest go: a bounded memory matters more than their limit.
        self._buckets = dict(in_use[-MOST_BUCKETS // 2 :])
