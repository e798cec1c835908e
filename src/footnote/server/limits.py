"""How often somebody may ask: a bucket each, which fills again with time."""

import math
import time
from collections.abc import Callable
from ipaddress import IPv4Address, ip_address, ip_network

from footnote.protocol.errors import LimitReached

MOST_BUCKETS = 10_000
"""Buckets that are full again are forgotten from here on; what is forgotten was no limit to anybody."""


class Buckets:
    """Each key may take `size` at once, and `per_minute` in the long run."""

    __slots__ = ("_clock", "_left", "_per_second", "_size")

    def __init__(self, size: float, per_minute: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._per_second = per_minute / 60
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, key: str, what: str) -> None:
        """`LimitReached`: nothing is left of `what` for this key now."""
        now = self._clock()
        left = self._left_at(key, now)
        if left < 1:
            wait = (1 - left) / self._per_second
            raise LimitReached(f"Too many {what}: wait {_in_words(wait)}, then try again.", retry_after=wait)
        self._left[key] = (left - 1, now)
        if len(self._left) > MOST_BUCKETS:
            self._forget(now)

    def _left_at(self, key: str, now: float) -> float:
        left, at = self._left.get(key, (self._size, now))
        return min(self._size, left + (now - at) * self._per_second)

    def _forget(self, now: float) -> None:
        kept = {key: value for key, value in self._left.items() if self._left_at(key, now) < self._size}
        # Where nearly all of them are in use, the oldest go: a bounded memory matters more than their limit.
        self._left = dict(list(kept.items())[-MOST_BUCKETS // 2 :]) if len(kept) > MOST_BUCKETS // 2 else kept


def _in_words(seconds: float) -> str:
    whole = max(1, math.ceil(seconds))
    return "1 second" if whole == 1 else f"{whole} seconds"


def place_of(address: str) -> str:
    """Whom an address stands for: itself, or the whole network of which one subscriber has every address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ip_network((int(parsed) >> 64 << 64, 64)))


class LoginLimits:
    """Guesses of passwords and of one-time tokens, by where they come from and by whom they are about.

    The limit of a name is wide: a stranger who guesses at it must not keep its owner out for long.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._addresses = Buckets(20, 10, clock=clock)
        self._pairs = Buckets(5, 5, clock=clock)
        self._names = Buckets(60, 30, clock=clock)

    def take(self, address: str, name: str | None) -> None:
        place = place_of(address)
        self._addresses.take(place, "logins from here")
        if name is not None:
            key = name.casefold()[:200]
            self._pairs.take(f"{place} {key}", "logins with this name")
            self._names.take(key, "logins with this name")
