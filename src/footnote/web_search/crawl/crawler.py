"""Reads pages concurrently under one deadline, so that a slow or dead page delays no other."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal, Protocol
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.extract import ExtractedPage, UnreadableDocument
from footnote.net.client import ConnectionFailed, Net
from footnote.net.guard import PageUrl
from footnote.protocol.errors import LimitReached, UnprocessableFile
from footnote.protocol.sources import CachedPage, PageFailure, PageReport, Snapshot
from footnote.sandbox.jobs import ExtractionFailed, ExtractPage
from footnote.sandbox.pool import QueueTimeout, SandboxPool, TimedOut
from footnote.tracing import SLOW_BUCKETS, EventCounter, Operation, TraceSpan
from footnote.web_search.cache import Clock, SingleFlight
from footnote.web_search.crawl.download import (
    CrawlLimits,
    CrawlOptions,
    DownloadedDocument,
    Downloader,
    DownloadState,
    cache_ttl,
)
from footnote.web_search.crawl.fetch import PageFailed, slot_seconds_within

CACHE_TIMEOUT_SECONDS = 1.0
"""A cache that takes longer saves no time."""

MAX_EXTRACTIONS = 12
"""How many pages that are read together wait for the sandbox at a time."""

PAGES = Operation("page", "Pages that were to be read.", span="page", buckets=SLOW_BUCKETS)
BYTES = EventCounter("page_bytes", "Bytes of pages that came over the wire.")

log = logging.getLogger(__name__)


class CrawledPage(Struct, frozen=True):
    """A page after an attempt to read it. Without a snapshot, `report` says why."""

    url: str
    snapshot: Snapshot | None
    report: PageReport


class PageStore(Protocol):
    """A cache of pages, by the URL that was requested."""

    async def cached_page(self, url: str) -> CachedPage | None: ...

    async def store_page(self, page: CachedPage) -> None: ...


class TextExtractor(Protocol):
    """Extracts the text of a document, or raises `UnreadableDocument`."""

    async def extract(
        self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""
    ) -> ExtractedPage: ...


class _PageFetch(Struct, frozen=True):
    """The options and the deadline of pages that are read together. `owner` identifies them in the sandbox, in which
    owners take turns, so that a search with many pages does not delay the others; `extractions` limits how many of its
    pages wait there at a time, because that queue has an end."""

    owner: str
    extractions: asyncio.Semaphore
    options: CrawlOptions
    timeout_seconds: float
    deadline: float
    no_cache: bool


class _PageState(DownloadState):
    """A page that is being read, shared by all searches that wait for it: its progress, and at the end a snapshot or a
    failure.

    `deadline` is the latest of theirs. `to_store` is for the cache; the search that stores it resets it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.deadline = 0.0
        self.truncated = False
        self.cache: Literal["fresh", "revalidated"] | None = None
        self.to_store: CachedPage | None = None
        self.snapshot: Snapshot | None = None
        self.failure: tuple[PageFailure, str] = ("unreadable", "")

    def to_page(self, requested_url: str, started_at: float, now: float) -> CrawledPage:
        """The page for a search that began to wait at `started_at`."""
        report = PageReport(
            url=requested_url,
            status="failed",
            http_status=self.status,
            final_url=str(self.url) if self.url is not None else None,
            took_ms=round((now - started_at) * 1000),
            bytes=self.bytes,
            cut=self.truncated,
            cache=self.cache,
        )
        if self.snapshot is not None:
            return CrawledPage(
                requested_url, self.snapshot, replace(report, status="read", characters=len(self.snapshot.text))
            )
        failure, reason = self.failure
        return CrawledPage(requested_url, None, replace(report, failure=failure, reason=reason))

    def to_late_page(self, requested_url: str, started_at: float, now: float, timeout_seconds: float) -> CrawledPage:
        """The page for a search whose deadline has passed."""
        report = replace(
            self.to_page(requested_url, started_at, now).report,
            status="failed",
            failure="timeout",
            reason=self.timeout_reason(timeout_seconds),
            characters=0,
        )
        return CrawledPage(requested_url, None, report)

    def timeout_reason(self, seconds: float) -> str:
        missing = "no answer" if self.status is None else "not finished"
        return f"{missing} within {seconds:g} seconds"


