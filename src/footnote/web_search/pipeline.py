"""Find, read, rank, summarise, verify: one search from the question to an answer that can be checked."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec import Struct
from msgspec.structs import replace

from footnote.evidence.check import check_citations
from footnote.evidence.sources import Sources
from footnote.library import Library
from footnote.library.documentation import SCHEME
from footnote.models.base import Model
from footnote.protocol.errors import FootnoteError
from footnote.protocol.messages import Usage
from footnote.protocol.receipts import Disagreement, PageReport, ProviderTry, Receipt, SearchArtifact
from footnote.protocol.sources import SearchHit
from footnote.protocol.tools import Progress
from footnote.web_search import ranking, summary
from footnote.web_search.crawl.crawler import CrawledPage, Crawler
from footnote.web_search.result import (
    disagreement_notes,
    disagreements,
    fallback_notes,
    page_content,
    quote_passages,
    quotes_of,
    search_content,
)
from footnote.web_search.search import ProviderSearch
from footnote.web_search.settings import SearchRequest, WebSearchSettings
from footnote.web_search.sources import SearchSources, collect_sources, domain_of
from footnote.web_search.summary import SearchSummary

log = logging.getLogger(__name__)

CRAWL_TIMEOUT_SECONDS = 8.0
"""The deadline of all pages together: what has not come by then is not waited for."""
MAX_PASSAGE_TOKENS = 6_000
"""How much of the pages a model reads to summarise them; of a page that was asked for by itself, it reads as much."""


class SearchAnswer(Struct, frozen=True):
    """What a search comes to: `content` for the model, `artifact` for the person. `usage`: what the summary cost."""

    content: str
    artifact: SearchArtifact
    usage: Usage | None = None
    failed: bool = False


class _SearchState:
    """One search on its way: what each step found, for the next step and for the receipt."""

    def __init__(self, request: SearchRequest) -> None:
        self.request = request
        self.started_at = time.monotonic()
        self.tries: tuple[ProviderTry, ...] = ()
        self.gathered = SearchSources({}, {}, ())
        self.quotes = ranking.RankedQuotes()
        self.disagreements: tuple[Disagreement, ...] = ()
        self.ranked = ranking.RankedPassages(0, ())
        self.summary = SearchSummary("", "passages")
        self.notes: list[str] = [*request.notes]

    def receipt(self) -> Receipt:
        return Receipt(
            providers=self.tries,
            pages=self.gathered.reports,
            passages_found=self.ranked.section_count,
            passages_kept=len(self.ranked.passages),
            summary_by=self.summary.by if self.summary.text else None,
            took_ms=round((time.monotonic() - self.started_at) * 1000),
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
        finder: ProviderSearch,
        crawler: Crawler,
        library: Library,
    ) -> None:
        self.settings = settings
        self._sources = sources
        self._model = model
        self._finder = finder
        self._crawler = crawler
        self._library = library

    async def search(self, request: SearchRequest) -> AsyncGenerator[Progress | SearchAnswer, None]:
        """Raises `SearchFailed` if no provider answers."""
        course = _SearchState(request)
        yield Progress("searching", label=request.query)
        found = await self._finder.search(request, self.settings)
        course.tries = found.tries
        course.notes += fallback_notes(found.tries)
        hits = found.results.results
        wanted = [hit.url for hit in hits[: self.settings.crawl_count]]
        pages = self._read_library(wanted) if found.results.provider == "library" else self._crawl(wanted)
        async with aclosing(self._read_pages(pages, hits, course)) as steps:
            async for step in steps:
                yield step
        async with aclosing(self._summarise(course)) as steps:
            async for step in steps:
                yield step
        sources = course.gathered.sources.values()
        text = course.summary.text or ("Nothing could be read." if sources else "Nothing was found.")
        told = await asyncio.to_thread(search_content, text, sources, course.notes, course.quotes.passages)
        yield SearchAnswer(told, await self._build_artifact(course), course.summary.usage)

    async def read_page(self, url: str, prompt: str) -> AsyncGenerator[Progress | SearchAnswer, None]:
        """One page that somebody named, on the web or in the library."""
        course = _SearchState(SearchRequest(query=prompt, prompt=prompt, count=1))
        hit = SearchHit(title="", url=url, description="")
        reading = self._read_library([url]) if url.startswith(SCHEME) else self._crawl([url])
        async with aclosing(self._read_pages(reading, (hit,), course)) as steps:
            async for step in steps:
                yield step
        [report] = course.gathered.reports
        text = (
            await asyncio.to_thread(page_content, course.gathered, course.ranked, course.notes)
            if course.gathered.snapshots
            else f"{url} could not be read: {report.reason}."
        )
        artifact = await self._build_artifact(course)
        yield SearchAnswer(text, replace(artifact, query=url), failed=not course.gathered.snapshots)

    async def _read_pages(
        self, page_stream: AsyncGenerator[CrawledPage, None], hits: Sequence[SearchHit], state: _SearchState
    ) -> AsyncGenerator[Progress, None]:
        """Collects the pages as they come, makes sources of all that was found, and weighs what they say."""
        total = min(len(hits), self.settings.crawl_count or 1)
        pages: dict[str, CrawledPage] = {}
        async with aclosing(page_stream):
            async for page in page_stream:
                pages[page.url] = page
                yield Progress("reading", len(pages), total, domain_of(page.url))
        state.gathered = collect_sources(hits, pages, self._sources, self.settings.allow_private_hosts)
        # Side by side: the deadline is over, and somebody waits.
        unkept, _ = await asyncio.gather(self._store_snapshots(state.gathered), self._rank_passages(state))
        state.notes += unkept

    def _crawl(self, urls: Sequence[str]) -> AsyncGenerator[CrawledPage, None]:
        return self._crawler.read_pages(
            urls,
            timeout_seconds=min(CRAWL_TIMEOUT_SECONDS, self.settings.timeout_seconds),
            respect_robots=self.settings.respect_robots,
            private_hosts=frozenset(self.settings.allow_private_hosts),
            no_cache=not self.settings.cache_ttl_minutes,
        )

    async def _read_library(self, urls: Sequence[str]) -> AsyncGenerator[CrawledPage, None]:
        for url in urls:
            if (snapshot := await self._library.latest(url)) is not None:
                report = PageReport(url=url, status="read", cache="library", characters=len(snapshot.text))
                yield CrawledPage(url, snapshot, report)
            else:
                yield CrawledPage(
                    url, None, PageReport(url=url, status="failed", reason="the library has no such text")
                )

    async def _store_snapshots(self, gathered: SearchSources) -> list[str]:
        """Puts what was read into the library. A search that cannot be kept is still an answer, and says so."""
        try:
            for number, snapshot in gathered.snapshots.items():
                whole = gathered.sources[number].status == "read"
                await self._library.store(snapshot, "web" if whole else "snippet")
        except FootnoteError as error:
            log.warning("What was read could not be kept: %s", error.message)
            return [f"What was read could not be kept, so that it cannot be opened later: {error.message}"]
        return []

    async def _rank_passages(self, state: _SearchState) -> None:
        snapshots, request = state.gathered.snapshots, state.request
        window = MAX_PASSAGE_TOKENS if self._model is None else min(MAX_PASSAGE_TOKENS, self._model.profile.window // 4)

        def weigh() -> tuple[ranking.RankedQuotes, ranking.RankedPassages]:
            return (
                ranking.select_quotes(snapshots, request.query, request.prompt),
                ranking.rank_passages(snapshots, request.query, request.prompt, max_tokens=window),
            )

        state.quotes, state.ranked = await asyncio.to_thread(weigh)
        state.disagreements = disagreements(request.query, state.quotes, state.gathered.sources)
        state.notes += disagreement_notes(state.disagreements)
        left_out = state.ranked.section_count - len(state.ranked.passages)
        if left_out:
            state.notes.append(
                f"{left_out} of {state.ranked.section_count} passages were left out as the least fitting."
            )

    async def _summarise(self, state: _SearchState) -> AsyncGenerator[Progress, None]:
        """By the model; by quotations where there is none, or where it fails."""
        yield Progress("summarising")
        state.summary = SearchSummary(quote_passages(state.quotes.passages), "passages")
        if self._model is None or not state.ranked.passages:
            return
        writing = summary.summarise_with_model(self._model, state.request, state.ranked.passages, self._sources)
        async with aclosing(writing) as steps:
            async for step in steps:
                if isinstance(step, int):
                    yield Progress("summarising", step)
                elif step.text:
                    state.summary = step
                else:
                    state.summary = replace(state.summary, usage=step.usage)
                    state.notes.append(f"{step.note}; the summary is put together from quotations.")

    async def _build_artifact(self, state: _SearchState) -> SearchArtifact:
        citations = await asyncio.to_thread(check_citations, state.summary.text, self._sources)
        return SearchArtifact(
            query=state.request.query,
            sources=tuple(
                replace(source, quotes=quotes_of(source, state.quotes.passages, citations))
                for source in state.gathered.sources.values()
            ),
            summary=state.summary.text,
            citations=citations,
            passages=state.quotes.passages,
            disagreements=state.disagreements,
            receipt=state.receipt(),
        )
