"""Checks that the event loop serves other tasks while something large is done."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

MAX_PAUSE_SECONDS = 0.5
"""The longest time for which the event loop may be blocked."""


@asynccontextmanager
async def responsive() -> AsyncIterator[None]:
    """Fails if the event loop was blocked for too long during the block."""
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
        # Waiting for a processor is the fault of a busy machine, and garbage collection that of the test process;
        # both are subtracted.
        waited = sum(max(after - held_up.get(thread, 0.0), 0.0) for thread, after in still_held_up.items())
        pauses.append(now - last - waited - (still_collected - collected))
        last, held_up, collected = now, still_held_up, still_collected


def _run_delays() -> dict[str, float]:
    """The seconds for which each thread was runnable without a processor, where the kernel reports it."""
    waited: dict[str, float] = {}
    for thread in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError):  # the thread has just ended
            waited[thread.parent.name] = int(thread.read_text().split()[1]) / 1e9
    return waited


@contextmanager
def _gc_pauses() -> Iterator[list[float]]:
    """The duration of each garbage collection: it stops all threads, for longer the more objects the process has."""
    took: list[float] = []
    started = 0.0

    def note(phase: str, _: dict[str, int]) -> None:
        nonlocal started
        if phase == "start":
            started = time.monotonic()
        else:
            took.append(time.monotonic() - started)

    gc.callbacks.append(note)
    try:
        yield took
    finally:
        gc.callbacks.remove(note)
