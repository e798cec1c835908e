"""How fast a provider may be asked: what is known about it beforehand, and what it says itself."""

import math
import re
from collections.abc import Mapping

from msgspec import Struct

MAX_HOLD_SECONDS = 3600.0
"""A provider that wants to be left alone for longer is asked again after this long all the same."""
_EPSILON = 1e-6
_WINDOW = re.compile(r"w=(\d+)")


class Rate(Struct, frozen=True):
    """At most `requests` in any `seconds`."""

    requests: int
    seconds: float


class ProviderLimits(Struct, frozen=True):
    """What a provider says of its limits: its rate, if it gives one, and for how long nothing more is allowed."""

    rate: Rate | None = None
    wait_seconds: float = 0.0


class RateLimiter:
    """Gives out turns: moments at which the provider may be asked, so far apart as its rate wants."""

    __slots__ = ("_blocked_until", "_rate", "_slots")

    def __init__(self, rate: Rate | None) -> None:
        self._rate = rate
        self._blocked_until = -math.inf
        self._slots: list[float] = []

    def next_slot(self, now: float) -> float:
        """The first turn that is free."""
        first = max(now, self._blocked_until)
        if self._rate is None:
            return first
        later = sorted(turn + self._rate.seconds for turn in self._slots if turn + self._rate.seconds > first)
        return next(turn for turn in (first, *later) if self._is_free(turn, self._rate))

    def reserve(self, slot: float, now: float) -> None:
        if self._rate is not None:
            gone = now - self._rate.seconds
            self._slots = [*(taken for taken in self._slots if taken > gone), slot]

    def release(self, slot: float) -> None:
        """Whoever took it went away before it came."""
        if slot in self._slots:
            self._slots.remove(slot)

    def _is_free(self, slot: float, rate: Rate) -> bool:
        near = rate.seconds - _EPSILON
        return sum(abs(taken - slot) < near for taken in self._slots) < rate.requests

    def block(self, now: float, seconds: float) -> None:
        """No turns for this long, beside those that were taken."""
        self._blocked_until = max(self._blocked_until, now + min(seconds, MAX_HOLD_SECONDS))

    def update_limits(self, limits: ProviderLimits, now: float) -> None:
        self._rate = limits.rate or self._rate
        if limits.wait_seconds > 0:
            self.block(now, limits.wait_seconds)


def parse_rate_limit_headers(headers: Mapping[str, str]) -> ProviderLimits:
    """`X-RateLimit-Limit: 1, 15000` and its kin: one number for each window of time, the shortest first.

    `-Policy` has the windows in seconds, `-Remaining` what is left in each, `-Reset` the seconds until each begins
    anew.
    """
    limits = _parse_numbers(headers.get("x-ratelimit-limit"))
    windows = [float(seconds) for seconds in _WINDOW.findall(headers.get("x-ratelimit-policy", ""))]
    remaining = _parse_numbers(headers.get("x-ratelimit-remaining"))
    resets = _parse_numbers(headers.get("x-ratelimit-reset"))
    rate = Rate(int(limits[0]), windows[0] if windows else 1.0) if limits and limits[0] >= 1 else None
    return ProviderLimits(
        rate, max((reset for left, reset in zip(remaining, resets, strict=False) if left < 1), default=0.0)
    )


def _parse_numbers(value: str | None) -> list[float]:
    parts = [part.strip() for part in (value or "").split(",")]
    return [float(part) for part in parts] if all(part.isascii() and part.isdigit() for part in parts) else []
