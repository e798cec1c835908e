"""Waiting for what comes in its own time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from playwright.async_api import Route

from browser.visitor import TIMEOUT_SECONDS

T = TypeVar("T")


async def wait_until(read: Callable[[], Awaitable[T]], condition: Callable[[T], bool]) -> T:
    """What is seen as soon as it is so; if that does not come to pass, what was seen last."""
    given_up = time.monotonic() + TIMEOUT_SECONDS
    while not condition(seen := await read()) and time.monotonic() < given_up:
        await asyncio.sleep(0.05)
    return seen


class Held:
    """A request that stays on its way until it may `go`: `await page.route(address, held.take)`."""

    def __init__(self, *, fails: bool = False) -> None:
        self.sent = asyncio.Event()
        self._released = asyncio.Event()
        self._fails = fails

    async def handle_route(self, route: Route) -> None:
        self.sent.set()
        await self._released.wait()
        await (route.abort() if self._fails else route.continue_())

    def release(self) -> None:
        self._released.set()