class Crawler:
    """Reads pages. There is one for all searches, so that they share the limits of each host."""

    def __init__(
        self,
        net: Net,
        extractor: TextExtractor,
        store: PageStore | None = None,
        *,
        limits: CrawlLimits | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._extractor = extractor
        self._store = store
        self._limits = limits or CrawlLimits()
        self._clock = clock or Clock()
        self._downloader = Downloader(net, self._limits, self._clock)
        self._flights: SingleFlight[_PageState] = SingleFlight()
        self._states: dict[str, _PageState] = {}

    async def read_pages(
        self,
        urls: Sequence[str],
        *,
        timeout_seconds: float,
        respect_robots: bool = True,
        private_hosts: Collection[str] = (),
        no_cache: bool = False,
    ) -> AsyncGenerator[CrawledPage, None]:
        """Yields every page, in the order in which they are done; after `timeout_seconds` the others as failed.

        `no_cache`: neither reads nor fills the cache. Closing the generator cancels the requests in progress.
        """
        options = CrawlOptions(respect_robots, frozenset(private_hosts), slot_seconds_within(timeout_seconds))
        deadline = asyncio.get_running_loop().time() + timeout_seconds
        extractions = asyncio.Semaphore(MAX_EXTRACTIONS)
        fetch = _PageFetch(uuid4().hex, extractions, options, timeout_seconds, deadline, no_cache)
        tasks = [asyncio.create_task(self._read_page(url, fetch)) for url in urls]
        pending = set(tasks)
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=tasks.index):
                    yield task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def cached_urls(self, urls: Sequence[str]) -> frozenset[str]:
        """Those whose pages are in the cache and need no request."""
        found: set[str] = set()
        for url in urls:
            with suppress(PageFailed):
                cached = await self._cached_page(PageUrl.parse(url))
                if cached is not None and self._clock.wall() < cached.fresh_until:
                    found.add(url)
        return frozenset(found)

    async def _read_page(self, url: str, fetch: _PageFetch) -> CrawledPage:
        """Reads a page. One that another search is reading is awaited instead of fetched twice; its text is public, so
        sharing it leaks nothing."""
        started_at = asyncio.get_running_loop().time()
        key = "\n".join([url, f"{fetch.options.respect_robots} {fetch.no_cache}", *sorted(fetch.options.private_hosts)])
        is_first = key not in self._flights
        state = self._states[key] = _PageState() if is_first else self._states[key]
        state.deadline = max(state.deadline, fetch.deadline)
        try:
            # The span is entered before the task is created, so that the task inherits it.
            with PAGES() as span:
                async with self._flights.join_task(key, lambda: self._fetch_page(url, state, fetch)) as task:
                    page = await self._await_page(task, state, url, started_at, fetch)
                    _record_span(span, state, page.report, count_bytes=is_first)
                    if state.to_store is not None and not fetch.no_cache:
                        entry, state.to_store = state.to_store, None
                        await self._store_page(entry, fetch)
        finally:
            if key not in self._flights:
                self._states.pop(key, None)
        return page

    async def _await_page(
        self, task: asyncio.Task[_PageState], state: _PageState, url: str, started_at: float, fetch: _PageFetch
    ) -> CrawledPage:
        now = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout_at(fetch.deadline):
                state = await asyncio.shield(task)
        except TimeoutError:
            return state.to_late_page(url, started_at, now(), fetch.timeout_seconds)
        return state.to_page(url, started_at, now())

    async def _fetch_page(self, url: str, state: _PageState, fetch: _PageFetch) -> _PageState:
        """Reads a page for all searches that wait for it. Raises nothing except for a cancellation."""
        try:
            state.snapshot = await self._load(url, state, fetch)
        except TimeoutError:
            state.failure = ("timeout", state.timeout_reason(self._limits.timeout_seconds))
        except (PageFailed, UnreadableDocument) as error:
            state.failure = (error.failure, error.reason)
        except ConnectionFailed as error:
            state.failure = (error.kind, error.message)
        except Exception:  # a bug that one page triggers must not end the whole search
            log.exception("Reading a page of %s failed in an unexpected way.", _log_host(state))
            state.failure = ("unreadable", "reading it failed in an unexpected way, which is in the log")
        return state

    async def _load(self, requested_url: str, state: _PageState, fetch: _PageFetch) -> Snapshot:
        url = PageUrl.parse(requested_url)
        if not url.is_allowed_private(fetch.options.private_hosts):
            url.check_host()
        cached = None if fetch.no_cache else await self._cached_page(url)
        if cached is not None and self._clock.wall() < cached.fresh_until:
            state.url = PageUrl.parse(cached.final_url)
            state.cache = "fresh"
            return cached.snapshot
        document = await self._downloader.download(url, cached, state, fetch.options)
        ttl_seconds = cache_ttl(document.headers)
        if document.body is None and cached is not None:
            state.cache = "revalidated"
            if ttl_seconds is not None:
                state.to_store = replace(cached, fresh_until=self._clock.wall() + ttl_seconds)
            return cached.snapshot
        async with fetch.extractions:
            snapshot = await self._extract(document, state, fetch)
        if ttl_seconds is not None and not state.truncated:
            state.to_store = self._cache_entry(url, document, snapshot, ttl_seconds)
        return snapshot

    async def _extract(self, document: DownloadedDocument, state: _PageState, fetch: _PageFetch) -> Snapshot:
        fetched_at = datetime.fromtimestamp(self._clock.wall(), UTC).isoformat(timespec="seconds")
        seconds_left = state.deadline - asyncio.get_running_loop().time()
        extracted = await self._extractor.extract(
            document.body or b"", document.content_type, str(document.url), seconds=seconds_left, owner=fetch.owner
        )
        if not extracted.text.strip():
            raise PageFailed("empty", "there is no text on it")
        state.truncated = document.truncated or extracted.cut
        return Snapshot(
            url=str(document.url),
            text=extracted.text,
            title=extracted.title,
            author=extracted.author,
            published=extracted.published,
            language=extracted.language,
            site_name=extracted.site_name,
            canonical_url=extracted.canonical_url,
            icon=extracted.icon,
            media_type=extracted.media_type,
            fetched_at=fetched_at,
            links=extracted.links,
            pages=extracted.pages,
        )

    def _cache_entry(
        self, url: PageUrl, document: DownloadedDocument, snapshot: Snapshot, ttl_seconds: float
    ) -> CachedPage:
        now = self._clock.wall()
        return CachedPage(
            url=str(url),
            final_url=str(document.url),
            etag=_printable_header(document.headers.get("ETag")),
            last_modified=_printable_header(document.headers.get("Last-Modified")),
            fetched_at=now,
            fresh_until=now + ttl_seconds,
            snapshot=snapshot,
        )

    async def _cached_page(self, url: PageUrl) -> CachedPage | None:
        if self._store is None:
            return None
        try:
            async with asyncio.timeout(CACHE_TIMEOUT_SECONDS):
                return await self._store.cached_page(str(url))
        except Exception:  # whatever a database raises: the page is requested instead
            log.exception("The page cache could not be read; %s is asked for instead.", url.host)
            return None

    async def _store_page(self, page: CachedPage, fetch: _PageFetch) -> None:
        """Stores a page within the deadline: a slow store must not delay a page that is already read."""
        if self._store is None:
            return
        try:
            async with asyncio.timeout_at(fetch.deadline):
                await self._store.store_page(page)
        except Exception:  # whatever a database raises: the search has its page already
            log.exception("A page of %s could not be kept for the next time.", PageUrl.parse(page.url).host)


