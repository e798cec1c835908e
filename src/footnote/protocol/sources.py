"""Pages that were found, what was read from them, and how a statement rests on it."""

from typing import Literal, TypeAlias

from msgspec import Struct

Verdict: TypeAlias = Literal["supported", "partial", "unsupported"]
SourceStatus: TypeAlias = Literal["read", "snippet", "failed"]


class Quote(Struct, frozen=True):
    """A passage of a snapshot; offsets count code points."""

    text: str
    start: int
    end: int


class Source(Struct, frozen=True, kw_only=True):
    """A page that was found. `number` is its footnote, the same for one URL through the whole session.

    `favicon` None: the interface draws one from the domain. `snapshot_id` names the text that was read.
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
    quotes: tuple[Quote, ...] = ()


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


class SearchResults(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a search provider found."""

    query: str
    provider: str
    results: tuple[SearchHit, ...]
    count: int
    took_ms: int
    cached: bool = False


class Citation(Struct, frozen=True):
    """One footnoted sentence. `start` and `end` are offsets in the block's text, the quote's are offsets in the
    snapshot of source `number`; both count code points."""

    marker: str
    number: int
    start: int
    end: int
    verdict: Verdict
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
