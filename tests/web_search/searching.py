"""What the tests of finding have in common: a clock that passes when it is told to, settings, a library, a store."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from footnote.protocol.sources import SearchHit, SearchResults
from footnote.web_search.clock import Clock
from footnote.web_search.settings import ProviderAccess, SearchRequest, WebSearchSettings
from web.providers import KEY, WITH_KEY, Hit, SearchServer

WALL = 1_700_000_000.0
"""14 November 2023."""


@dataclass
class FakeClock:
    """A clock that stands still; to sleep moves it on, unless several sleep at the same time (`frozen`)."""

    time: float = 1000.0
    frozen: bool = False
    sleeps: list[float] = field(default_factory=list[float])

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: self.time, wall=lambda: WALL + self.time - 1000.0, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.sleeps.append(round(seconds, 6))
        self.time += 0 if self.frozen else seconds
        await asyncio.sleep(0)


@dataclass
class FakeLibrary:
    """A library with these pages in it, whatever it is searched for."""

    hits: tuple[SearchHit, ...] = ()
    error: Exception | None = None
    searches: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    async def search(self, query: str, count: int) -> tuple[SearchHit, ...]:
        self.searches.append((query, count))
        if self.error is not None:
            raise self.error
        return self.hits


@dataclass
class FakeSearchStore:
    """A store of answers, shared by whoever is given it."""

    entries: dict[str, tuple[SearchResults, float]] = field(default_factory=dict[str, tuple[SearchResults, float]])
    error: Exception | None = None

    async def cached_search(self, key: str, now: float) -> SearchResults | None:
        if self.error is not None:
            raise self.error
        results, expires = self.entries.get(key, (None, 0.0))
        return results if now < expires else None

    async def store_search(self, key: str, results: SearchResults, expires: float) -> None:
        if self.error is not None:
            raise self.error
        self.entries[key] = (results, expires)


def make_request(query: str = "oxygen", *, count: int = 5, **options: Any) -> SearchRequest:
    return SearchRequest(query=query, prompt=query, count=count, **options)


def make_settings(*servers: SearchServer, provider: str | None = None, **more: Any) -> WebSearchSettings:
    """With these providers, the first of them wanted. DuckDuckGo is always there, so it is given a dead address."""
    access: Mapping[str, ProviderAccess] = {
        "duckduckgo": ProviderAccess(base_url="http://127.0.0.1:1"),
        **{
            server.provider: ProviderAccess(KEY if server.provider in WITH_KEY else None, server.url)
            for server in servers
        },
    }
    wanted = provider or (servers[0].provider if servers else "duckduckgo")
    return WebSearchSettings(provider=wanted, providers=access, **more)


def expected_hit(hit: Hit, *, dated: bool = True) -> SearchHit:
    """What becomes of a hit on the way through a provider."""
    host = hit.url.split("/")[2]
    published = hit.date if dated else None
    return SearchHit(title=hit.title, url=hit.url, description=hit.text, published=published, site_name=host)