def _log_host(state: _PageState) -> str:
    """The host, the only part of a URL that may be logged: the rest may show what a user searches for."""
    return state.url.host if state.url is not None else "an address that cannot be read"


def _record_span(span: TraceSpan, state: _PageState, report: PageReport, *, count_bytes: bool) -> None:
    span.outcome = report.cache or report.failure or "read"
    if count_bytes:
        BYTES.add(report.bytes)
    if state.url is not None:
        span.set_attributes({"server.address": _log_host(state)})
    if state.status is not None:
        span.set_attributes({"http.response.status_code": state.status})
    span.set_attributes({"footnote.page.bytes": report.bytes, "footnote.page.outcome": span.outcome})


def _printable_header(header: str | None) -> str | None:
    """A header that can be sent back to the server; None for one with other bytes, which some servers send."""
    return header if header and header.isascii() and header.isprintable() else None


# The text of downloaded documents ------------------------------------------------------------------------


TIMEOUT_SECONDS = 10.0
"""Time limit for one document without its wait in the queue: two documents that hang must not make all others miss
their deadline."""

EXTRACTIONS = Operation("extraction", "Extractions of the text of web documents.", span="extract", buckets=SLOW_BUCKETS)

_FAILED_REASON = "it could not be taken apart"


class Extractor:
    def __init__(self, sandbox: SandboxPool) -> None:
        self._sandbox = sandbox

    async def extract(
        self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""
    ) -> ExtractedPage:
        """The text of a document; raises `UnreadableDocument`. `seconds` include the wait in the queue, in which
        owners, such as searches, take turns."""
        with EXTRACTIONS():
            return await self._extract(ExtractPage(content=body, content_type=content_type, url=url), seconds, owner)

    async def _extract(self, job: ExtractPage, seconds: float, owner: str) -> ExtractedPage:
        try:
            result = await self._sandbox.run(job, TIMEOUT_SECONDS, user=owner, within=seconds)
        except QueueTimeout:
            raise UnreadableDocument(
                "timeout", f"its turn to be taken apart did not come within {seconds:g} seconds"
            ) from None
        except TimedOut:
            raise UnreadableDocument(
                "timeout", f"{_FAILED_REASON} within {min(seconds, TIMEOUT_SECONDS):.3g} seconds"
            ) from None
        except LimitReached:
            raise UnreadableDocument("timeout", "too many documents are waiting to be taken apart") from None
        except UnprocessableFile:
            raise UnreadableDocument("unreadable", _FAILED_REASON) from None
        if isinstance(result, ExtractionFailed):
            raise UnreadableDocument(result.failure, result.reason)
        return result
