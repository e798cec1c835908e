"""How fast a provider may be asked: what is known about it beforehand, and what it says itself."""

import math
import re
from collections.abc import Mapping

from msgspec import Struct

LONGEST_HOLD = 3600.0
"""A provider that wants to be left alone for longer is asked again after this long all the same."""
_ROUNDING = 1e-6
_WINDOW = re.compile(r"w=(\d+)")


class Rate(Struct, frozen=True):
    """At most `requests` in any `seconds`."""

    requests: int
    seconds: float


class Limits(Struct, frozen=True):
    """What a provider says of its limits: its rate, if it gives one, and for how long nothing more is allowed."""

    rate: Rate | None = None
    pause: float = 0.0


class Pace:
    """Gives out turns: moments at which the provider may be asked, so far apart as its rate wants."""

    __slots__ = ("_held_until", "_rate", "_turns")

    def __init__(self, rate: Rate | None) -> None:
        self._rate = rate
        self._held_until = -math.inf
        self._turns: list[float] = []

    def next(self, now: float) -> float:
        """The first turn that is free."""
        first = max(now, self._held_until)
        if self._rate is None:
            return first
        later = sorted(turn + self._rate.seconds for turn in self._turns if turn + self._rate.seconds > first)
        return next(turn for turn in (first, *later) if self._is_free(turn, self._rate))

    def take(self, turn: float, now: float) -> None:
        if self._rate is not None:
            gone = now - self._rate.seconds
            self._turns = [*(taken for taken in self._turns if taken > gone), turn]

    def give_back(self, turn: float) -> None:
        """Whoever took it went away before it came."""
        if turn in self._turns:
            self._turns.remove(turn)

    def _is_free(self, turn: float, rate: Rate) -> bool:
        near = rate.seconds - _ROUNDING
        return sum(abs(taken - turn) < near for taken in self._turns) < rate.requests

    def hold(self, now: float, seconds: float) -> None:
        """No turns for this long, beside those that were taken."""
        self._held_until = max(self._held_until, now + min(seconds, LONGEST_HOLD))

    def learn(self, limits: Limits, now: float) -> None:
        self._rate = limits.rate or self._rate
        if limits.pause > 0:
            self.hold(now, limits.pause)


def header_limits(headers: Mapping[str, str]) -> Limits:
    """`X-RateLimit-Limit: 1, 15000` and its kin: one number for each window of time, the shortest first.

    `-Policy` has the windows in seconds, `-Remaining` what is left in each, `-Reset` the seconds until each begins
    anew.
    """
    limits = _numbers(headers.get("x-ratelimit-limit"))
    windows = [float(seconds) for seconds in _WINDOW.findall(headers.get("x-ratelimit-policy", ""))]
    remaining = _numbers(headers.get("x-ratelimit-remaining"))
    resets = _numbers(headers.get("x-ratelimit-reset"))
    rate = Rate(int(limits[0]), windows[0] if windows else 1.0) if limits and limits[0] >= 1 else None
    return Limits(rate, max((reset for left, reset in zip(remaining, resets, strict=False) if left < 1), default=0.0))


def _numbers(value: str | None) -> list[float]:
    parts = [part.strip() for part in (value or "").split(",")]
    return [float(part) for part in parts] if all(part.isascii() and part.isdigit() for part in parts) else []
