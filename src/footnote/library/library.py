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
from footnote.db.errors import DatabaseFailed
from footnote.library.documentation import SCHEME, load_documentation, pack_documentation
from footnote.library.excerpt import excerpt
from footnote.library.relevance import LibraryQuestion, RankedPassage, parse_question, rank_passages
from footnote.library.snapshots import pack, storable_text, unpack, url_key
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import UsageError
from footnote.protocol.pages import CachedPage
from footnote.protocol.sources import SearchHit, SearchResults, Snapshot

MAX_CANDIDATES = 120
"""Passages that are looked at closely."""
FILES_PREFIX = f"{SCHEME}files/"

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
        self._user_id = user_id
        self._documentation = _DocumentationState(database, clock)

    def for_user(self, user_id: str | None) -> Self:
        """The library of another user, in the same database."""
        other = copy(self)
        other._user_id = user_id  # noqa: SLF001 - one of us
        return other

    async def store(self, snapshot: Snapshot, kind: Literal["web", "snippet"] = "web") -> None:
        """What was read, to be opened by its id from now on. A `snippet` is not the whole page: it can be opened, but
        does not take the place of what was read there."""
        if kind == "web" and await self._is_stored(snapshot) and await self._ensure_on_shelf(snapshot):
            return
        # An address of ours has the text that it was added with, and no other.
        aside = kind == "snippet" or snapshot.url.startswith(SCHEME)
        entry = await asyncio.to_thread(pack, snapshot, searchable=not aside)
        now = self._clock()
        keeping = (
            db.store_snapshot(entry, now, self._user_id)
            if aside
            else db.store_page(entry, "web", now, user_id=self._user_id)
        )
        await self._database.write(keeping)

    async def add(self, snapshot: Snapshot, origin: str) -> Snapshot:
        """A person's own file, which comes from `origin`. The same file again replaces what it was; another one of the
        same name gets a number. Returned as it is kept."""
        user_id = self._require_user()
        entry = await asyncio.to_thread(pack, snapshot)
        urls = partial(_numbered_urls, entry.reading.url, user_id)
        url = await self._database.write(db.add_upload(entry, urls, storable_text(origin), self._clock(), user_id))
        return replace(snapshot, url=url)

    async def remove(self, url: str) -> bool:
        """With every text that was only read there, and by nobody else; False: nothing was. What is removed cannot be
        brought back."""
        if url in {page.url for page in load_documentation().pages}:
            raise UsageError(f"{url} is part of Footnote and cannot be removed.")
        return await self._database.write(db.remove_from_shelf(url_key(url), self._require_user()), erase=True)

    async def list(self) -> tuple[db.LibraryPage, ...]:
        """Every page, the last read first; the documentation after all others."""
        await self._documentation.ensure_indexed()
        return tuple(await self._database.read(db.list_pages(self._user_id)))

    async def snapshot(self, snapshot_id: str) -> Snapshot | None:
        """The text with this id, as it was read last."""
        return (await self.snapshots([snapshot_id])).get(snapshot_id)

    async def snapshots(self, ids: Iterable[str]) -> dict[str, Snapshot]:
        texts = await self._database.read(db.snapshots([storable_text(one) for one in ids], self._user_id))
        return {snapshot_id: unpack(found) for snapshot_id, found in texts.items()}

    async def latest(self, url: str) -> Snapshot | None:
        """What was last read there."""
        if url.startswith(SCHEME):
            await self._documentation.ensure_indexed()
        found = await self._database.read(db.latest_snapshot(url_key(url), self._user_id))
        return None if found is None else unpack(found)

    async def url_on_domain(self, domain: str) -> str | None:
        """An address of this site, with or without `www.`, at which the user has read something; None: there is
        none."""
        return await self._database.read(db.first_shelf_url(self._require_user(), _url_ranges(storable_text(domain))))

    async def icon_on_domain(self, domain: str) -> str | None:
        """Where the icon of a page of this site is, that the user has read last; None: none is known."""
        return await self._database.read(db.icon_on_shelf(self._require_user(), _url_ranges(storable_text(domain))))

    async def search(self, query: str, count: int) -> tuple[SearchHit, ...]:
        """The pages that answer the query, the best first, each with the passage that fits best. Often none."""
        await self._documentation.ensure_indexed()
        question = parse_question(storable_text(query))
        frequencies = await self._database.read(index.term_frequencies(question.terms))
        if not frequencies.by_term:
            return ()
        candidates = await self._database.read(index.candidates(frequencies, MAX_CANDIDATES, self._user_id))
        best = (await asyncio.to_thread(rank_passages, question, frequencies, candidates))[:count]
        texts = await self._database.read(
            db.pages_by_snapshot([fitting.snapshot_id for fitting in best], self._user_id)
        )
        return tuple(_to_hit(unpack(texts[one.snapshot_id]), one, question) for one in best if one.snapshot_id in texts)

    async def cached_page(self, url: str) -> CachedPage | None:
        """Also when it is no longer fresh."""
        kept = await self._database.read(caches.cached_page(url_key(url)))
        if kept is None:
            return None
        fresh, snapshot = kept.freshness, unpack(kept.found)
        if fresh.fresh_until > self._clock():  # who is given it has read it; one that is stale is kept again
            with suppress(DatabaseFailed):  # it can be read all the same
                await self._ensure_on_shelf(snapshot)
        return CachedPage(
            url=fresh.url,
            final_url=fresh.final_url,
            etag=fresh.etag,
            last_modified=fresh.last_modified,
            fetched_at=fresh.fetched_at,
            fresh_until=fresh.fresh_until,
            snapshot=snapshot,
        )

    async def store_page(self, page: CachedPage) -> None:
        """The page with its snapshot, which need not be kept by itself then."""
        snapshot, now = page.snapshot, self._clock()
        freshness = caches.Freshness(
            url_key(page.url),
            storable_text(page.final_url),
            page.etag and storable_text(page.etag),
            page.last_modified and storable_text(page.last_modified),
            page.fetched_at,
            page.fresh_until,
        )
        if (
            await self._is_stored(snapshot)
            and await self._ensure_on_shelf(snapshot)
            and await self._database.write(caches.cache_freshness(freshness, url_key(snapshot.url), snapshot.id, now))
        ):
            return
        entry = await asyncio.to_thread(pack, snapshot)
        await self._database.write(caches.cache_page(freshness, entry, now, self._user_id))

    async def cached_search(self, key: str, now: float) -> SearchResults | None:
        kept = await self._database.read(caches.cached_search(key, now))
        return None if kept is None else msgspec.json.decode(kept, type=SearchResults)

    async def store_search(self, key: str, results: SearchResults, expires: float) -> None:
        await self._database.write(caches.cache_search(key, msgspec.json.encode(results), expires, self._clock()))

    async def _is_stored(self, snapshot: Snapshot) -> bool:
        icon = None if snapshot.icon is None else storable_text(snapshot.icon)
        fetched_at = storable_text(snapshot.fetched_at)
        return await self._database.read(db.is_current(url_key(snapshot.url), snapshot.id, fetched_at, icon))

    async def _ensure_on_shelf(self, snapshot: Snapshot) -> bool:
        """Puts on the shelf what is kept already; False: it was removed meanwhile."""
        url = url_key(snapshot.url)
        if self._user_id is None or await self._database.read(db.has_page(url, self._user_id)):
            return True
        return await self._database.write(db.add_to_shelf(url, snapshot.id, self._user_id))

    def _require_user(self) -> str:
        if self._user_id is None:
            raise ValueError("nobody has files")
        return self._user_id


