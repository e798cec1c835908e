"""`Library`: what was read, so that every footnote can be opened, and found again without a network."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count
from pathlib import PurePath
from typing import Literal
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from footnote.db import caches, index
from footnote.db import library as db
from footnote.db.engine import Database
from footnote.db.failures import DatabaseFailed
from footnote.library.documentation import SCHEME, documentation, packed_documentation
from footnote.library.excerpt import excerpt
from footnote.library.packing import pack, storable, unpack
from footnote.library.question import Question, understand
from footnote.library.relevance import Fitting, best_fitting
from footnote.protocol.errors import UsageError
from footnote.protocol.pages import CachedPage
from footnote.protocol.sources import SearchHit, SearchResults, Snapshot

CANDIDATES = 120
"""Passages that are looked at closely."""
FILES = f"{SCHEME}files/"

log = logging.getLogger(__name__)


class Library:
    """Any number of them, in any number of processes, may share a database."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._has_documentation = False
        self._adding_documentation = asyncio.Lock()

    async def keep(self, snapshot: Snapshot, kind: Literal["web", "snippet"] = "web") -> None:
        """What was read, to be opened by its id from now on. A `snippet` is not the whole page: it can be opened, but
        does not take the place of what was read there."""
        if kind == "snippet":
            entry = await asyncio.to_thread(pack, snapshot, searchable=False)
            await self._database.write(db.keep_aside(entry, self._clock()))
        elif not await self._is_kept(snapshot):
            entry = await asyncio.to_thread(pack, snapshot)
            await self._database.write(db.keep(entry, "web", self._clock()))

    async def add(self, snapshot: Snapshot, origin: str) -> Snapshot:
        """A person's own file, which comes from `origin`. The same file again replaces what it was; another one of the
        same name gets a number. Returned as it is kept."""
        entry = await asyncio.to_thread(pack, snapshot)
        urls = _numbered(entry.reading.url)
        url = await self._database.write(db.add(entry, urls, storable(origin), self._clock()))
        return replace(snapshot, url=url)

    async def remove(self, url: str) -> bool:
        """With every text that was only read there; False: nothing was. What is removed cannot be brought back."""
        if url in {page.url for page in documentation().pages}:
            raise UsageError(f"{url} is part of Footnote and cannot be removed.")
        return await self._database.write(db.remove(storable(url)), erase=True)

    async def list(self) -> tuple[db.LibraryPage, ...]:
        """Every page, the last read first; the documentation after all others."""
        await self._with_documentation()
        return tuple(await self._database.read(db.pages()))

    async def snapshot(self, snapshot_id: str) -> Snapshot | None:
        """The text with this id, as it was read last."""
        return (await self.snapshots([snapshot_id])).get(snapshot_id)

    async def snapshots(self, ids: Iterable[str]) -> dict[str, Snapshot]:
        texts = await self._database.read(db.snapshots([storable(one) for one in ids]))
        return {snapshot_id: unpack(found) for snapshot_id, found in texts.items()}

    async def latest(self, url: str) -> Snapshot | None:
        """What was last read there."""
        if url.startswith(SCHEME):
            await self._with_documentation()
        found = await self._database.read(db.latest(storable(url)))
        return None if found is None else unpack(found)

    async def search(self, query: str, count: int) -> tuple[SearchHit, ...]:
        """The pages that answer the query, the best first, each with the passage that fits best. Often none."""
        await self._with_documentation()
        question = understand(storable(query))
        frequencies = await self._database.read(index.frequencies(question.terms))
        if not frequencies.having:
            return ()
        candidates = await self._database.read(index.candidates(frequencies.having, CANDIDATES))
        best = (await asyncio.to_thread(best_fitting, question, frequencies, candidates))[:count]
        texts = await self._database.read(db.pages_with([fitting.snapshot_id for fitting in best]))
        return tuple(_hit(unpack(texts[one.snapshot_id]), one, question) for one in best if one.snapshot_id in texts)

    async def cached_page(self, url: str) -> CachedPage | None:
        """Also when it is no longer fresh."""
        kept = await self._database.read(caches.cached_page(storable(url)))
        if kept is None:
            return None
        fresh = kept.freshness
        return CachedPage(
            url=fresh.url,
            final_url=fresh.final_url,
            etag=fresh.etag,
            last_modified=fresh.last_modified,
            fetched_at=fresh.fetched_at,
            fresh_until=fresh.fresh_until,
            snapshot=unpack(kept.found),
        )

    async def keep_page(self, page: CachedPage) -> None:
        """The page with its snapshot, which need not be kept by itself then."""
        snapshot, now = page.snapshot, self._clock()
        freshness = caches.Freshness(
            storable(page.url),
            storable(page.final_url),
            page.etag and storable(page.etag),
            page.last_modified and storable(page.last_modified),
            page.fetched_at,
            page.fresh_until,
        )
        if await self._is_kept(snapshot) and await self._database.write(
            caches.keep_freshness(freshness, storable(snapshot.url), snapshot.id, now)
        ):
            return
        entry = await asyncio.to_thread(pack, snapshot)
        await self._database.write(caches.keep_page(freshness, entry, now))

    async def cached_search(self, key: str, now: float) -> SearchResults | None:
        kept = await self._database.read(caches.cached_search(key, now))
        return None if kept is None else msgspec.json.decode(kept, type=SearchResults)

    async def keep_search(self, key: str, results: SearchResults, expires: float) -> None:
        await self._database.write(caches.keep_search(key, msgspec.json.encode(results), expires, self._clock()))

    async def _is_kept(self, snapshot: Snapshot) -> bool:
        return await self._database.read(db.is_kept(storable(snapshot.url), snapshot.id, storable(snapshot.fetched_at)))

    async def _with_documentation(self) -> None:
        """Indexed when it is first needed, and again when there is another edition of it."""
        async with self._adding_documentation:
            if self._has_documentation:
                return
            shipped = await asyncio.to_thread(documentation)
            if await self._database.read(db.edition_of_documentation()) != shipped.edition:
                entries = await asyncio.to_thread(packed_documentation)
                try:
                    await self._database.write(db.keep_documentation(shipped.edition, entries, self._clock()))
                except DatabaseFailed as error:  # what else is in the library can still be found
                    log.warning("Footnote's own documentation cannot be searched: %s", error.message)
            self._has_documentation = True


def file_url(name: str) -> str:
    """The address of a person's own file. Letters of any language stay as they are."""
    return FILES + "".join(one if one.isalnum() else quote(one, safe="-._~") for one in storable(name))


def _numbered(url: str) -> Iterator[str]:
    """`report.md`, `report-2.md`, `report-3.md`, …"""
    path = PurePath(url.removeprefix(FILES))
    numbered = (f"{FILES}{path.stem}-{number}{path.suffix}" for number in count(2))
    return chain([url], numbered)


def _hit(snapshot: Snapshot, fitting: Fitting, question: Question) -> SearchHit:
    return SearchHit(
        title=snapshot.title or snapshot.url,
        url=snapshot.url,
        description=excerpt(snapshot.text[fitting.start : fitting.end], question),
        published=snapshot.published,
        site_name=snapshot.site_name,
    )
