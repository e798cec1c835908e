"""Whether others have their turn while something large goes on."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Ticker:
    longest = 0.0
    """Seconds for which nobody else had a turn."""

    async def tick(self) -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.001)
            now = time.monotonic()
            self.longest = max(self.longest, now - last)
            last = now


@asynccontextmanager
async def ticking() -> AsyncIterator[Ticker]:
    ticker = Ticker()
    task = asyncio.create_task(ticker.tick())
    try:
        yield ticker
    finally:
        task.cancel()
        await asyncio.wait([task])
