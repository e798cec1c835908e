"""Quotations of the pages that an item has read, for a run whose model says little or nothing. Pure."""

from collections.abc import Iterator, Sequence

from footnote.evidence.sources import Sources
from footnote.protocol.messages import Message, ToolResultMessage
from footnote.protocol.plans import PlanItem
from footnote.protocol.sources import sources_in
from footnote.research.findings import Finding, quote_source
from footnote.web_search.ranking import select_quotes

MAX_PER_PAGE = 3


def page_quotations(item: PlanItem, messages: Sequence[Message], sources: Sources) -> Iterator[Finding]:
    """The best quotations of each page that was read, page by page."""
    for number in _numbers(messages):
        if (snapshot := sources.snapshot(number)) is not None:
            quotes = select_quotes({number: snapshot}, item.question, item.question, max_quotes=MAX_PER_PAGE)
            for passage in quotes.passages:
                finding = quote_source(item.id, passage.text, number, sources, passage.start)
                if finding is not None:
                    yield finding


def _numbers(messages: Sequence[Message]) -> list[int]:
    """The sources of an item that were read, in the order in which they were found."""
    results = (message.artifact for message in messages if isinstance(message, ToolResultMessage) and message.artifact)
    found = (source for artifact in results for source in sources_in(artifact) if source.status == "read")
    return list(dict.fromkeys(source.number for source in found if source.number))
