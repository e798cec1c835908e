"""Waiting for what comes in its own time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from browser.visitor import SECONDS

T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]], is_so: Callable[[T], bool]) -> T:
    """What is seen as soon as it is so; if that does not come to pass, what was seen last."""
    given_up = time.monotonic() + SECONDS
    while not is_so(seen := await look()) and time.monotonic() < given_up:
        await asyncio.sleep(0.05)
    return seen
