"""Pages that were found, what was read from them, and how a statement rests on it.

All offsets count code points.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType

Verdict: TypeAlias = Literal["supported", "partial", "unsupported"]
SourceStatus: TypeAlias = Literal["read", "snippet", "failed"]


class Quote(Struct, frozen=True):
    """A passage of a snapshot: `text` is exactly what stands there."""

    text: str
    start: int
    end: int


class Link(Struct, frozen=True):
    """A link of a snapshot: the text between the offsets leads to `url`."""

    url: str
    start: int
    end: int


class Snapshot(Struct, frozen=True, kw_only=True):
    """What was read from a page, as it was read.

    `text` is markdown with headings, lists, tables and code, and plain inside a line: where its links lead stands
    beside it, in `links`, so that a quotation is clean. `pages` are the offsets at which the pages of a PDF begin.
    `icon` is the address of the page's icon, as the page itself or the search provider gives it.
    """

    url: str
    text: str
    title: str = ""
    author: str | None = None
    published: str | None = None
    language: str | None = None
    site_name: str | None = None
    canonical_url: str | None = None
    media_type: str = "text/html"
    fetched_at: str = ""
    links: tuple[Link, ...] = ()
    pages: tuple[int, ...] = ()
    icon: str | None = None

    @property
    def id(self) -> str:
        """The same text has the same id, wherever it was read."""
        return snapshot_id(self.text)

    def page_at(self, offset: int) -> int | None:
        """The page of a PDF on which an offset lies, counting from 1."""
        return sum(start <= offset for start in self.pages) or None


def snapshot_id(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Source(Struct, frozen=True, kw_only=True):
    """A page that was found. `number` is its footnote, the same for one URL through the whole session.

    `favicon` is the address of its icon, which the interface shows through the server; None: the interface draws one
    from the domain. `snapshot_id` names the text that was
    read, `fetched_at` says when.
    """

    url: str
    title: str
    snippet: str
    domain: str
    favicon: str | None = None
    number: int | None = None
    status: SourceStatus | None = None
    published: str | None = None
    snapshot_id: str | None = None
    fetched_at: str | None = None
    quotes: tuple[Quote, ...] = ()


def sources_in(artifact: Mapping[str, Any]) -> Iterator[Source]:
    """The sources in the artifact of any tool: those that are what they should be."""
    listed = artifact.get("sources")
    for entry in cast("Sequence[Any]", listed) if isinstance(listed, list | tuple) else ():
        try:
            yield msgspec.convert(entry, Source)
        except msgspec.ValidationError:
            continue


class SourceGroup(Struct, frozen=True):
    """The sources of one search: the artifact of the search tool."""

    query: str
    sources: tuple[Source, ...]


class SearchHit(Struct, frozen=True, kw_only=True, rename="camel"):
    title: str
    url: str
    description: str
    published: str | None = None
    site_name: str | None = None
    favicon: str | UnsetType = UNSET


class SearchResults(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a search provider found."""

    query: str
    provider: str
    results: tuple[SearchHit, ...]
    count: int
    took_ms: int
    cached: bool = False


class Citation(Struct, frozen=True):
    """One footnoted sentence. `start` and `end` are offsets in the block's text, the quote's are offsets in the text
    `snapshot_id`: of a source that was read twice, the reading that was found to say so."""

    marker: str
    number: int
    start: int
    end: int
    verdict: Verdict
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
    snapshot_id: str | None = None