class _DocumentationState:
    """Indexed when it is first needed, and again when there is another edition of it."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._is_indexed = False
        self._lock = asyncio.Lock()

    async def ensure_indexed(self) -> None:
        async with self._lock:
            if self._is_indexed:
                return
            shipped = await asyncio.to_thread(load_documentation)
            if await self._database.read(db.documentation_edition()) != shipped.edition:
                entries = await asyncio.to_thread(pack_documentation)
                try:
                    await self._database.write(db.store_documentation(shipped.edition, entries, self._clock()))
                except DatabaseFailed as error:  # what else is in the library can still be found
                    log.warning("Footnote's own documentation cannot be searched: %s", error.message)
            self._is_indexed = True


def file_url(name: str) -> str:
    """The address of a person's own file. Letters of any language stay as they are."""
    return FILES_PREFIX + "".join(one if one.isalnum() else quote(one, safe="-._~") for one in storable_text(name))


def _numbered_urls(url: str, user_id: str) -> Iterator[str]:
    """`report.md`, `report-2.md`, `report-3.md`, …; in a folder of the user's own, unless that is the local one."""
    folder = FILES_PREFIX if user_id == LOCAL_USER else f"{FILES_PREFIX}{user_id}/"
    path = PurePath(url.removeprefix(FILES_PREFIX))
    numbered = (f"{folder}{path.stem}-{number}{path.suffix}" for number in count(2))
    return chain([folder + path.name], numbered)


def _url_ranges(domain: str) -> Iterator[tuple[str, str]]:
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


def _to_hit(snapshot: Snapshot, passage: RankedPassage, question: LibraryQuestion) -> SearchHit:
    return SearchHit(
        title=snapshot.title or snapshot.url,
        url=snapshot.url,
        description=excerpt(snapshot.text[passage.start : passage.end], question),
        published=snapshot.published,
        site_name=snapshot.site_name,
    )
