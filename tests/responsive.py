"""Whether others have their turn while something large goes on."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

AT_MOST = 0.5
"""Seconds for which nobody else has a turn."""


@asynccontextmanager
async def responsive() -> AsyncIterator[None]:
    """Everybody else goes on meanwhile."""
    pauses = [0.0]
    task = asyncio.create_task(_watch(pauses))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
    assert max(pauses) < AT_MOST


async def _watch(pauses: list[float]) -> None:
    last, held_up = time.monotonic(), _held_up()
    while True:
        await asyncio.sleep(0.005)
        now, still_held_up = time.monotonic(), _held_up()
        # What a busy machine took from this process is nobody's fault here.
        pauses.append(now - last - (still_held_up - held_up))
        last, held_up = now, still_held_up


def _held_up() -> float:
    """Seconds in which threads of this process could have run and had no processor, as far as the system tells."""
    waited = 0
    for thread in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError):  # it has just ended
            waited += int(thread.read_text().split()[1])
    return waited / 1e9
