"""Waiting for a state, and requests that a test holds back."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from playwright.async_api import Route

from browser.browser_profile import TIMEOUT_SECONDS

T = TypeVar("T")


async def wait_until(read: Callable[[], Awaitable[T]], condition: Callable[[T], bool]) -> T:
    """Polls until the condition holds, and returns the value; after the timeout, the last value that was read."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition(value := await read()) and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    return value


class HeldRequest:
    """A request that is delayed until `release`: `await page.route(address, held.handle_route)`."""

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
