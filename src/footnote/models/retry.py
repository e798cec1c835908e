"""When a request is retried, and after how long. Only before the first event: content is never requested twice."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime

from msgspec import Struct

RETRYABLE_STATUSES = frozenset({408, 409, 429})


def is_retryable(status: int) -> bool:
    return status in RETRYABLE_STATUSES or status >= 500


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """The wait in seconds that the server asks for, in any of the three forms in use."""
    if (milliseconds := _parse_number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if (seconds := _parse_number(value)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now) if value else None
    except ValueError:
        return None


def _parse_number(value: str | None) -> float | None:
    try:
        number = float(value) if value else math.nan
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


class Retry(Struct, frozen=True):
    """A retry policy. A server that asks for a wait of more than `max_backoff` seconds is not asked again."""

    max_retries: int = 3
    initial_backoff: float = 0.5
    max_backoff: float = 60.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random

    def delay(self, attempt: int, headers: Mapping[str, str]) -> float | None:
        """Seconds to wait after failed attempt number `attempt` (from 0), or None: give up."""
        if attempt >= self.max_retries:
            return None
        requested = retry_after_seconds(headers, time.time())
        if requested is not None:
            return requested if requested <= self.max_backoff else None
        return min(self.max_backoff, self.initial_backoff * 2**attempt) * (0.75 + self.jitter() / 2)
