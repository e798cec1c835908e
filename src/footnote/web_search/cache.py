"""What searches share so that nothing is fetched twice: the cache of provider answers, single flight for requests in
progress, and the clock by which entries expire."""

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from footnote.protocol.sources import SearchResults

T = TypeVar("T")

MAX_ENTRIES = 256

log = logging.getLogger(__name__)


class Clock(Struct, frozen=True):
    """An argument, so that a test can set the time. `now` never jumps and is for waiting; `wall` is the time of day,
    for timestamps that people or other processes read."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


# Answers of providers ------------------------------------------------------------------------------------------------


class SearchStore(Protocol):
    """A store of answers that outlives the process. `now` and `expires` are seconds since 1970."""

    async def cached_search(self, key: str, now: float) -> SearchResults | None: ...

    async def store_search(self, key: str, results: SearchResults, expires: float) -> None: ...


def cache_key(*parts: str) -> str:
    """A hash of everything that the answer depends on. It is hashed because an address may contain a password."""
    prefixed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(prefixed.encode("utf-8", "surrogatepass")).hexdigest()


class SearchCache:
    """The most recent answers in memory, all of them in the store. A search does not fail with its store."""

    __slots__ = ("_clock", "_entries", "_store")

    def __init__(self, store: SearchStore | None, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, SearchResults]] = OrderedDict()

    async def get(self, key: str) -> SearchResults | None:
        if (entry := self._entries.get(key)) is not None:
            expires, results = entry
            if self._clock.now() < expires:
                self._entries.move_to_end(key)
                return results
            del self._entries[key]
        if self._store is None:
            return None
        try:
            return await self._store.cached_search(key, self._clock.wall())
        except Exception:  # whatever a database raises: the request is sent to the provider instead
            log.exception("The search cache could not be read; the provider is asked instead.")
            return None

    async def put(self, key: str, results: SearchResults, ttl_seconds: float) -> None:
        self._entries[key] = (self._clock.now() + ttl_seconds, results)
        self._entries.move_to_end(key)
        while len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)
        if self._store is None:
            return
        try:
            await self._store.store_search(key, results, self._clock.wall() + ttl_seconds)
        except Exception:  # whatever a database raises: the search has its answer already
            log.exception("The search cache could not be written; the answer is kept in memory alone.")


# Single flight -------------------------------------------------------------------------------------------------------


class _Flight(Generic[T]):
    __slots__ = ("task", "waiters")

    def __init__(self, task: asyncio.Task[T]) -> None:
        self.task = task
        self.waiters = 0


class SingleFlight(Generic[T]):
    """Work in progress by key: a second caller awaits the task of the first instead of starting its own."""

    __slots__ = ("_in_flight",)

    def __init__(self) -> None:
        self._in_flight: dict[str, _Flight[T]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._in_flight

    async def join(self, key: str, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `start`, which is called only if no task with this key is running. The task is cancelled when
        the last of its callers is."""
        async with self.join_task(key, start) as task:
            return await asyncio.shield(task)

    @asynccontextmanager
    async def join_task(
        self, key: str, start: Callable[[], Coroutine[Any, Any, T]]
    ) -> AsyncGenerator[asyncio.Task[T], None]:
        """The task itself, for a caller that has work to do before the key is free for another task. It must be awaited
        with `asyncio.shield`, since other callers may await it too."""
        flight = self._in_flight.get(key)
        if flight is None:
            flight = self._in_flight[key] = _Flight(asyncio.create_task(start()))
        flight.waiters += 1
        try:
            yield flight.task
        finally:
            flight.waiters -= 1
            if not flight.waiters:
                del self._in_flight[key]  # before anything is awaited: no caller may join a task that gets cancelled
                if not flight.task.done():
                    flight.task.cancel()
                    await asyncio.wait([flight.task])
