"""How fast a provider may be asked: what is known about it beforehand, and what it says itself."""

import math
import re
from collections import deque
from collections.abc import Mapping

from msgspec import Struct

LONGEST_HOLD = 3600.0
"""A provider that wants to be left alone for longer is asked again after this long all the same."""
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
    """Gives out turns, in order. A turn that was taken is not given back, also if its owner goes away."""

    __slots__ = ("_held_until", "_rate", "_turns")

    def __init__(self, rate: Rate | None) -> None:
        self._rate = rate
        self._held_until = -math.inf
        self._turns: deque[float] = deque()

    def wait(self, now: float) -> float:
        """How long it is to the next free turn."""
        turn = max(now, self._held_until)
        if self._rate is not None and len(self._turns) >= self._rate.requests:
            turn = max(turn, self._turns[-self._rate.requests] + self._rate.seconds)
        return turn - now

    def take(self, now: float) -> float:
        """Takes the next free turn; the wait until it comes."""
        wait = self.wait(now)
        self._turns.append(now + wait)
        while len(self._turns) > (self._rate.requests if self._rate else 0):
            self._turns.popleft()
        return wait

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
