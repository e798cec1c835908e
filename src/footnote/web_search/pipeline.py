"""Find, read, rank, summarise, verify: one search from the question to an answer that can be checked."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec import Struct
from msgspec.structs import replace

from footnote.citations.check import check
from footnote.citations.numbering import Sources
from footnote.library import Library
from footnote.library.documentation import SCHEME
from footnote.models.base import Model
from footnote.protocol.errors import FootnoteError
from footnote.protocol.messages import Usage
from footnote.protocol.receipts import Disagreement, PageReport, ProviderTry, Receipt, SearchArtifact
from footnote.protocol.sources import SearchHit
from footnote.protocol.tools import Progress
from footnote.web_search import rank, summarise
from footnote.web_search.compose import (
    content,
    detours,
    disagreement_notes,
    disagreements,
    page_content,
    quoted,
    quotes_of,
)
from footnote.web_search.finding.find import Finder
from footnote.web_search.gather import Gathered, domain_of, gather
from footnote.web_search.reading.crawl import Crawler, Page
from footnote.web_search.settings import SearchRequest, WebSearchSettings
from footnote.web_search.summarise import Summary

log = logging.getLogger(__name__)

READING_SECONDS = 8.0
"""The deadline of all pages together: what has not come by then is not waited for."""
MATERIAL_TOKENS = 6_000
"""How much of the pages a model reads to summarise them; of a page that was asked for by itself, it reads as much."""


class Answer(Struct, frozen=True):
    """What a search comes to: `content` for the model, `artifact` for the person. `usage`: what the summary cost."""

    content: str
    artifact: SearchArtifact
    usage: Usage | None = None
    failed: bool = False


class _Course:
    """One search on its way: what each step found, for the next step and for the receipt."""

    def __init__(self, request: SearchRequest) -> None:
        self.request = request
        self.began = time.monotonic()
        self.tries: tuple[ProviderTry, ...] = ()
        self.gathered = Gathered({}, {}, ())
        self.quotes = rank.Quoted()
        self.disagreements: tuple[Disagreement, ...] = ()
        self.ranked = rank.Ranked(0, ())
        self.summary = Summary("", "passages")
        self.notes: list[str] = [*request.notes]

    def receipt(self) -> Receipt:
        return Receipt(
            providers=self.tries,
            pages=self.gathered.reports,
            passages_found=self.ranked.found,
            passages_kept=len(self.ranked.passages),
            summary_by=self.summary.by if self.summary.text else None,
            took_ms=round((time.monotonic() - self.began) * 1000),
            notes=tuple(self.notes),
        )


class WebSearch:
    """The search of one run: with the model that summarises (None: nobody does) and the sources of its session."""

    def __init__(
        self,
        settings: WebSearchSettings,
        sources: Sources,
        model: Model | None,
        *,
        finder: Finder,
        crawler: Crawler,
        library: Library,
    ) -> None:
        self.settings = settings
        self._sources = sources
        self._model = model
        self._finder = finder
        self._crawler = crawler
        self._library = library

    async def search(self, request: SearchRequest) -> AsyncGenerator[Progress | Answer, None]:
        """Raises `SearchFailed` if no provider answers."""
        course = _Course(request)
        yield Progress("searching", label=request.query)
        found = await self._finder.find(request, self.settings)
        course.tries = found.tries
        course.notes += detours(found.tries)
        hits = found.results.results
        wanted = [hit.url for hit in hits[: self.settings.crawl_count]]
        pages = self._kept(wanted) if found.results.provider == "library" else self._crawled(wanted)
        async with aclosing(self._read(pages, hits, course)) as steps:
            async for step in steps:
                yield step
        async with aclosing(self._summarise(course)) as steps:
            async for step in steps:
                yield step
        sources = course.gathered.sources.values()
        text = course.summary.text or ("Nothing could be read." if sources else "Nothing was found.")
        told = await asyncio.to_thread(content, text, sources, course.notes, course.quotes.passages)
        yield Answer(told, await self._artifact(course), course.summary.usage)

    async def read_page(self, url: str, prompt: str) -> AsyncGenerator[Progress | Answer, None]:
        """One page that somebody named, on the web or in the library."""
        course = _Course(SearchRequest(query=prompt, prompt=prompt, count=1))
        hit = SearchHit(title="", url=url, description="")
        reading = self._kept([url]) if url.startswith(SCHEME) else self._crawled([url])
        async with aclosing(self._read(reading, (hit,), course)) as steps:
            async for step in steps:
                yield step
        [report] = course.gathered.reports
        text = (
            await asyncio.to_thread(page_content, course.gathered, course.ranked, course.notes)
            if course.gathered.snapshots
            else f"{url} could not be read: {report.reason}."
        )
        artifact = await self._artifact(course)
        yield Answer(text, replace(artifact, query=url), failed=not course.gathered.snapshots)

    async def _read(
        self, reading: AsyncGenerator[Page, None], hits: Sequence[SearchHit], course: _Course
    ) -> AsyncGenerator[Progress, None]:
        """Collects the pages as they come, makes sources of all that was found, and weighs what they say."""
        total = min(len(hits), self.settings.crawl_count or 1)
        pages: dict[str, Page] = {}
        async with aclosing(reading):
            async for page in reading:
                pages[page.url] = page
                yield Progress("reading", len(pages), total, domain_of(page.url))
        course.gathered = gather(hits, pages, self._sources, self.settings.allow_private_hosts)
        # Side by side: the deadline is over, and somebody waits.
        unkept, _ = await asyncio.gather(self._keep(course.gathered), self._weigh(course))
        course.notes += unkept

    def _crawled(self, urls: Sequence[str]) -> AsyncGenerator[Page, None]:
        return self._crawler.read(
            urls,
            seconds=min(READING_SECONDS, self.settings.timeout_seconds),
            respect_robots=self.settings.respect_robots,
            private_hosts=frozenset(self.settings.allow_private_hosts),
            anew=not self.settings.cache_ttl_minutes,
        )

    async def _kept(self, urls: Sequence[str]) -> AsyncGenerator[Page, None]:
        for url in urls:
            if (snapshot := await self._library.latest(url)) is not None:
                report = PageReport(url=url, status="read", cache="library", characters=len(snapshot.text))
                yield Page(url, snapshot, report)
            else:
                yield Page(url, None, PageReport(url=url, status="failed", reason="the library has no such text"))

    async def _keep(self, gathered: Gathered) -> list[str]:
        """Puts what was read into the library. A search that cannot be kept is still an answer, and says so."""
        try:
            for number, snapshot in gathered.snapshots.items():
                whole = gathered.sources[number].status == "read"
                await self._library.keep(snapshot, "web" if whole else "snippet")
        except FootnoteError as error:
            log.warning("What was read could not be kept: %s", error.message)
            return [f"What was read could not be kept, so that it cannot be opened later: {error.message}"]
        return []

    async def _weigh(self, course: _Course) -> None:
        snapshots, request = course.gathered.snapshots, course.request
        window = MATERIAL_TOKENS if self._model is None else min(MATERIAL_TOKENS, self._model.profile.window // 4)

        def weigh() -> tuple[rank.Quoted, rank.Ranked]:
            return (
                rank.quotes(snapshots, request.query, request.prompt),
                rank.passages(snapshots, request.query, request.prompt, tokens=window),
            )

        course.quotes, course.ranked = await asyncio.to_thread(weigh)
        course.disagreements = disagreements(request.query, course.quotes, course.gathered.sources)
        course.notes += disagreement_notes(course.disagreements)
        left_out = course.ranked.found - len(course.ranked.passages)
        if left_out:
            course.notes.append(f"{left_out} of {course.ranked.found} passages were left out as the least fitting.")

    async def _summarise(self, course: _Course) -> AsyncGenerator[Progress, None]:
        """By the model; by quotations where there is none, or where it fails."""
        yield Progress("summarising")
        course.summary = Summary(quoted(course.quotes.passages), "passages")
        if self._model is None or not course.ranked.passages:
            return
        writing = summarise.by_model(self._model, course.request, course.ranked.passages, self._sources)
        async with aclosing(writing) as steps:
            async for step in steps:
                if isinstance(step, int):
                    yield Progress("summarising", step)
                elif step.text:
                    course.summary = step
                else:
                    course.summary = replace(course.summary, usage=step.usage)
                    course.notes.append(f"{step.note}; the summary is put together from quotations.")

    async def _artifact(self, course: _Course) -> SearchArtifact:
        citations = await asyncio.to_thread(check, course.summary.text, self._sources)
        return SearchArtifact(
            query=course.request.query,
            sources=tuple(
                replace(source, quotes=quotes_of(source, course.quotes.passages, citations))
                for source in course.gathered.sources.values()
            ),
            summary=course.summary.text,
            citations=citations,
            passages=course.quotes.passages,
            disagreements=course.disagreements,
            receipt=course.receipt(),
        )
