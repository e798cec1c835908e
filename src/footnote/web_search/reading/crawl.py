"""Pages, read side by side under one deadline: a slow or dead one never holds the others back."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from datetime import UTC, datetime
from typing import Literal, Protocol
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from footnote.documents.extract import Extracted, Unreadable
from footnote.net.client import ConnectionFailed, Net
from footnote.net.guard import PageUrl
from footnote.protocol.pages import CachedPage
from footnote.protocol.receipts import PageFailure, PageReport
from footnote.protocol.sources import Snapshot
from footnote.tracing import SLOW, Count, Span, Work
from footnote.web_search.clock import Clock
from footnote.web_search.flights import Flights
from footnote.web_search.reading.download import Caps, Course, Document, Downloader, Terms
from footnote.web_search.reading.fetch import PageFailed, turn_within
from footnote.web_search.reading.freshness import fresh_seconds

STORE_SECONDS = 1.0
"""A cache that takes longer than this saves nothing."""

PAGES = Work("page", "Pages that were to be read.", span="page", classes=SLOW)
BYTES = Count("page_bytes", "Bytes of pages that came over the wire.")

log = logging.getLogger(__name__)


class Page(Struct, frozen=True):
    """One page, read or not: without a snapshot, `report` says why."""

    url: str
    snapshot: Snapshot | None
    report: PageReport


class PageStore(Protocol):
    """Where pages that were read are kept, by the URL that was asked for."""

    async def cached_page(self, url: str) -> CachedPage | None: ...

    async def keep_page(self, page: CachedPage) -> None: ...


class TextExtractor(Protocol):
    """Makes text of a document, or raises `Unreadable`."""

    async def extract(
        self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""
    ) -> Extracted: ...


class _Reading(Struct, frozen=True):
    """Pages that are read together, and until when. `anew`: nothing that was read before counts. `owner`: searches take
    turns in the sandbox, so that one of many pages does not hold up the others."""

    owner: str
    terms: Terms
    seconds: float
    deadline: float
    anew: bool


class _Landing(Course):
    """One page on its way, for all who wait for it: how far it has come, and in the end its text or why there is none.

    `deadline` is the latest one of them. `to_keep` is for the cache; whoever puts it there takes it away here.
    """

    def __init__(self) -> None:
        super().__init__()
        self.deadline = 0.0
        self.cut = False
        self.cache: Literal["fresh", "revalidated"] | None = None
        self.to_keep: CachedPage | None = None
        self.snapshot: Snapshot | None = None
        self.failure: tuple[PageFailure, str] = ("unreadable", "")

    def page(self, asked: str, began: float, now: float) -> Page:
        """As one of them reports it, who asked for it at `began`."""
        report = PageReport(
            url=asked,
            status="failed",
            http_status=self.status,
            final_url=str(self.url) if self.url is not None else None,
            took_ms=round((now - began) * 1000),
            bytes=self.bytes,
            cut=self.cut,
            cache=self.cache,
        )
        if self.snapshot is not None:
            return Page(asked, self.snapshot, replace(report, status="read", characters=len(self.snapshot.text)))
        failure, reason = self.failure
        return Page(asked, None, replace(report, failure=failure, reason=reason))

    def late(self, asked: str, began: float, now: float, seconds: float) -> Page:
        """As one of them reports it who cannot wait any longer."""
        missing = "no answer" if self.status is None else "not finished"
        report = replace(
            self.page(asked, began, now).report,
            status="failed",
            failure="timeout",
            reason=f"{missing} within {seconds:g} seconds",
            characters=0,
        )
        return Page(asked, None, report)


class Crawler:
    """Reads pages. One for all searches, so that the limits of a host hold over all of them."""

    def __init__(
        self,
        net: Net,
        extractor: TextExtractor,
        pages: PageStore | None = None,
        *,
        caps: Caps | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._extractor = extractor
        self._pages = pages
        self._caps = caps or Caps()
        self._clock = clock or Clock()
        self._downloader = Downloader(net, self._caps, self._clock)
        self._flights: Flights[_Landing] = Flights()
        self._landings: dict[str, _Landing] = {}

    async def read(
        self,
        urls: Sequence[str],
        *,
        seconds: float,
        respect_robots: bool = True,
        private_hosts: Collection[str] = (),
        anew: bool = False,
    ) -> AsyncGenerator[Page, None]:
        """Every page, in the order in which they are done; those that are not done after `seconds` as failed.

        `anew`: without the cache. Closing the generator ends all that is under way.
        """
        terms = Terms(respect_robots, frozenset(private_hosts), turn_within(seconds))
        reading = _Reading(uuid4().hex, terms, seconds, asyncio.get_running_loop().time() + seconds, anew)
        tasks = [asyncio.create_task(self._page(url, reading)) for url in urls]
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

    async def _page(self, url: str, reading: _Reading) -> Page:
        """Whoever wants a page that somebody else is just reading waits for that one: what it says is public."""
        began = asyncio.get_running_loop().time()
        key = "\n".join([url, f"{reading.terms.respect_robots} {reading.anew}", *sorted(reading.terms.private_hosts)])
        is_first = key not in self._flights
        landing = self._landings[key] = _Landing() if is_first else self._landings[key]
        landing.deadline = max(landing.deadline, reading.deadline)
        try:
            # The span is entered first: the task of the flight inherits it, with all that is done there.
            with PAGES() as span:
                async with self._flights.hold(key, lambda: self._land(url, landing, reading)) as task:
                    page = await self._landed(task, landing, url, began, reading)
                    _tell(span, landing, page.report, new_bytes=is_first)
                    if landing.to_keep is not None and not reading.anew:
                        to_keep, landing.to_keep = landing.to_keep, None
                        await self._keep(to_keep, reading)
        finally:
            if key not in self._flights:
                self._landings.pop(key, None)
        return page

    async def _landed(
        self, task: asyncio.Task[_Landing], landing: _Landing, url: str, began: float, reading: _Reading
    ) -> Page:
        now = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout_at(reading.deadline):
                landing = await asyncio.shield(task)
        except TimeoutError:
            return landing.late(url, began, now(), reading.seconds)
        return landing.page(url, began, now())

    async def _land(self, url: str, landing: _Landing, reading: _Reading) -> _Landing:
        """Reads a page for all who wait for it. Never raises but when it is cancelled."""
        try:
            landing.snapshot = await self._read(url, landing, reading)
        except TimeoutError:
            missing = "no answer" if landing.status is None else "not finished"
            landing.failure = ("timeout", f"{missing} within {self._caps.seconds:g} seconds")
        except (PageFailed, Unreadable) as error:
            landing.failure = (error.failure, error.reason)
        except ConnectionFailed as error:
            landing.failure = (error.trouble, error.message)
        except Exception:  # a page that breaks us must not take the others with it
            log.exception("Reading a page of %s failed in an unexpected way.", _host(landing))
            landing.failure = ("unreadable", "reading it failed in an unexpected way, which is in the log")
        return landing

    async def _read(self, asked: str, landing: _Landing, reading: _Reading) -> Snapshot:
        url = PageUrl.parse(asked)
        if not url.is_among(reading.terms.private_hosts):
            url.check_host()
        known = None if reading.anew else await self._known(url)
        if known is not None and self._clock.wall() < known.fresh_until:
            landing.url = PageUrl.parse(known.final_url)
            landing.cache = "fresh"
            return known.snapshot
        document = await self._downloader.download(url, known, landing, reading.terms)
        fresh = fresh_seconds(document.headers)
        if document.body is None and known is not None:
            landing.cache = "revalidated"
            if fresh is not None:
                landing.to_keep = replace(known, fresh_until=self._clock.wall() + fresh)
            return known.snapshot
        snapshot = await self._text(document, landing, reading)
        if fresh is not None and not landing.cut:
            landing.to_keep = self._cachable(url, document, snapshot, fresh)
        return snapshot

    async def _text(self, document: Document, landing: _Landing, reading: _Reading) -> Snapshot:
        fetched_at = datetime.fromtimestamp(self._clock.wall(), UTC).isoformat(timespec="seconds")
        left = landing.deadline - asyncio.get_running_loop().time()
        extracted = await self._extractor.extract(
            document.body or b"", document.content_type, str(document.url), seconds=left, owner=reading.owner
        )
        if not extracted.text.strip():
            raise PageFailed("empty", "there is no text on it")
        landing.cut = document.cut or extracted.cut
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

    def _cachable(self, url: PageUrl, document: Document, snapshot: Snapshot, fresh: float) -> CachedPage:
        now = self._clock.wall()
        return CachedPage(
            url=str(url),
            final_url=str(document.url),
            etag=_sendable(document.headers.get("ETag")),
            last_modified=_sendable(document.headers.get("Last-Modified")),
            fetched_at=now,
            fresh_until=now + fresh,
            snapshot=snapshot,
        )

    async def _known(self, url: PageUrl) -> CachedPage | None:
        if self._pages is None:
            return None
        try:
            async with asyncio.timeout(STORE_SECONDS):
                return await self._pages.cached_page(str(url))
        except Exception:  # whatever a database raises: the page is asked for instead
            log.exception("The page cache could not be read; %s is asked for instead.", url.host)
            return None

    async def _keep(self, page: CachedPage, reading: _Reading) -> None:
        """Within the deadline, too: the page is read, and must not become late here."""
        if self._pages is None:
            return
        try:
            async with asyncio.timeout_at(reading.deadline):
                await self._pages.keep_page(page)
        except Exception:  # whatever a database raises: the page is read all the same
            log.exception("A page of %s could not be kept for the next time.", PageUrl.parse(page.url).host)


def _host(landing: _Landing) -> str:
    """What of an address may stand in a log or a trace: the rest of it may be what somebody looks for."""
    return landing.url.host if landing.url is not None else "an address that cannot be read"


def _tell(span: Span, landing: _Landing, report: PageReport, *, new_bytes: bool) -> None:
    span.outcome = report.cache or report.failure or "read"
    if new_bytes:
        BYTES.add(report.bytes)
    if landing.url is not None:
        span.note({"server.address": _host(landing)})
    if landing.status is not None:
        span.note({"http.response.status_code": landing.status})
    span.note({"footnote.page.bytes": report.bytes, "footnote.page.outcome": span.outcome})


def _sendable(header: str | None) -> str | None:
    """What a server sent is sent back only if it can be: some put bytes of any kind into their headers."""
    return header if header and header.isascii() and header.isprintable() else None
