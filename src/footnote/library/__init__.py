"""The library: pages that were read, files that users added, and Footnote's own documentation, searchable offline."""

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

from footnote.db import fulltext
from footnote.db import library as db
from footnote.db.engine import Database
from footnote.db.errors import DatabaseFailed
from footnote.db.library import Kind, LibraryPage
from footnote.library.documentation import SCHEME, load_documentation, pack_documentation
from footnote.library.relevance import LibraryQuestion, RankedPassage, parse_question, passage_excerpt, rank_passages
from footnote.library.snapshots import pack, storable_text, unpack, url_key
from footnote.protocol.accounts import LOCAL_USER
from footnote.protocol.errors import UsageError
from footnote.protocol.sources import CachedPage, SearchHit, SearchResults, Snapshot

__all__ = ["Kind", "Library", "LibraryPage", "file_url"]


MAX_CANDIDATES = 120
"""The number of passages that are ranked."""
FILES_PREFIX = f"{SCHEME}files/"

log = logging.getLogger(__name__)


class Library:
    """The texts that one user has read and added. Many libraries, also of several processes, may share a database.

    `user_id` None: a library without a user, for the caches alone. It has no shelf, the list of a user's pages.
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
        other._user_id = user_id  # noqa: SLF001 - the same class
        return other

    async def store(self, snapshot: Snapshot, kind: Literal["web", "snippet"] = "web") -> None:
        """Stores a text that was read, so that it can be opened by its id. A `snippet` is not the whole page: it is not
        searched, and does not replace the text of the page."""
        if kind == "web" and await self._is_stored(snapshot) and await self._ensure_on_shelf(snapshot):
            return
        # The page of an uploaded file or of the documentation keeps its own text.
        is_separate = kind == "snippet" or snapshot.url.startswith(SCHEME)
        entry = await asyncio.to_thread(pack, snapshot, searchable=not is_separate)
        now = self._clock()
        script = (
            db.store_snapshot(entry, now, self._user_id)
            if is_separate
            else db.store_page(entry, "web", now, user_id=self._user_id)
        )
        await self._database.write(script)

    async def add(self, snapshot: Snapshot, origin: str) -> Snapshot:
        """Adds a file of the user, and returns its snapshot with the final URL. A file of the same name with the same
        `origin` or the same text is replaced; for any other, the URL gets a number."""
        user_id = self._require_user()
        entry = await asyncio.to_thread(pack, snapshot)
        urls = partial(_numbered_urls, entry.reading.url, user_id)
        url = await self._database.write(db.add_upload(entry, urls, storable_text(origin), self._clock(), user_id))
        return replace(snapshot, url=url)

    async def remove(self, url: str) -> bool:
        """Removes a page, with all of its texts that no other page or user has, for good. False: there is no such
        page."""
        if url in {page.url for page in load_documentation().pages}:
            raise UsageError(f"{url} is part of Footnote and cannot be removed.")
        return await self._database.write(db.remove_from_shelf(url_key(url), self._require_user()), erase=True)

    async def list(self) -> tuple[db.LibraryPage, ...]:
        """Every page, the most recent first, then the documentation."""
        await self._documentation.ensure_indexed()
        return tuple(await self._database.read(db.list_pages(self._user_id)))

    async def snapshot(self, snapshot_id: str) -> Snapshot | None:
        """The text with this id, with the metadata of the last time that it was read."""
        return (await self.snapshots([snapshot_id])).get(snapshot_id)

    async def snapshots(self, ids: Iterable[str]) -> dict[str, Snapshot]:
        texts = await self._database.read(db.snapshots([storable_text(one) for one in ids], self._user_id))
        return {snapshot_id: unpack(found) for snapshot_id, found in texts.items()}

    async def latest(self, url: str) -> Snapshot | None:
        """The text that was last read at a URL."""
        if url.startswith(SCHEME):
            await self._documentation.ensure_indexed()
        found = await self._database.read(db.latest_snapshot(url_key(url), self._user_id))
        return None if found is None else unpack(found)

    async def url_on_domain(self, domain: str) -> str | None:
        """A URL of this site, with or without `www.`, that the user has read; None: there is none."""
        return await self._database.read(db.first_shelf_url(self._require_user(), _url_ranges(storable_text(domain))))

    async def icon_on_domain(self, domain: str) -> str | None:
        """The icon of the last page of this site that the user has read; None: no icon is known."""
        return await self._database.read(db.icon_on_shelf(self._require_user(), _url_ranges(storable_text(domain))))

    async def search(self, query: str, count: int) -> tuple[SearchHit, ...]:
        """The pages that answer the query, the best first, each with an excerpt of its best passage. Often there are
        none."""
        await self._documentation.ensure_indexed()
        question = parse_question(storable_text(query))
        frequencies = await self._database.read(fulltext.term_frequencies(question.terms))
        if not frequencies.by_term:
            return ()
        candidates = await self._database.read(fulltext.candidates(frequencies, MAX_CANDIDATES, self._user_id))
        best = (await asyncio.to_thread(rank_passages, question, frequencies, candidates))[:count]
        texts = await self._database.read(
            db.pages_by_snapshot([passage.snapshot_id for passage in best], self._user_id)
        )
        return tuple(_to_hit(unpack(texts[one.snapshot_id]), one, question) for one in best if one.snapshot_id in texts)

    async def cached_page(self, url: str) -> CachedPage | None:
        """A page from the cache, even if it is stale."""
        row = await self._database.read(db.cached_page(url_key(url)))
        if row is None:
            return None
        freshness, snapshot = row.freshness, unpack(row.found)
        if freshness.fresh_until > self._clock():  # a stale page gets on the shelf when it is stored again
            with suppress(DatabaseFailed):  # the page can still be read
                await self._ensure_on_shelf(snapshot)
        return CachedPage(
            url=freshness.url,
            final_url=freshness.final_url,
            etag=freshness.etag,
            last_modified=freshness.last_modified,
            fetched_at=freshness.fetched_at,
            fresh_until=freshness.fresh_until,
            snapshot=snapshot,
        )

    async def store_page(self, page: CachedPage) -> None:
        """Stores a page in the cache, and its snapshot in the library."""
        snapshot, now = page.snapshot, self._clock()
        freshness = db.Freshness(
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
            and await self._database.write(db.cache_freshness(freshness, url_key(snapshot.url), snapshot.id, now))
        ):
            return
        entry = await asyncio.to_thread(pack, snapshot)
        await self._database.write(db.cache_page(freshness, entry, now, self._user_id))

    async def cached_search(self, key: str, now: float) -> SearchResults | None:
        results = await self._database.read(db.cached_search(key, now))
        return None if results is None else msgspec.json.decode(results, type=SearchResults)

    async def store_search(self, key: str, results: SearchResults, expires: float) -> None:
        await self._database.write(db.cache_search(key, msgspec.json.encode(results), expires, self._clock()))

    async def _is_stored(self, snapshot: Snapshot) -> bool:
        icon = None if snapshot.icon is None else storable_text(snapshot.icon)
        fetched_at = storable_text(snapshot.fetched_at)
        return await self._database.read(db.is_current(url_key(snapshot.url), snapshot.id, fetched_at, icon))

    async def _ensure_on_shelf(self, snapshot: Snapshot) -> bool:
        """Puts a stored text on the user's shelf. False: the text was removed meanwhile."""
        url = url_key(snapshot.url)
        if self._user_id is None or await self._database.read(db.has_page(url, self._user_id)):
            return True
        return await self._database.write(db.add_to_shelf(url, snapshot.id, self._user_id))

    def _require_user(self) -> str:
        if self._user_id is None:
            raise ValueError("this library belongs to no user")
        return self._user_id


