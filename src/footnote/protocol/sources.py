"""Sources: pages that were found, the text that was read from them, the citations of it, and the receipt of a search.

All offsets count code points.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType

Verdict: TypeAlias = Literal["supported", "partial", "contradicted", "unsupported", "uncited", "unread"]
"""`supported`: the passage says it. `partial`: it says a part of it. `contradicted`: it says otherwise. `unsupported`:
nothing on the cited page says it. `uncited`: a statement of facts without a footnote. `unread`: its source was not read
in this session."""
Judge: TypeAlias = Literal["text", "model"]
"""`text`: a verdict by comparing texts. `model`: a model pointed at the quotation, which was found on the page word for
word."""
SourceStatus: TypeAlias = Literal["read", "snippet", "failed"]


class Quote(Struct, frozen=True):
    """A passage of a snapshot: `text` is exactly the text between the offsets."""

    text: str
    start: int
    end: int


class Link(Struct, frozen=True):
    """A link of a snapshot: the text between the offsets leads to `url`."""

    url: str
    start: int
    end: int


class Snapshot(Struct, frozen=True, kw_only=True):
    """The text of a page, as it was read.

    `text` is markdown with headings, lists, tables and code, and plain inside a line: the addresses of its links are
    in `links`, so that a quotation is clean. `pages` are the offsets at which the pages of a PDF begin. `icon` is the
    address of the page's icon, as the page itself or the search provider gives it.
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
    from the domain. `snapshot_id` names the text that was read, `fetched_at` says when.
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
    """The sources in the artifact of any tool. Entries that are not valid are left out."""
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
    """The results of a search provider."""

    query: str
    provider: str
    results: tuple[SearchHit, ...]
    count: int
    took_ms: int
    cached: bool = False


class EvidencePassage(Struct, frozen=True, kw_only=True):
    """A passage that a model was given to answer from, verbatim. `id` is `3.2`: passage 2 of source 3, through the
    whole session. The offsets are those of the snapshot `snapshot_id`."""

    id: str
    number: int
    text: str
    start: int
    end: int
    snapshot_id: str


def evidence_in(artifact: Mapping[str, Any]) -> Iterator[EvidencePassage]:
    """The valid passages in the artifact of any tool."""
    listed = artifact.get("evidence")
    for entry in cast("Sequence[Any]", listed) if isinstance(listed, list | tuple) else ():
        try:
            yield msgspec.convert(entry, EvidencePassage)
        except msgspec.ValidationError:
            continue


class Pointer(Struct, frozen=True, array_like=True):
    """The passages that a footnote of a model's text points to, by their ids. `offset`: where its marker begins."""

    offset: int
    passages: tuple[str, ...]


class Difference(Struct, frozen=True):
    """Where a passage says otherwise: the text between `start` and `end`, offsets like those of the statement, stands
    against the text between `quote_start` and `quote_end` of the snapshot."""

    start: int
    end: int
    quote_start: int
    quote_end: int


class Citation(Struct, frozen=True):
    """One footnote, or one statement without a footnote (`uncited`: no `marker`, and `number` 0).

    `start` and `end` are the offsets of its sentence in the text of the block, `quote_start` and `quote_end` are
    offsets in the snapshot `snapshot_id`: of a source that was read twice, the text that supports the sentence.
    `passage` is the id of the passage that the model pointed to. `missing` names what the passage of a `partial`
    statement does not say. `suggestion` is the number of a source of the session that supports an `uncited` statement;
    the quotation is then that of the suggested source. `differences` show where the passage of a `contradicted`
    statement says otherwise.
    """

    marker: str
    number: int
    start: int
    end: int
    verdict: Verdict
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
    snapshot_id: str | None = None
    passage: str | None = None
    by: Judge = "text"
    missing: str | None = None
    suggestion: int | None = None
    differences: tuple[Difference, ...] = ()


class ProofCounts(Struct, frozen=True):
    """How many statements of a text were judged, and with which verdict. Of a statement with several footnotes the best
    of their verdicts counts, but `contradicted` before all others: a source that says otherwise stays visible."""

    statements: int = 0
    supported: int = 0
    partial: int = 0
    contradicted: int = 0
    unsupported: int = 0
    uncited: int = 0
    unread: int = 0


