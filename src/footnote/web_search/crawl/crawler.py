"""Pages, read side by side under one deadline: a slow or dead one never holds the others back."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from datetime import UTC, datetime
from typing import Literal, Protocol
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.extract import ExtractedPage, UnreadableDocument
from footnote.net.client import ConnectionFailed, Net
from footnote.net.guard import PageUrl
from footnote.protocol.pages import CachedPage
from footnote.protocol.receipts import PageFailure, PageReport
from footnote.protocol.sources import Snapshot
from footnote.tracing import SLOW_BUCKETS, EventCounter, Operation, TraceSpan
from footnote.web_search.clock import Clock
from footnote.web_search.crawl.download import (
    CrawlLimits,
    CrawlOptions,
    DownloadedDocument,
    Downloader,
    DownloadState,
    cache_ttl,
)
from footnote.web_search.crawl.fetch import PageFailed, slot_seconds_within
from footnote.web_search.single_flight import SingleFlight

CACHE_TIMEOUT_SECONDS = 1.0
"""A cache that takes longer than this saves nothing."""

PAGES = Operation("page", "Pages that were to be read.", span="page", buckets=SLOW_BUCKETS)
BYTES = EventCounter("page_bytes", "Bytes of pages that came over the wire.")

log = logging.getLogger(__name__)


class CrawledPage(Struct, frozen=True):
    """One page, read or not: without a snapshot, `report` says why."""

    url: str
    snapshot: Snapshot | None
    report: PageReport


class PageStore(Protocol):
    """Where pages that were read are kept, by the URL that was asked for."""

    async def cached_page(self, url: str) -> CachedPage | None: ...

    async def store_page(self, page: CachedPage) -> None: ...


class TextExtractor(Protocol):
    """Makes text of a document, or raises `Unreadable`."""

    async def extract(
        self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""
    ) -> ExtractedPage: ...


class _PageFetch(Struct, frozen=True):
    """Pages that are read together, and until when. `anew`: nothing that was read before counts. `owner`: searches take
    turns in the sandbox, so that one of many pages does not hold up the others."""

    owner: str
    options: CrawlOptions
    timeout_seconds: float
    deadline: float
    no_cache: bool


class _PageState(DownloadState):
    """One page on its way, for all who wait for it: how far it has come, and in the end its text or why there is none.

    `deadline` is the latest one of them. `to_keep` is for the cache; whoever puts it there takes it away here.
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
        """As one of them reports it, who asked for it at `began`."""
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
        """As one of them reports it who cannot wait any longer."""
        missing = "no answer" if self.status is None else "not finished"
        report = replace(
            self.to_page(requested_url, started_at, now).report,
            status="failed",
            failure="timeout",
            reason=f"{missing} within {timeout_seconds:g} seconds",
            characters=0,
        )
        return CrawledPage(requested_url, None, report)


class Crawler:
    """Reads pages. One for all searches, so that the limits of a host hold over all of them."""

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
        """Every page, in the order in which they are done; those that are not done after `seconds` as failed.

        `anew`: without the cache. Closing the generator ends all that is under way.
        """
        terms = CrawlOptions(respect_robots, frozenset(private_hosts), slot_seconds_within(timeout_seconds))
        reading = _PageFetch(
            uuid4().hex, terms, timeout_seconds, asyncio.get_running_loop().time() + timeout_seconds, no_cache
        )
        tasks = [asyncio.create_task(self._read_page(url, reading)) for url in urls]
        waiting = set(tasks)
        try:
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=tasks.index):
                    yield task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read_page(self, url: str, fetch: _PageFetch) -> CrawledPage:
        """Whoever wants a page that somebody else is just reading waits for that one: what it says is public."""
        began = asyncio.get_running_loop().time()
        key = "\n".join([url, f"{fetch.options.respect_robots} {fetch.no_cache}", *sorted(fetch.options.private_hosts)])
        is_first = key not in self._flights
        landing = self._states[key] = _PageState() if is_first else self._states[key]
        landing.deadline = max(landing.deadline, fetch.deadline)
        try:
            # The span is entered first: the task of the flight inherits it, with all that is done there.
            with PAGES() as span:
                async with self._flights.join_task(key, lambda: self._fetch_page(url, landing, fetch)) as task:
                    page = await self._await_page(task, landing, url, began, fetch)
                    _record_span(span, landing, page.report, count_bytes=is_first)
                    if landing.to_store is not None and not fetch.no_cache:
                        to_keep, landing.to_store = landing.to_store, None
                        await self._store_page(to_keep, fetch)
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
        """Reads a page for all who wait for it. Never raises but when it is cancelled."""
        try:
            state.snapshot = await self._load(url, state, fetch)
        except TimeoutError:
            missing = "no answer" if state.status is None else "not finished"
            state.failure = ("timeout", f"{missing} within {self._limits.timeout_seconds:g} seconds")
        except (PageFailed, UnreadableDocument) as error:
            state.failure = (error.failure, error.reason)
        except ConnectionFailed as error:
            state.failure = (error.kind, error.message)
        except Exception:  # a page that breaks us must not take the others with it
            log.exception("Reading a page of %s failed in an unexpected way.", _log_host(state))
            state.failure = ("unreadable", "reading it failed in an unexpected way, which is in the log")
        return state

    async def _load(self, requested_url: str, state: _PageState, fetch: _PageFetch) -> Snapshot:
        url = PageUrl.parse(requested_url)
        if not url.is_allowed_private(fetch.options.private_hosts):
            url.check_host()
        known = None if fetch.no_cache else await self._cached_page(url)
        if known is not None and self._clock.wall() < known.fresh_until:
            state.url = PageUrl.parse(known.final_url)
            state.cache = "fresh"
            return known.snapshot
        document = await self._downloader.download(url, known, state, fetch.options)
        fresh = cache_ttl(document.headers)
        if document.body is None and known is not None:
            state.cache = "revalidated"
            if fresh is not None:
                state.to_store = replace(known, fresh_until=self._clock.wall() + fresh)
            return known.snapshot
        snapshot = await self._extract(document, state, fetch)
        if fresh is not None and not state.truncated:
            state.to_store = self._cache_entry(url, document, snapshot, fresh)
        return snapshot

    async def _extract(self, document: DownloadedDocument, state: _PageState, fetch: _PageFetch) -> Snapshot:
        fetched_at = datetime.fromtimestamp(self._clock.wall(), UTC).isoformat(timespec="seconds")
        left = state.deadline - asyncio.get_running_loop().time()
        extracted = await self._extractor.extract(
            document.body or b"", document.content_type, str(document.url), seconds=left, owner=fetch.owner
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
        except Exception:  # whatever a database raises: the page is asked for instead
            log.exception("The page cache could not be read; %s is asked for instead.", url.host)
            return None

    async def _store_page(self, page: CachedPage, fetch: _PageFetch) -> None:
        """Within the deadline, too: the page is read, and must not become late here."""
        if self._store is None:
            return
        try:
            async with asyncio.timeout_at(fetch.deadline):
                await self._store.store_page(page)
        except Exception:  # whatever a database raises: the page is read all the same
            log.exception("A page of %s could not be kept for the next time.", PageUrl.parse(page.url).host)


def _log_host(state: _PageState) -> str:
    """What of an address may stand in a log or a trace: the rest of it may be what somebody looks for."""
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
    """What a server sent is sent back only if it can be: some put bytes of any kind into their headers."""
    return header if header and header.isascii() and header.isprintable() else None
