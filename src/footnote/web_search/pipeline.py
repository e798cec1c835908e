"""The steps of one search: find, read, rank, summarise, and check the citations."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from copy import copy

from msgspec import Struct
from msgspec.structs import replace

from footnote.cancel import Cancelled, CancelScope
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.library import Library
from footnote.library.documentation import SCHEME
from footnote.models.base import Model
from footnote.protocol.errors import FootnoteError
from footnote.protocol.messages import Usage
from footnote.protocol.sources import (
    Disagreement,
    EvidencePassage,
    PageReport,
    ProviderTry,
    Receipt,
    SearchArtifact,
    SearchHit,
)
from footnote.protocol.tools import Progress
from footnote.web_search import ranking, summary
from footnote.web_search.crawl.crawler import CrawledPage, Crawler
from footnote.web_search.result import (
    SearchSources,
    collect_sources,
    disagreement_notes,
    disagreements,
    domain_of,
    evidence_text,
    fallback_notes,
    page_content,
    quote_passages,
    quotes_of,
    search_content,
)
from footnote.web_search.search import FoundResults, ProviderSearch, SearchFailed
from footnote.web_search.settings import SearchRequest, WebSearchSettings
from footnote.web_search.summary import SearchSummary

log = logging.getLogger(__name__)

CRAWL_TIMEOUT_SECONDS = 8.0
"""The deadline of all pages together. A page that is not read by then is left out."""
NO_ANSWER_YET = "no answer by the time that the run had to end its searches"
ANSWER_DUE = "not read to its end, because the answer was due"
PAGES_USED_UP = "the pages that this run may read are used up"
MAX_PASSAGE_TOKENS = 6_000
"""The limit for the passages that a model reads to summarise them, and for a single page that it requested."""


class SearchAnswer(Struct, frozen=True):
    """The answer of a search: `content` for the model, `artifact` for the user. `usage`: the tokens of the summary."""

    content: str
    artifact: SearchArtifact
    usage: Usage | None = None
    failed: bool = False


class _SearchState:
    """The results of the steps of one search, for the next step and for the receipt."""

    def __init__(self, request: SearchRequest) -> None:
        self.request = request
        self.started_at = time.monotonic()
        self.tries: tuple[ProviderTry, ...] = ()
        self.collected = SearchSources({}, {}, ())
        self.quotes = ranking.RankedQuotes()
        self.disagreements: tuple[Disagreement, ...] = ()
        self.ranked = ranking.RankedPassages(0, ())
        self.evidence: tuple[EvidencePassage, ...] = ()
        self.summary = SearchSummary("", "passages")
        self.notes: list[str] = [*request.notes]

    def receipt(self) -> Receipt:
        return Receipt(
            providers=self.tries,
            pages=self.collected.reports,
            passages_found=self.ranked.section_count,
            passages_kept=len(self.ranked.passages),
            summary_by=self.summary.by if self.summary.text else None,
            took_ms=round((time.monotonic() - self.started_at) * 1000),
            notes=tuple(self.notes),
        )


class WebSearch:
    """The search of one run. `sources` are those of its session; `model` writes the summary (None: quotations are the
    summary)."""

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
        self._allow_pages: Callable[[int], int] | None = None
        self._closing = CancelScope()

    def within(
        self, limit: Callable[[Model], Model], allow_pages: Callable[[int], int], closing: CancelScope
    ) -> "WebSearch":
        """A copy that keeps to a budget. `limit`: the model with its calls counted. `allow_pages`: how many of so many
        pages may be read now. `closing`: a search ends with what it has."""
        other = copy(self)
        other._closing = closing  # noqa: SLF001 - the same class
        other._model = None if self._model is None else limit(self._model)  # noqa: SLF001 - the same class
        other._allow_pages = allow_pages  # noqa: SLF001 - see above
        return other

    def without_summary(self) -> "WebSearch":
        """A copy for a model that reads the evidence itself, which spares a request for each search."""
        other = copy(self)
        other.settings = replace(self.settings, summary=False)
        return other

    async def search(self, request: SearchRequest) -> AsyncGenerator[Progress | SearchAnswer, None]:
        """Raises `SearchFailed` if no provider answers."""
        state = _SearchState(request)
        yield Progress("searching", label=request.query)
        found = await self._find(request)
        state.tries = found.tries
        state.notes += fallback_notes(found.tries)
        hits = found.results.results
        urls = [hit.url for hit in hits[: self.settings.crawl_count]]
        pages = self._read_library(urls) if found.results.provider == "library" else self.crawl(urls)
        async with aclosing(self._read_pages(pages, hits, state)) as steps:
            async for step in steps:
                yield step
        async with aclosing(self._summarise(state)) as steps:
            async for step in steps:
                yield step
        sources = state.collected.sources.values()
        content = await asyncio.to_thread(
            search_content,
            _summary_text(state),
            sources,
            state.notes,
            passages=state.quotes.passages,
            evidence=evidence_text(state.evidence, state.collected.snapshots),
        )
        yield SearchAnswer(content, await self._build_artifact(state), state.summary.usage)

    async def _find(self, request: SearchRequest) -> FoundResults:
        try:
            return await self._closing.wait(self._finder.search(request, self.settings))
        except Cancelled:
            late = ProviderTry(provider=self.settings.provider, outcome="error", code="timeout", reason=NO_ANSWER_YET)
            raise SearchFailed((late,)) from None

    async def read_page(self, url: str, prompt: str) -> AsyncGenerator[Progress | SearchAnswer, None]:
        """Reads the page at a given URL, on the web or in the library."""
        state = _SearchState(SearchRequest(query=prompt, prompt=prompt, count=1))
        hit = SearchHit(title="", url=url, description="")
        pages = self._read_library([url]) if url.startswith(SCHEME) else self.crawl([url])
        async with aclosing(self._read_pages(pages, (hit,), state)) as steps:
            async for step in steps:
                yield step
        [report] = state.collected.reports
        text = (
            await asyncio.to_thread(page_content, state.collected, state.ranked, state.evidence, state.notes)
            if state.collected.snapshots
            else f"{url} could not be read: {report.reason}."
        )
        artifact = await self._build_artifact(state)
        yield SearchAnswer(text, replace(artifact, query=url), failed=not state.collected.snapshots)

    async def _read_pages(
        self, page_stream: AsyncGenerator[CrawledPage, None], hits: Sequence[SearchHit], state: _SearchState
    ) -> AsyncGenerator[Progress, None]:
        """Collects the pages as they arrive, makes sources of the hits, stores the snapshots and ranks the passages."""
        total = min(len(hits), self.settings.crawl_count or 1)
        pages: dict[str, CrawledPage] = {}
        async with aclosing(page_stream):
            async for page in page_stream:
                pages[page.url] = page
                yield Progress("reading", len(pages), total, domain_of(page.url))
        unread = sum(page.report.reason == PAGES_USED_UP for page in pages.values())
        state.notes += [f"{unread} of {len(pages)} pages were not read: {PAGES_USED_UP}."] if unread else []
        state.collected = collect_sources(hits, pages, self._sources, self.settings.allow_private_hosts)
        # Concurrently, because the user has already waited for the pages.
        store_notes, _ = await asyncio.gather(self.store_snapshots(state.collected), self._rank_passages(state))
        state.notes += store_notes

    async def crawl(
        self, urls: Sequence[str], timeout_seconds: float | None = None
    ) -> AsyncGenerator[CrawledPage, None]:
        """Reads pages of the web, as they arrive. `timeout_seconds` None: within the deadline of a search. Those that
        the budget does not allow come first, unread."""
        allowed = await self._allowed(urls)
        for url in urls:
            if url not in allowed:
                yield CrawledPage(url, None, PageReport(url=url, status="snippet", reason=PAGES_USED_UP))
        pages = self._crawler.read_pages(
            [url for url in urls if url in allowed],
            timeout_seconds=timeout_seconds or min(CRAWL_TIMEOUT_SECONDS, self.settings.timeout_seconds),
            respect_robots=self.settings.respect_robots,
            private_hosts=frozenset(self.settings.allow_private_hosts),
            no_cache=not self.settings.cache_ttl_minutes,
        )
        unread = {url for url in urls if url in allowed}
        async with aclosing(pages):
            with suppress(Cancelled):
                while (page := await self._closing.wait(_next_page(pages))) is not None:
                    unread.discard(page.url)
                    yield page
        for url in unread:
            yield CrawledPage(url, None, PageReport(url=url, status="failed", failure="timeout", reason=ANSWER_DUE))

    async def _allowed(self, urls: Sequence[str]) -> frozenset[str]:
        """Those that may be read within the budget. What is in the cache costs none: a search that is carried out
        again after a crash counts the same pages once."""
        if self._allow_pages is None or not urls:
            return frozenset(urls)
        free = await self._crawler.cached_urls(urls) if self.settings.cache_ttl_minutes else frozenset[str]()
        counted = [url for url in dict.fromkeys(urls) if url not in free]
        return free.union(counted[: self._allow_pages(len(counted))])

    async def _read_library(self, urls: Sequence[str]) -> AsyncGenerator[CrawledPage, None]:
        for url in urls:
            if (snapshot := await self._library.latest(url)) is not None:
                report = PageReport(url=url, status="read", cache="library", characters=len(snapshot.text))
                yield CrawledPage(url, snapshot, report)
            else:
                yield CrawledPage(
                    url, None, PageReport(url=url, status="failed", reason="the library has no such text")
                )

    async def store_snapshots(self, collected: SearchSources) -> list[str]:
        """Stores the snapshots in the library. If that fails, the search still has its answer, with a note."""
        try:
            for number, snapshot in collected.snapshots.items():
                is_page = collected.sources[number].status == "read"
                await self._library.store(snapshot, "web" if is_page else "snippet")
        except FootnoteError as error:
            log.warning("What was read could not be kept: %s", error.message)
            return [f"What was read could not be kept, so that it cannot be opened later: {error.message}"]
        return []

    async def _rank_passages(self, state: _SearchState) -> None:
        snapshots, request = state.collected.snapshots, state.request
        window = MAX_PASSAGE_TOKENS if self._model is None else min(MAX_PASSAGE_TOKENS, self._model.profile.window // 4)

        def rank() -> tuple[ranking.RankedQuotes, ranking.RankedPassages]:
            return (
                ranking.select_quotes(snapshots, request.query, request.prompt),
                ranking.rank_passages(snapshots, request.query, request.prompt, max_tokens=window),
            )

        state.quotes, state.ranked = await asyncio.to_thread(rank)
        state.evidence = self._number_evidence(state)
        state.disagreements = disagreements(request.query, state.quotes, state.collected.sources)
        state.notes += disagreement_notes(state.disagreements, state.evidence)
        left_out = state.ranked.section_count - len(state.ranked.passages)
        if left_out:
            state.notes.append(
                f"{left_out} of {state.ranked.section_count} passages were left out as the least fitting."
            )

    def _number_evidence(self, state: _SearchState) -> tuple[EvidencePassage, ...]:
        """The best passages within the budget, with their ids, and all sides of a disagreement. The model that
        answers reads at least three quarters of its window without them."""
        max_tokens = self.settings.evidence_tokens
        if self._model is not None:
            max_tokens = min(max_tokens, self._model.profile.window // 4)
        sides = [state.quotes.passages[at] for at in state.quotes.conflicts]
        chosen = ranking.select_with(state.ranked.passages, sides, max_tokens)
        snapshots = state.collected.snapshots
        return tuple(
            self._sources.add_evidence(passage.number, snapshots[passage.number], passage.start, passage.end)
            for passage in chosen
        )

    async def _summarise(self, state: _SearchState) -> AsyncGenerator[Progress, None]:
        """The model's summary; without a model, or if the model fails, the quotations. A guided model has none: it
        answers from the evidence at once."""
        if not self.settings.summary or (self._model is not None and self._model.profile.is_guided):
            return
        yield Progress("summarising")
        state.summary = SearchSummary(quote_passages(state.quotes.passages), "passages")
        if self._model is None or not state.ranked.passages:
            return
        summarising = summary.summarise_with_model(
            self._model, state.request, state.ranked.passages, self._sources, self._closing
        )
        async with aclosing(summarising) as steps:
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
                for source in state.collected.sources.values()
            ),
            summary=state.summary.text,
            citations=citations,
            passages=state.quotes.passages,
            evidence=state.evidence,
            disagreements=state.disagreements,
            receipt=state.receipt(),
        )


async def _next_page(pages: AsyncGenerator[CrawledPage, None]) -> CrawledPage | None:
    return await anext(pages, None)


def _summary_text(state: _SearchState) -> str:
    """What stands before the sources. Without a summary and without evidence, which settings can leave out, the model
    reads the quotations."""
    if state.summary.text:
        return state.summary.text
    if not state.collected.sources:
        return "Nothing was found."
    return "" if state.evidence else quote_passages(state.quotes.passages) or "Nothing could be read."
