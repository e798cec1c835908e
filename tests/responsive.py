"""Whether others have their turn while something large goes on."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

MAX_PAUSE_SECONDS = 0.5
"""Seconds for which nobody else has a turn."""


@asynccontextmanager
async def responsive() -> AsyncIterator[None]:
    """Everybody else goes on meanwhile."""
    pauses = [0.0]
    with _gc_pauses() as collecting:
        task = asyncio.create_task(_watch(pauses, collecting))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
    assert max(pauses) < MAX_PAUSE_SECONDS


async def _watch(pauses: list[float], collecting: list[float]) -> None:
    last, held_up, collected = time.monotonic(), _run_delays(), sum(collecting)
    while True:
        await asyncio.sleep(0.005)
        now, still_held_up, still_collected = time.monotonic(), _run_delays(), sum(collecting)
        # What a busy machine took from this process is nobody's fault here, nor what thousands of tests left in it.
        waited = sum(max(after - held_up.get(thread, 0.0), 0.0) for thread, after in still_held_up.items())
        pauses.append(now - last - waited - (still_collected - collected))
        last, held_up, collected = now, still_held_up, still_collected


def _run_delays() -> dict[str, float]:
    """Seconds in which each thread of this process could have run and had no processor, as far as the system tells."""
    waited: dict[str, float] = {}
    for thread in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError):  # it has just ended
            waited[thread.parent.name] = int(thread.read_text().split()[1]) / 1e9
    return waited


@contextmanager
def _gc_pauses() -> Iterator[list[float]]:
    """How long each collection of garbage took: it stops everything, the longer the more there is in the process."""
    took: list[float] = []
    begun = 0.0

    def note(phase: str, _: dict[str, int]) -> None:
        nonlocal begun
        if phase == "start":
            begun = time.monotonic()
        else:
            took.append(time.monotonic() - begun)

    gc.callbacks.append(note)
    try:
        yield took
    finally:
        gc.callbacks.remove(note)
