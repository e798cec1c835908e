"""Single flight: whoever wants what is already being fetched waits for that, and fetches nothing."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Flight(Generic[T]):
    __slots__ = ("task", "waiters")

    def __init__(self, task: asyncio.Task[T]) -> None:
        self.task = task
        self.waiters = 0


class SingleFlight(Generic[T]):
    """Things that are being fetched, by key."""

    __slots__ = ("_in_flight",)

    def __init__(self) -> None:
        self._in_flight: dict[str, _Flight[T]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._in_flight

    async def join(self, key: str, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What `start` comes to, started only if nobody else did. The last one to be cancelled cancels it."""
        async with self.join_task(key, start) as task:
            return await asyncio.shield(task)

    @asynccontextmanager
    async def join_task(
        self, key: str, start: Callable[[], Coroutine[Any, Any, T]]
    ) -> AsyncGenerator[asyncio.Task[T], None]:
        """The task itself, for those who have something to do before others may start anew. Only shielded may it be
        waited for."""
        flight = self._in_flight.get(key)
        if flight is None:
            flight = self._in_flight[key] = _Flight(asyncio.create_task(start()))
        flight.waiters += 1
        try:
            yield flight.task
        finally:
            flight.waiters -= 1
            if not flight.waiters:
                del self._in_flight[key]  # first of all: nobody may join what is about to be cancelled
                if not flight.task.done():
                    flight.task.cancel()
                    await asyncio.wait([flight.task])
