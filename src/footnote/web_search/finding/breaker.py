"""A circuit breaker: a provider that does not answer is left alone for a while, and then tried with one request."""

from msgspec import Struct

from footnote.web_search.providers.base import Cause, Outcome
from footnote.web_search.providers.pace import LONGEST_HOLD

BLOCK_SECONDS = 45.0
"""After a block that does not say how long it lasts. To ask earlier makes blocks longer."""
ERRORS = 3
ERROR_SECONDS = 60.0
KEY_SECONDS = 300.0
"""A refused key does not become right by itself, but an account may be put in order."""


class Pause(Struct, frozen=True):
    """Not now, for these `seconds` more, because of what came last."""

    seconds: float
    cause: Cause
    reason: str


class Breaker:
    """Of one provider with one key at one address: with another key it is another breaker."""

    __slots__ = ("_cause", "_errors", "_reason", "_trying", "_until")

    def __init__(self) -> None:
        self._until: float | None = None
        self._cause: Cause = "errors"
        self._reason = ""
        self._errors = 0
        self._trying = False

    def pause(self, now: float) -> Pause | None:
        """None: go ahead, and tell with `record` or `leave` how it went. After a pause, one goes ahead alone."""
        if self._until is None:
            return None
        if now < self._until or self._trying:
            return Pause(max(0.0, self._until - now), self._cause, self._reason)
        self._trying = True
        return None

    def opened(self, now: float) -> Pause | None:
        """For one who went ahead and then had to wait: what the provider has told others since."""
        if self._until is None or now >= self._until:
            return None
        return Pause(self._until - now, self._cause, self._reason)

    def record(self, outcome: Outcome, now: float) -> None:
        self._trying = False
        self._reason = outcome.reason or ""
        if outcome.is_answer:
            self._until, self._errors = None, 0
        elif outcome.kind == "blocked":
            asked = BLOCK_SECONDS if outcome.retry_after is None else outcome.retry_after
            self._open("block", now, max(1.0, min(asked, LONGEST_HOLD)))
        elif outcome.key_refused:
            self._open("key", now, KEY_SECONDS)
        else:
            self._errors += 1
            if self._errors >= ERRORS:
                self._open("errors", now, ERROR_SECONDS)

    def leave(self) -> None:
        """Whoever went ahead came back without an answer of any kind, by being cancelled for instance."""
        self._trying = False

    def _open(self, cause: Cause, now: float, seconds: float) -> None:
        self._cause, self._until = cause, now + seconds
