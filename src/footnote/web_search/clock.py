"""Time as a value that is handed over, so that a test can have one that passes only when it says so."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from msgspec import Struct


class Clock(Struct, frozen=True):
    """`now` never jumps and is for waiting; `wall` is what people and other processes call the time."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
