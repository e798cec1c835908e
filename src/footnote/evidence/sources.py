"""The sources of one session: a number for each URL, and the texts that were read from it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit, urlunsplit

from msgspec.structs import replace

from footnote.evidence.candidates import PageIndex
from footnote.protocol.messages import Message, ToolResultMessage
from footnote.protocol.sources import Snapshot, Source, sources_in

_DEFAULT_PORTS = {"http": "80", "https": "443"}
_TRACKING = re.compile(
    r"utm_.*|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|_ga|_gl|_hsenc|"
    r"_hsmi|mkt_tok|vero_id|oly_anon_id|oly_enc_id",
    re.IGNORECASE,
)


class Sources:
    """One URL keeps one number through the whole session. Numbers count from 1.

    Nothing here waits, so searches that run side by side in one event loop cannot get in each other's way.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sources: dict[int, Source] = {}
        self._pages: dict[int, tuple[PageIndex, ...]] = {}
        self._used_numbers: set[int] = set()
        self._last_number = 0

    @classmethod
    def from_messages(cls, messages: Iterable[Message], snapshots: Mapping[str, Snapshot]) -> "Sources":
        """The sources that a session has by now. `snapshots` by their ids; one that is not there was not read."""
        sources = cls()
        for source in _artifact_sources(messages):
            number = source.number or 0
            if number > 0:
                sources._reserve(source.url, number)
                sources.add(source, snapshots.get(source.snapshot_id or ""))
        return sources

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those of all sources that are known."""
        return tuple(sorted(self._sources))

    def assign_number(self, url: str) -> int:
        """The number of a URL: the one that it has, or the next."""
        known = self._numbers.get(normalize_url(url))
        if known is not None:
            return known
        self._reserve(url, self._last_number + 1)
        return self._last_number

    def _reserve(self, url: str, number: int) -> None:
        """Gives a URL a number, unless either has its other already."""
        if number not in self._used_numbers:
            self._used_numbers.add(self._numbers.setdefault(normalize_url(url), number))
            self._last_number = max(self._last_number, number)

    def add(self, source: Source, snapshot: Snapshot | None) -> None:
        """Remembers a source and what was read from it, beside what was read from it before."""
        number = self.assign_number(source.url)
        pages = self._pages.get(number, ())
        if snapshot is not None:
            page = next((page for page in pages if page.text == snapshot.text), None) or PageIndex(snapshot)
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

    def source(self, number: int) -> Source | None:
        return self._sources.get(number)

    def snapshot(self, number: int) -> Snapshot | None:
        """What was read last from a source."""
        pages = self._pages.get(number)
        return pages[0].snapshot if pages else None

    def pages(self, number: int) -> tuple[PageIndex, ...]:
        """All that was read from a source, the last reading first."""
        return self._pages.get(number, ())


def snapshot_ids(messages: Iterable[Message]) -> frozenset[str]:
    """The snapshots on which the answers of a session may rest."""
    return frozenset(source.snapshot_id for source in _artifact_sources(messages) if source.snapshot_id)


def _artifact_sources(messages: Iterable[Message]) -> Iterator[Source]:
    """The sources in the artifacts of tools, in the order in which they were found."""
    for message in messages:
        if isinstance(message, ToolResultMessage) and message.artifact is not None:
            yield from sources_in(message.artifact)


def normalize_url(url: str) -> str:
    """What two spellings of an address have in common: without fragment and tracking parameters. A path is
    kept as it is: many servers tell its case apart."""
    try:
        parts = urlsplit(url.strip())
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError:
        return url.strip()
    if not host:
        return url.strip()
    user = parts.netloc.rpartition("@")[0]
    place = f"[{host}]" if ":" in host else host
    if port is not None and str(port) != _DEFAULT_PORTS.get(scheme):
        place = f"{place}:{port}"
    query = "&".join(pair for pair in parts.query.split("&") if not _TRACKING.fullmatch(pair.partition("=")[0]))
    return urlunsplit((scheme, f"{user}@{place}" if user else place, parts.path or "/", query, ""))
