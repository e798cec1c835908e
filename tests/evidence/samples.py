"""Sources and snapshots for the tests of evidence."""

from footnote.evidence.sources import Sources
from footnote.protocol.sources import Snapshot, Source, SourceStatus


def source(url: str, status: SourceStatus = "read", **more: int | str) -> Source:
    return Source(url=url, title="A page", snippet="", domain="example.org", status=status, **more)


def snapshot(text: str, url: str = "https://example.org/1") -> Snapshot:
    return Snapshot(url=url, text=text)


def sources_of(*texts: str) -> Sources:
    """One source for each text, numbered from 1."""
    sources = Sources()
    for number, text in enumerate(texts, 1):
        url = f"https://example.org/{number}"
        sources.add(source(url), snapshot(text, url))
    return sources
