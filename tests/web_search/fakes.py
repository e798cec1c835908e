"""Fakes for the tests of the web search: a clock, a library, stores and an extractor, and requests and settings."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from footnote.documents.extract import ExtractedPage, UnreadableDocument
from footnote.protocol.sources import CachedPage, SearchHit, SearchResults
from footnote.web_search.cache import Clock
from footnote.web_search.settings import ProviderAccess, SearchRequest, WebSearchSettings
from web.providers import KEY, WITH_KEY, Hit, SearchServer

WALL = 1_700_000_000.0
"""14 November 2023."""


@dataclass
class FakeClock:
    """A clock that advances only by sleeping; with `frozen` not even so, for concurrent sleepers."""

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
    """A library that returns these hits for every query."""

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
    """A store of search results, which several searches may share."""

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


class FakeExtractor:
    """Removes the tags. `calls`: the content type and the URL of each document."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    async def extract(
        self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""
    ) -> ExtractedPage:
        self.calls.append((content_type, url))
        text = re.sub(r"<[^>]*>", " ", body.decode("utf-8", "replace"))
        if not text.strip():
            raise UnreadableDocument("empty", "there is no text on it")
        return ExtractedPage(text=" ".join(text.split()), title="A title", media_type=content_type.partition(";")[0])


class FakePageStore:
    """Pages in a dictionary, by the requested URL."""

    def __init__(self, *pages: CachedPage) -> None:
        self.pages = {page.url: page for page in pages}

    async def cached_page(self, url: str) -> CachedPage | None:
        return self.pages.get(url)

    async def store_page(self, page: CachedPage) -> None:
        self.pages[page.url] = page


def make_request(query: str = "oxygen", *, count: int = 5, **options: Any) -> SearchRequest:
    return SearchRequest(query=query, prompt=query, count=count, **options)


def make_settings(*servers: SearchServer, provider: str | None = None, **more: Any) -> WebSearchSettings:
    """Settings with these providers, of which the first is the default. DuckDuckGo is always enabled, so it gets a dead
    URL."""
    access: Mapping[str, ProviderAccess] = {
        "duckduckgo": ProviderAccess(base_url="http://127.0.0.1:1"),
        **{
            server.provider: ProviderAccess(KEY if server.provider in WITH_KEY else None, server.url)
            for server in servers
        },
    }
    first = provider or (servers[0].provider if servers else "duckduckgo")
    return WebSearchSettings(provider=first, providers=access, **more)


def expected_hit(hit: Hit, *, dated: bool = True) -> SearchHit:
    """The hit as the adapter of a provider returns it."""
    host = hit.url.split("/")[2]
    published = hit.date if dated else None
    return SearchHit(title=hit.title, url=hit.url, description=hit.text, published=published, site_name=host)
