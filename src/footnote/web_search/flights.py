"""Single flight: whoever wants what is already being fetched waits for that, and fetches nothing."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Flight(Generic[T]):
    __slots__ = ("task", "waiting")

    def __init__(self, task: asyncio.Task[T]) -> None:
        self.task = task
        self.waiting = 0


class Flights(Generic[T]):
    """Things that are being fetched, by key."""

    __slots__ = ("_under_way",)

    def __init__(self) -> None:
        self._under_way: dict[str, _Flight[T]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._under_way

    async def join(self, key: str, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What `start` comes to, started only if nobody else did. The last one to be cancelled cancels it."""
        async with self.hold(key, start) as task:
            return await asyncio.shield(task)

    @asynccontextmanager
    async def hold(
        self, key: str, start: Callable[[], Coroutine[Any, Any, T]]
    ) -> AsyncGenerator[asyncio.Task[T], None]:
        """The task itself, for those who have something to do before others may start anew. Only shielded may it be
        waited for."""
        flight = self._under_way.get(key)
        if flight is None:
            flight = self._under_way[key] = _Flight(asyncio.create_task(start()))
        flight.waiting += 1
        try:
            yield flight.task
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                del self._under_way[key]  # first of all: nobody may join what is about to be cancelled
                if not flight.task.done():
                    flight.task.cancel()
                    await asyncio.wait([flight.task])