class _DocumentationState:
    """Indexes the documentation when it is first needed, and again for another edition."""

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
                except DatabaseFailed as error:  # everything else in the library can still be searched
                    log.warning("Footnote's own documentation cannot be searched: %s", error.message)
            self._is_indexed = True


def file_url(name: str) -> str:
    """The URL of a user's file. Letters of any language are not percent-encoded."""
    return FILES_PREFIX + "".join(
        letter if letter.isalnum() else quote(letter, safe="-._~") for letter in storable_text(name)
    )


def _numbered_urls(url: str, user_id: str) -> Iterator[str]:
    """`report.md`, `report-2.md`, `report-3.md`, …, in a folder of the user unless that is the local user."""
    folder = FILES_PREFIX if user_id == LOCAL_USER else f"{FILES_PREFIX}{user_id}/"
    path = PurePath(url.removeprefix(FILES_PREFIX))
    numbered = (f"{folder}{path.stem}-{number}{path.suffix}" for number in count(2))
    return chain([folder + path.name], numbered)


def _url_ranges(domain: str) -> Iterator[tuple[str, str]]:
    """Ranges that contain all URLs of a site, with any port: after the host comes `/` or `:`."""
    hosts = [domain]
    with suppress(UnicodeError):
        hosts.append(domain.encode("idna").decode())
    if ":" in domain:
        hosts = [f"[{domain}]"]
    for host in dict.fromkeys(hosts):
        for prefix in ("https://", "https://www.", "http://", "http://www."):
            for next_character in "/:":
                yield f"{prefix}{host}{next_character}", f"{prefix}{host}{chr(ord(next_character) + 1)}"


def _to_hit(snapshot: Snapshot, passage: RankedPassage, question: LibraryQuestion) -> SearchHit:
    return SearchHit(
        title=snapshot.title or snapshot.url,
        url=snapshot.url,
        description=passage_excerpt(snapshot.text[passage.start : passage.end], question),
        published=snapshot.published,
        site_name=snapshot.site_name,
    )
