"""`Library`: what was read, so that every footnote can be opened, and found again without a network."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import copy
from functools import partial
from itertools import chain, count
from pathlib import PurePath
from typing import Literal, Self
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from footnote.db import caches, index
from footnote.db import library as db
from footnote.db.engine import Database
from footnote.db.failures import DatabaseFailed
from footnote.library.documentation import SCHEME, documentation, packed_documentation
from footnote.library.excerpt import excerpt
from footnote.library.packing import address, pack, storable, unpack
from footnote.library.question import Question, understand
from footnote.library.relevance import Fitting, best_fitting
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import UsageError
from footnote.protocol.pages import CachedPage
from footnote.protocol.sources import SearchHit, SearchResults, Snapshot

CANDIDATES = 120
"""Passages that are looked at closely."""
FILES = f"{SCHEME}files/"

log = logging.getLogger(__name__)


class Library:
    """Of one user: what they have read and added. Any number of them, in any number of processes, may share a database.

    `user_id` None: nobody's. What is kept then is in the caches, and on no shelf.
    """

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time.time, user_id: str | None = LOCAL_USER
    ) -> None:
        self._database = database
        self._clock = clock
        self._user = user_id
        self._documentation = _Documentation(database, clock)

    def of(self, user_id: str | None) -> Self:
        """The library of another user, in the same database."""
        other = copy(self)
        other._user = user_id  # noqa: SLF001 - one of us
        return other

    async def keep(self, snapshot: Snapshot, kind: Literal["web", "snippet"] = "web") -> None:
        """What was read, to be opened by its id from now on. A `snippet` is not the whole page: it can be opened, but
        does not take the place of what was read there."""
        if kind == "web" and await self._is_kept(snapshot) and await self._shelved(snapshot):
            return
        # An address of ours has the text that it was added with, and no other.
        aside = kind == "snippet" or snapshot.url.startswith(SCHEME)
        entry = await asyncio.to_thread(pack, snapshot, searchable=not aside)
        now = self._clock()
        keeping = db.keep_aside(entry, now, self._user) if aside else db.keep(entry, "web", now, user_id=self._user)
        await self._database.write(keeping)

    async def add(self, snapshot: Snapshot, origin: str) -> Snapshot:
        """A person's own file, which comes from `origin`. The same file again replaces what it was; another one of the
        same name gets a number. Returned as it is kept."""
        user_id = self._owner()
        entry = await asyncio.to_thread(pack, snapshot)
        urls = partial(_numbered, entry.reading.url, user_id)
        url = await self._database.write(db.add(entry, urls, storable(origin), self._clock(), user_id))
        return replace(snapshot, url=url)

    async def remove(self, url: str) -> bool:
        """With every text that was only read there, and by nobody else; False: nothing was. What is removed cannot be
        brought back."""
        if url in {page.url for page in documentation().pages}:
            raise UsageError(f"{url} is part of Footnote and cannot be removed.")
        return await self._database.write(db.remove(address(url), self._owner()), erase=True)

    async def list(self) -> tuple[db.LibraryPage, ...]:
        """Every page, the last read first; the documentation after all others."""
        await self._documentation.ready()
        return tuple(await self._database.read(db.pages(self._user)))

    async def snapshot(self, snapshot_id: str) -> Snapshot | None:
        """The text with this id, as it was read last."""
        return (await self.snapshots([snapshot_id])).get(snapshot_id)

    async def snapshots(self, ids: Iterable[str]) -> dict[str, Snapshot]:
        texts = await self._database.read(db.snapshots([storable(one) for one in ids], self._user))
        return {snapshot_id: unpack(found) for snapshot_id, found in texts.items()}

    async def latest(self, url: str) -> Snapshot | None:
        """What was last read there."""
        if url.startswith(SCHEME):
            await self._documentation.ready()
        found = await self._database.read(db.latest(address(url), self._user))
        return None if found is None else unpack(found)

    async def address_at(self, domain: str) -> str | None:
        """An address of this site, with or without `www.`, at which the user has read something; None: there is
        none."""
        return await self._database.read(db.on_shelf(self._owner(), _ranges_of(storable(domain))))

    async def icon_at(self, domain: str) -> str | None:
        """Where the icon of a page of this site is, that the user has read last; None: none is known."""
        return await self._database.read(db.icon_on_shelf(self._owner(), _ranges_of(storable(domain))))

    async def search(self, query: str, count: int) -> tuple[SearchHit, ...]:
        """The pages that answer the query, the best first, each with the passage that fits best. Often none."""
        await self._documentation.ready()
        question = understand(storable(query))
        frequencies = await self._database.read(index.frequencies(question.terms))
        if not frequencies.having:
            return ()
        candidates = await self._database.read(index.candidates(frequencies, CANDIDATES, self._user))
        best = (await asyncio.to_thread(best_fitting, question, frequencies, candidates))[:count]
        texts = await self._database.read(db.pages_with([fitting.snapshot_id for fitting in best], self._user))
        return tuple(_hit(unpack(texts[one.snapshot_id]), one, question) for one in best if one.snapshot_id in texts)

    async def cached_page(self, url: str) -> CachedPage | None:
        """Also when it is no longer fresh."""
        kept = await self._database.read(caches.cached_page(address(url)))
        if kept is None:
            return None
        fresh, snapshot = kept.freshness, unpack(kept.found)
        if fresh.fresh_until > self._clock():  # who is given it has read it; one that is stale is kept again
            with suppress(DatabaseFailed):  # it can be read all the same
                await self._shelved(snapshot)
        return CachedPage(
            url=fresh.url,
            final_url=fresh.final_url,
            etag=fresh.etag,
            last_modified=fresh.last_modified,
            fetched_at=fresh.fetched_at,
            fresh_until=fresh.fresh_until,
            snapshot=snapshot,
        )

    async def keep_page(self, page: CachedPage) -> None:
        """The page with its snapshot, which need not be kept by itself then."""
        snapshot, now = page.snapshot, self._clock()
        freshness = caches.Freshness(
            address(page.url),
            storable(page.final_url),
            page.etag and storable(page.etag),
            page.last_modified and storable(page.last_modified),
            page.fetched_at,
            page.fresh_until,
        )
        if (
            await self._is_kept(snapshot)
            and await self._shelved(snapshot)
            and await self._database.write(caches.keep_freshness(freshness, address(snapshot.url), snapshot.id, now))
        ):
            return
        entry = await asyncio.to_thread(pack, snapshot)
        await self._database.write(caches.keep_page(freshness, entry, now, self._user))

    async def cached_search(self, key: str, now: float) -> SearchResults | None:
        kept = await self._database.read(caches.cached_search(key, now))
        return None if kept is None else msgspec.json.decode(kept, type=SearchResults)

    async def keep_search(self, key: str, results: SearchResults, expires: float) -> None:
        await self._database.write(caches.keep_search(key, msgspec.json.encode(results), expires, self._clock()))

    async def _is_kept(self, snapshot: Snapshot) -> bool:
        icon = None if snapshot.icon is None else storable(snapshot.icon)
        fetched_at = storable(snapshot.fetched_at)
        return await self._database.read(db.is_kept(address(snapshot.url), snapshot.id, fetched_at, icon))

    async def _shelved(self, snapshot: Snapshot) -> bool:
        """Puts on the shelf what is kept already; False: it was removed meanwhile."""
        url = address(snapshot.url)
        if self._user is None or await self._database.read(db.has(url, self._user)):
            return True
        return await self._database.write(db.shelve(url, snapshot.id, self._user))

    def _owner(self) -> str:
        if self._user is None:
            raise ValueError("nobody has files")
        return self._user


class _Documentation:
    """Indexed when it is first needed, and again when there is another edition of it."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._is_there = False
        self._adding = asyncio.Lock()

    async def ready(self) -> None:
        async with self._adding:
            if self._is_there:
                return
            shipped = await asyncio.to_thread(documentation)
            if await self._database.read(db.edition_of_documentation()) != shipped.edition:
                entries = await asyncio.to_thread(packed_documentation)
                try:
                    await self._database.write(db.keep_documentation(shipped.edition, entries, self._clock()))
                except DatabaseFailed as error:  # what else is in the library can still be found
                    log.warning("Footnote's own documentation cannot be searched: %s", error.message)
            self._is_there = True


