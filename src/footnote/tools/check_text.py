"""The tool of a check: reads the links of a text, judges its statements, and writes it with footnotes."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from footnote.cancel import CancelScope
from footnote.evidence.check_report import WORDS, CheckedText, check_report, source_list
from footnote.evidence.claims import MAX_CHARACTERS
from footnote.evidence.footnoted import UNADDRESSED, FootnotedText, read_citations
from footnote.evidence.links import with_markdown_links
from footnote.evidence.proof import count_verdicts, judge_text
from footnote.evidence.second_look import SecondLook
from footnote.evidence.sources import Sources, normalize_url
from footnote.evidence.unread_reasons import unreadable
from footnote.protocol.errors import ToolFailed
from footnote.protocol.files import FileCitations
from footnote.protocol.messages import Text, Usage
from footnote.protocol.sources import PageReport, Receipt, SearchHit
from footnote.protocol.tools import Progress, ToolResult
from footnote.text.boundary import wrap_web_text
from footnote.tools.base import (
    FILE_PATH_ALIASES,
    Outcome,
    ReviewedFile,
    Tool,
    ToolContext,
    artifact_of,
    web_search_of,
    workspace_of,
)
from footnote.tools.define import tool
from footnote.web_search.crawl.crawler import CrawledPage
from footnote.web_search.result import SearchSources, collect_sources, domain_of
from footnote.workspace.files import FileChange

CHECKED_PATH = "/checked.md"
MAX_LINKS = 60
MAX_SOURCES = 300
"""Links beyond those that are read are sources too, so that what cites them is marked; but not all of a list of
thousands."""
READ_SECONDS = 60.0
"""The deadline of all links together. What is not read by then counts as unread."""
PAGE_SECONDS = 20.0
"""The deadline of a page that is itself to be checked."""


class CheckText(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[
        str | UnsetType, Meta(description="The file to check.", extra={"aliases": FILE_PATH_ALIASES})
    ] = UNSET
    url: Annotated[str | UnsetType, Meta(description="The page to check.")] = UNSET


def check_tool(second_look: SecondLook | None) -> Tool:
    """The tool of a check. `second_look` reviews the statements of the text; the report about them, which is the answer
    of the run, repeats them and needs none of its own."""

    @tool(
        titles={"en": "Check a text", "vi": "Kiểm tra văn bản", "zh": "核查文本"},
        idempotent=True,
        bounded=True,
        timeout=300,
    )
    async def check_text(params: CheckText, context: ToolContext) -> AsyncIterator[Outcome]:
        """Read the links of a text and judge each of its statements against the page that it cites."""
        async with aclosing(_outcomes(params, context, second_look)) as outcomes:
            async for outcome in outcomes:
                yield outcome

    return check_text


async def _outcomes(
    params: CheckText, context: ToolContext, second_look: SecondLook | None
) -> AsyncGenerator[Outcome, None]:
    check = _Check(context, second_look)
    if params.url:
        yield Progress("reading", 0, None, domain_of(params.url))
        text = await check.read_page(params.url)
    elif params.file_path:
        text = await workspace_of(context).extracted_text(params.file_path)
    else:
        raise ToolFailed("There is nothing to check: give a text, or the address of a page.")
    cited = await asyncio.to_thread(read_citations, text[:MAX_CHARACTERS])
    addresses = (*cited.citing, *(() if params.url else cited.listed))[:MAX_SOURCES]
    async with aclosing(check.read_links(addresses, cited.titles)) as steps:
        async for progress in steps:
            yield progress
    yield Progress("judging", len(check.reports), len(check.reports))
    yield await check.result(cited, addresses, str(params.url or params.file_path))


class _Check:
    """One check, with the sources that it has read."""

    def __init__(self, context: ToolContext, second_look: SecondLook | None) -> None:
        self._context = context
        self._second_look = second_look
        self._web = web_search_of(context)
        self._sources: Sources = context.abilities.sources
        self.reports: dict[str, PageReport] = {}
        self._collected = SearchSources({}, {}, ())
        self._notes: list[str] = []

    async def read_page(self, url: str) -> str:
        """The text of a page with its links, as markdown. `ToolFailed`: it cannot be read."""
        async with aclosing(self._web.crawl([url], PAGE_SECONDS)) as pages:
            [page] = [page async for page in pages]
        if page.snapshot is None:
            raise ToolFailed(unreadable(page.report, self._context.locale))
        shown = page.snapshot
        return await asyncio.to_thread(with_markdown_links, shown.text, shown.links, shown.url)

    async def read_links(self, addresses: Sequence[str], titles: Mapping[str, str]) -> AsyncGenerator[Progress, None]:
        """Reads the first links, each address once, and makes sources of all of them."""
        wanted = {normalize_url(url): url for url in reversed(addresses) if not url.startswith(UNADDRESSED)}
        in_order = [url for url in addresses if wanted.get(normalize_url(url)) == url]
        urls, too_many = in_order[:MAX_LINKS], in_order[MAX_LINKS:]
        pages: dict[str, CrawledPage] = {}
        async with aclosing(self._web.crawl(urls, READ_SECONDS)) as crawled:
            async for page in crawled:
                pages[page.url] = page
                yield Progress("reading", len(pages), len(urls), domain_of(page.url))
        limit = WORDS[self._context.locale].limit.format(MAX_LINKS)
        pages |= {url: _unread_page(url, limit) for url in too_many}
        pages |= {url: _unread_page(url, "it has no address") for url in titles if url in addresses}
        listed = [url for url in addresses if url in pages]  # each page once, also of several spellings
        hits = [SearchHit(title=titles.get(url, ""), url=url, description="") for url in listed]
        private_hosts = self._web.settings.allow_private_hosts
        self._collected = collect_sources(hits, pages, self._sources, private_hosts)
        self.reports = {
            report.url: replace(report, chosen=f"link {number}")
            for number, report in enumerate(self._collected.reports, 1)
        }
        self._notes += await self._web.store_snapshots(self._collected)

    async def result(self, cited: FootnotedText, addresses: Iterable[str], origin: str) -> ToolResult:
        context, locale = self._context, self._context.locale
        numbers = {url: self._sources.assign_number(url) for url in addresses}
        sources = tuple(source for _, source in sorted(self._collected.sources.items()))
        others = [title for url, title in cited.titles.items() if url not in numbers]
        listed = source_list(sources, others, cited.heading, locale)
        text = await asyncio.to_thread(cited.with_footnotes, numbers)
        content = f"{text}\n{listed}\n" if listed else text
        workspace = workspace_of(context)
        written = await workspace.change(
            CHECKED_PATH, lambda _: FileChange(content), message_id=context.message_id, call_id=context.call_id
        )
        # After a crash, the file that the interrupted call has written counts.
        content = await workspace.read_text(CHECKED_PATH)
        artifact: dict[str, Any] = {
            **artifact_of(written.record),
            "query": origin,
            "sources": sources,
            "receipt": Receipt(pages=tuple(self.reports.values()), notes=tuple(self._notes)),
        }
        artifact = msgspec.json.decode(msgspec.json.encode(artifact))  # plain JSON: lists, and no tuples
        reviewed = await self._review(content, artifact)
        checked = CheckedText(content, reviewed.proof.citations, sources, self.reports)
        report = await asyncio.to_thread(check_report, checked, CHECKED_PATH, locale)
        return ToolResult(
            (Text(wrap_web_text(report)),),
            artifact={**artifact, "proof": msgspec.json.decode(msgspec.json.encode(reviewed.proof))},
            files=(written.record,),
            usage=reviewed.usage if reviewed.usage != Usage() else None,
        )

    async def _review(self, text: str, artifact: dict[str, Any]) -> ReviewedFile:
        """The verdicts by text, and after a second look where somebody takes one; stored like those of any file."""
        abilities, cancel = self._context.abilities, CancelScope()
        if abilities.proofs is not None:
            reviewed = await abilities.proofs.review(CHECKED_PATH, self._second_look, cancel, artifact)
            if reviewed is not None:
                return reviewed
        citations = await asyncio.to_thread(judge_text, text, self._sources, uncited=True)
        return ReviewedFile(FileCitations(CHECKED_PATH, 1, count_verdicts(citations), citations))


def _unread_page(url: str, reason: str) -> CrawledPage:
    return CrawledPage(url, None, PageReport(url=url, status="failed", reason=reason))
