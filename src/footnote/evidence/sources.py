"""The sources of one session: a number for each URL, and the texts that were read from it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from msgspec.structs import replace

from footnote.evidence.page_index import PageIndex
from footnote.protocol.messages import Message, ToolResultMessage
from footnote.protocol.sources import EvidencePassage, Snapshot, Source, evidence_in, sources_in

_DEFAULT_PORTS = {"http": "80", "https": "443"}
_TRACKING = re.compile(
    r"utm_.*|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|_ga|_gl|_hsenc|"
    r"_hsmi|mkt_tok|vero_id|oly_anon_id|oly_enc_id",
    re.IGNORECASE,
)


class Sources:
    """One URL keeps one number through the whole session. Numbers count from 1.

    No method awaits, so that concurrent searches in one event loop cannot interleave inside one.
    """

    def __init__(self, index: Callable[[Snapshot], PageIndex] = PageIndex) -> None:
        """`index` makes the index of a text that was read, or hands out one that others use too."""
        self._index = index
        self._numbers: dict[str, int] = {}
        self._sources: dict[int, Source] = {}
        self._pages: dict[int, tuple[PageIndex, ...]] = {}
        self._evidence: dict[str, EvidencePassage] = {}
        self._evidence_counts: dict[int, int] = {}
        """The highest passage number of each source."""
        self._used_numbers: set[int] = set()
        self._last_number = 0
        self._read_addresses: dict[str, int] | None = None

    @classmethod
    def from_messages(
        cls,
        messages: Iterable[Message],
        snapshots: Mapping[str, Snapshot],
        index: Callable[[Snapshot], PageIndex] = PageIndex,
    ) -> "Sources":
        """The sources of a session so far. `snapshots` by their ids; a source without one was not read."""
        sources = cls(index)
        for artifact in _artifacts(messages):
            for source in sources_in(artifact):
                number = source.number or 0
                if number > 0:
                    sources._reserve(source.url, number)
                    sources.add(source, snapshots.get(source.snapshot_id or ""))
            for passage in evidence_in(artifact):
                sources._keep_evidence(passage)
        return sources

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of all known sources."""
        return tuple(sorted(self._sources))

    def assign_number(self, url: str) -> int:
        """The number of a URL: the one that it has, or the next."""
        known = self._numbers.get(normalize_url(url))
        if known is not None:
            return known
        self._reserve(url, self._last_number + 1)
        return self._last_number

    def _reserve(self, url: str, number: int) -> None:
        """Gives a URL a number, unless the URL has another number or the number another URL."""
        if number not in self._used_numbers:
            self._used_numbers.add(self._numbers.setdefault(normalize_url(url), number))
            self._last_number = max(self._last_number, number)

    def add(self, source: Source, snapshot: Snapshot | None) -> None:
        """Adds a source and the text that was read from it, beside its earlier texts."""
        number = self.assign_number(source.url)
        self._read_addresses = None
        pages = self._pages.get(number, ())
        if snapshot is not None:
            page = next((page for page in pages if page.text == snapshot.text), None) or self._index(snapshot)
            others = tuple(other for other in pages if other is not page)
            known = self._sources.get(number)
            # A search that finds a page again, and gets no further than its snippet, does not replace what was read.
            newest = source.status == "read" or known is None or known.status != "read"
            self._pages[number] = (page, *others) if newest else (*others, page)
            if not newest:
                return
        elif pages:
            return
        self._sources[number] = replace(source, number=number)

    def find_number(self, url: str) -> int | None:
        """The number of the source that an address leads to, if it was read: by the address that was found, or by the
        one that the page itself has. `http` and a slash at the end make no difference here."""
        wanted = _loose_url(url)
        if self._read_addresses is None:
            self._read_addresses = {
                _loose_url(address): number
                for number in reversed(self.numbers)
                for address in self._addresses_of(number)
            }
        return self._read_addresses.get(wanted)

    def _addresses_of(self, number: int) -> Iterator[str]:
        for page in self._pages.get(number, ()):
            yield page.snapshot.url
            if page.snapshot.canonical_url:
                yield page.snapshot.canonical_url
        if number in self._pages:
            yield self._sources[number].url

    def source(self, number: int) -> Source | None:
        return self._sources.get(number)

    def snapshot(self, number: int) -> Snapshot | None:
        """The latest text of a source."""
        pages = self._pages.get(number)
        return pages[0].snapshot if pages else None

    def pages(self, number: int) -> tuple[PageIndex, ...]:
        """All texts of a source, the latest first."""
        return self._pages.get(number, ())

    # Evidence ------------------------------------------------------------------------------------------------

    @property
    def has_evidence(self) -> bool:
        """Whether a model of this session was given passages with ids."""
        return bool(self._evidence)

    def add_evidence(self, number: int, snapshot: Snapshot, start: int, end: int) -> EvidencePassage:
        """A passage that a model is about to be given. The same passage keeps its id."""
        snapshot_id = snapshot.id
        for passage in self._evidence.values():
            if (passage.number, passage.snapshot_id, passage.start, passage.end) == (number, snapshot_id, start, end):
                return passage
        passage = EvidencePassage(
            id=f"{number}.{self._evidence_counts.get(number, 0) + 1}",
            number=number,
            text=snapshot.text[start:end],
            start=start,
            end=end,
            snapshot_id=snapshot_id,
        )
        self._keep_evidence(passage)
        return passage

    def _keep_evidence(self, passage: EvidencePassage) -> None:
        ordinal = passage.id.rpartition(".")[2]
        if ordinal.isdecimal():
            self._evidence[passage.id] = passage
            self._evidence_counts[passage.number] = max(self._evidence_counts.get(passage.number, 0), int(ordinal))

    def evidence(self, passage_id: str) -> EvidencePassage | None:
        return self._evidence.get(passage_id)


def snapshot_ids(messages: Iterable[Message]) -> frozenset[str]:
    """The snapshots on which the answers of a session may rest."""
    found = (source for artifact in _artifacts(messages) for source in sources_in(artifact))
    return frozenset(source.snapshot_id for source in found if source.snapshot_id)


def _artifacts(messages: Iterable[Message]) -> Iterator[Mapping[str, Any]]:
    """The artifacts of tools, in the order of their results."""
    for message in messages:
        if isinstance(message, ToolResultMessage) and message.artifact is not None:
            yield message.artifact


def normalize_url(url: str) -> str:
    """The same for all spellings of an address: without fragment and tracking parameters. The path stays as it is,
    because many servers distinguish its case."""
    try:
        parts = urlsplit(url.strip())
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError:
        return url.strip()
    if not host:
        return url.strip()
    user = parts.netloc.rpartition("@")[0]
    authority = f"[{host}]" if ":" in host else host
    if port is not None and str(port) != _DEFAULT_PORTS.get(scheme):
        authority = f"{authority}:{port}"
    query = "&".join(pair for pair in parts.query.split("&") if not _TRACKING.fullmatch(pair.partition("=")[0]))
    return urlunsplit((scheme, f"{user}@{authority}" if user else authority, parts.path or "/", query, ""))


def _loose_url(url: str) -> str:
    return normalize_url(url).partition("://")[2].removeprefix("www.").rstrip("/")