def file_url(name: str) -> str:
    """The address of a person's own file. Letters of any language stay as they are."""
    return FILES + "".join(one if one.isalnum() else quote(one, safe="-._~") for one in storable(name))


def _numbered(url: str, user_id: str) -> Iterator[str]:
    """`report.md`, `report-2.md`, `report-3.md`, …; in a folder of the user's own, unless that is the local one."""
    folder = FILES if user_id == LOCAL_USER else f"{FILES}{user_id}/"
    path = PurePath(url.removeprefix(FILES))
    numbered = (f"{folder}{path.stem}-{number}{path.suffix}" for number in count(2))
    return chain([folder + path.name], numbered)


def _ranges_of(domain: str) -> Iterator[tuple[str, str]]:
    """All addresses of a site, with any port: of such a host, `/` or `:` comes next."""
    hosts = [domain]
    with suppress(UnicodeError):
        hosts.append(domain.encode("idna").decode())
    if ":" in domain:
        hosts = [f"[{domain}]"]
    for host in dict.fromkeys(hosts):
        for beginning in ("https://", "https://www.", "http://", "http://www."):
            for mark in "/:":
                yield f"{beginning}{host}{mark}", f"{beginning}{host}{chr(ord(mark) + 1)}"


def _hit(snapshot: Snapshot, fitting: Fitting, question: Question) -> SearchHit:
    return SearchHit(
        title=snapshot.title or snapshot.url,
        url=snapshot.url,
        description=excerpt(snapshot.text[fitting.start : fitting.end], question),
        published=snapshot.published,
        site_name=snapshot.site_name,
    )
