"""What a search did, step by step: providers asked, pages read, text kept, and why each of them ended as it did."""

from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.protocol.sources import Citation, Source

SearchOutcome: TypeAlias = Literal["results", "empty", "blocked", "error"]
"""`blocked`: the provider took us for a machine, or refuses more requests for now."""

PageFailure: TypeAlias = Literal[
    "refused_address",  # not a public address, or not an address that may be read
    "robots",  # robots.txt asks to stay away
    "dns",
    "connection",
    "tls",
    "timeout",  # the page's own time, or the deadline of all pages
    "status",  # 4xx, 5xx
    "redirects",  # too many, or in a circle
    "too_large",
    "media_type",  # nothing that can be read: an image, an archive
    "unreadable",  # broken, or too hard to take apart
    "empty",  # no text in it
    "needs_javascript",
    "consent_wall",
]


class ProviderTry(Struct, frozen=True, kw_only=True):
    """One provider, asked or passed over. `notes`: options that it does not know and that were mapped or dropped."""

    provider: str
    outcome: SearchOutcome | Literal["skipped"]
    took_ms: int = 0
    reason: str | None = None
    cached: bool = False
    count: int = 0
    notes: tuple[str, ...] = ()


class PageReport(Struct, frozen=True, kw_only=True):
    """One page: how its reading ended. `chosen` says why it was read, or why not; `bytes` came over the wire."""

    url: str
    status: Literal["read", "snippet", "failed"]
    failure: PageFailure | None = None
    reason: str | None = None
    http_status: int | None = None
    final_url: str | None = None
    took_ms: int = 0
    bytes: int = 0
    characters: int = 0
    cut: bool = False
    cache: Literal["fresh", "revalidated", "library"] | None = None
    chosen: str = ""


class Receipt(Struct, frozen=True, kw_only=True):
    """`passages_found` were weighed, `passages_kept` fitted into the budget; `notes` say what else was cut or went
    another way."""

    providers: tuple[ProviderTry, ...] = ()
    pages: tuple[PageReport, ...] = ()
    passages_found: int = 0
    passages_kept: int = 0
    summary_by: str | None = None
    """`PROVIDER/MODEL`, or `passages` for a summary that is put together from quotations."""
    took_ms: int = 0
    notes: tuple[str, ...] = ()


class Passage(Struct, frozen=True, kw_only=True):
    """A passage of the snapshot of source `number`, best first where there are several."""

    number: int
    text: str
    start: int
    end: int
    score: float = 0.0


class DisagreementValue(Struct, frozen=True, kw_only=True):
    """One side: `text` stands from `quote_start` to `quote_end` of the snapshot of source `number`."""

    text: str
    number: int
    quote_start: int
    quote_end: int
    published: str | None = None


class Disagreement(Struct, frozen=True, kw_only=True):
    """Sources that give different numbers or names for the same thing, or of which one denies what the other says."""

    about: str
    values: tuple[DisagreementValue, ...]


class SearchArtifact(Struct, frozen=True, kw_only=True):
    """The artifact of `web_search` and `read_page`: a `SourceGroup` and what stands behind it.

    `passages` are the best quotations, `citations` the footnotes of `summary`.
    """

    query: str
    sources: tuple[Source, ...]
    summary: str = ""
    citations: tuple[Citation, ...] = ()
    passages: tuple[Passage, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    receipt: Receipt = Receipt()
