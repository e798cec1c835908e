"""What the search tools found, read from their results. An artifact is foreign JSON here: what is not as it should be
is left out."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from footnote.protocol.messages import ToolCall, ToolResultMessage
from footnote.protocol.receipts import Disagreement, Passage, ProviderTry
from footnote.protocol.sources import Source

SEARCH_TOOL, READ_TOOL, WRITE_TOOL = "web_search", "read_page", "write_file"
"""The tools that a reader knows how to use."""
LIBRARY_PROVIDER = "library"
"""The provider that answers where no other does, from what is kept on this machine."""

MAX_ITEMS = 100
"""Items of one kind that are looked at."""
MAX_PASSAGE_LENGTH = 20_000
"""What is longer is no passage that anybody could read as a quotation."""
MAX_ERROR_LENGTH = 2_000

T = TypeVar("T", bound=Struct)


class ReaderHit(Struct, frozen=True, kw_only=True):
    """The outcome of one search or of one page. `asked` is the question behind it, `query` the query or address."""

    tool: str
    query: str
    question: str
    passages: tuple[Passage, ...] = ()
    sources: tuple[Source, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    tries: tuple[ProviderTry, ...] = ()
    error: str = ""

    @property
    def heading(self) -> str:
        """What it is about: the question that was searched for, or the page that was read."""
        title = next((source.title for source in self.sources if source.title), "")
        return title or self.query if self.tool == READ_TOOL else self.question

    @property
    def is_from_library(self) -> bool:
        """Whether in the end the library answered in the place of others."""
        return len(self.tries) > 1 and self.tries[-1].provider == LIBRARY_PROVIDER

    @property
    def failed_providers(self) -> tuple[str, ...]:
        """The providers that did not answer, if in the end the library did in their place."""
        failed = (one.provider for one in self.tries[:-1] if one.outcome != "empty")
        return tuple(dict.fromkeys(failed)) if self.is_from_library else ()


def parse_hits(results: Iterable[tuple[ToolCall, ToolResultMessage]]) -> tuple[ReaderHit, ...]:
    """One for each search; of a search that was made again, the last."""
    found: dict[tuple[str, str], ReaderHit] = {}
    for call, result in results:
        finding = _parse_hit(call, result)
        found[finding.tool, finding.query] = finding
    return tuple(found.values())


def _parse_hit(call: ToolCall, result: ToolResultMessage) -> ReaderHit:
    query = stripped_text(call.arguments.get("query")) or stripped_text(call.arguments.get("url"))
    artifact: dict[str, Any] = result.artifact or {}
    sources = tuple(source for source in _convert_items(artifact.get("sources"), Source) if source.number is not None)
    numbers = {source.number for source in sources}
    passages = tuple(
        passage
        for passage in _convert_items(artifact.get("passages"), Passage)
        if passage.number in numbers and 0 < len(passage.text.strip()) <= MAX_PASSAGE_LENGTH
    )
    receipt = artifact.get("receipt")
    tries = (
        _convert_items(cast("dict[str, Any]", receipt).get("providers"), ProviderTry)
        if isinstance(receipt, dict)
        else ()
    )
    return ReaderHit(
        tool=call.name,
        query=query,
        question=stripped_text(call.arguments.get("prompt")) or query,
        passages=passages,
        sources=sources,
        disagreements=tuple(_convert_items(artifact.get("disagreements"), Disagreement)),
        tries=tuple(tries),
        error=stripped_text(result.text)[:MAX_ERROR_LENGTH] if result.is_error else "",
    )


def _convert_items(values: Any, kind: type[T]) -> Iterator[T]:
    """Those that are what they should be."""
    for value in cast("list[Any]", values)[:MAX_ITEMS] if isinstance(values, list | tuple) else []:
        try:
            yield msgspec.convert(value, kind)
        except (msgspec.ValidationError, UnicodeError, RecursionError):
            continue


def stripped_text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