class CachedPage(Struct, frozen=True, kw_only=True):
    """A cached page: `url` led to `final_url`. Times are seconds since 1970.

    The snapshot is fresh until `fresh_until`; after that it can be revalidated with `etag` or `last_modified`.
    """

    url: str
    final_url: str
    etag: str | None
    last_modified: str | None
    fetched_at: float
    fresh_until: float
    snapshot: Snapshot


# The receipt of a search ---------------------------------------------------------------------------------


SearchOutcome: TypeAlias = Literal["results", "empty", "blocked", "error"]
"""`blocked`: the provider takes us for a robot, or refuses more requests for now."""

ProviderFailure: TypeAlias = Literal[
    "unknown_provider",
    "missing_setting",  # a key, or the address of an instance
    "paused",  # not asked, because its last requests failed
    "busy",  # not asked, because its rate limit is reached for now
    "unreachable",  # no connection
    "timeout",
    "bad_key",
    "rate_limited",
    "quota",  # of the key or the account
    "robot_check",  # it asks for a person in front of a browser
    "forbidden",  # it refuses requests from this network
    "server_error",
    "bad_request",
    "unreadable",  # the response is not in the format of this provider
    "misconfigured",  # a self-hosted instance needs other settings
    "internal",  # an error of ours, or of a plugin
]
"""Why a request to a provider failed."""

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
    "unreadable",  # damaged, or too complex to parse
    "empty",  # no text in it
    "needs_javascript",
    "consent_wall",
]


class ProviderTry(Struct, frozen=True, kw_only=True):
    """One provider, asked or skipped. `reason` is for people, `code` for programs. `notes`: options that it does not
    know and that were mapped or dropped."""

    provider: str
    outcome: SearchOutcome | Literal["skipped"]
    took_ms: int = 0
    reason: str | None = None
    cached: bool = False
    count: int = 0
    notes: tuple[str, ...] = ()
    code: ProviderFailure | UnsetType = UNSET


class PageReport(Struct, frozen=True, kw_only=True):
    """The outcome of one page. `chosen` says why it was read, or why not; `bytes` is the size of the download."""

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
    """`passages_found` were ranked, and `passages_kept` fitted into the budget. `notes`: what else was cut or done in
    another way than asked."""

    providers: tuple[ProviderTry, ...] = ()
    pages: tuple[PageReport, ...] = ()
    passages_found: int = 0
    passages_kept: int = 0
    summary_by: str | None = None
    """`PROVIDER/MODEL`, or `passages` for a summary that is composed of quotations."""
    took_ms: int = 0
    notes: tuple[str, ...] = ()


class Passage(Struct, frozen=True, kw_only=True):
    """A passage of the snapshot of source `number`. Several are ordered, the best first."""

    number: int
    text: str
    start: int
    end: int
    score: float = 0.0


class DisagreementValue(Struct, frozen=True, kw_only=True):
    """One side: `text` is quoted from `quote_start` to `quote_end` of the snapshot of source `number`."""

    text: str
    number: int
    quote_start: int
    quote_end: int
    published: str | None = None


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def published_day(published: str | None) -> str:
    """The day of a date as pages and providers give it; empty: it is not certain."""
    found = _DAY.match(published or "")
    return found.group() if found else ""


class Disagreement(Struct, frozen=True, kw_only=True):
    """Sources that give different numbers or names for the same thing, or of which one denies what another states."""

    about: str
    values: tuple[DisagreementValue, ...]


def disagreements_in(artifact: Mapping[str, Any]) -> Iterator[Disagreement]:
    """The valid disagreements in the artifact of any tool."""
    listed = artifact.get("disagreements")
    for entry in cast("Sequence[Any]", listed) if isinstance(listed, list | tuple) else ():
        try:
            yield msgspec.convert(entry, Disagreement)
        except msgspec.ValidationError:
            continue


class SearchArtifact(Struct, frozen=True, kw_only=True):
    """The artifact of `web_search` and `read_page`: a `SourceGroup` and what was found in it.

    `passages` are the best quotations for people, `evidence` the passages that the model reads, `citations` the
    footnotes of `summary`.
    """

    query: str
    sources: tuple[Source, ...]
    summary: str = ""
    citations: tuple[Citation, ...] = ()
    passages: tuple[Passage, ...] = ()
    evidence: tuple[EvidencePassage, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    receipt: Receipt = Receipt()
