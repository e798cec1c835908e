"""What providers answered, kept for a while: in this process, and in a store that other processes read too."""

import hashlib
import logging
from collections import OrderedDict
from typing import Protocol

from footnote.protocol.sources import SearchResults
from footnote.web_search.clock import Clock

MAX_ENTRIES = 256

log = logging.getLogger(__name__)


class SearchStore(Protocol):
    """Where answers outlive the process. `now` and `expires` are seconds since 1970."""

    async def cached_search(self, key: str, now: float) -> SearchResults | None: ...

    async def store_search(self, key: str, results: SearchResults, expires: float) -> None: ...


def cache_key(*parts: str) -> str:
    """Of everything that decides about the answer. A hash, since an address may hold a password."""
    told_apart = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(told_apart.encode("utf-8", "surrogatepass")).hexdigest()


class SearchCache:
    """The last answers in memory, all of them in the store. A store that fails is done without."""

    __slots__ = ("_clock", "_entries", "_store")

    def __init__(self, store: SearchStore | None, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, SearchResults]] = OrderedDict()

    async def get(self, key: str) -> SearchResults | None:
        if (kept := self._entries.get(key)) is not None:
            expires, results = kept
            if self._clock.now() < expires:
                self._entries.move_to_end(key)
                return results
            del self._entries[key]
        if self._store is None:
            return None
        try:
            return await self._store.cached_search(key, self._clock.wall())
        except Exception:  # whatever a database raises: the provider is asked instead
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
        except Exception:  # whatever a database raises: the answer is there all the same
            log.exception("The search cache could not be written; the answer is kept in memory alone.")
