"""From what was found and what was read to the sources of a search: numbered, each with the text that was read."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from footnote.evidence.sources import Sources
from footnote.protocol.receipts import PageReport
from footnote.protocol.sources import SearchHit, Snapshot, Source
from footnote.web_search.crawl.crawler import CrawledPage
from footnote.web_search.favicons import icon_url


class SearchSources(Struct, frozen=True):
    """The sources of one search by their numbers, the texts that stand behind them, and how each page went."""

    sources: dict[int, Source]
    snapshots: dict[int, Snapshot]
    reports: tuple[PageReport, ...]


def collect_sources(
    hits: Iterable[SearchHit], pages: Mapping[str, CrawledPage], numbering: Sources, private_hosts: Collection[str] = ()
) -> SearchSources:
    """A page that was not read, or could not be, keeps its snippet as the text that was. `private_hosts`: those that
    the operator opened, of which icons may be shown, too."""
    sources: dict[int, Source] = {}
    snapshots: dict[int, Snapshot] = {}
    reports: list[PageReport] = []
    for rank, hit in enumerate(hits, 1):
        page = pages.get(hit.url)
        snapshot = page.snapshot if page is not None and page.snapshot is not None else _snippet_snapshot(hit)
        icon = _icon_url(hit, snapshot, private_hosts)
        snapshot = snapshot and replace(snapshot, icon=icon)
        source = replace(_to_source(hit, page, snapshot, numbering.assign_number(hit.url)), favicon=icon)
        reports.append(_page_report(hit, page, rank))
        if source.number is None or source.number in sources:
            continue
        numbering.add(source, snapshot)
        sources[source.number] = source
        if snapshot is not None:
            snapshots[source.number] = snapshot
    return SearchSources(sources, snapshots, tuple(reports))


def _to_source(hit: SearchHit, page: CrawledPage | None, snapshot: Snapshot | None, number: int) -> Source:
    read = page.snapshot if page is not None else None
    return Source(
        url=hit.url,
        title=hit.title or (read.title if read else "") or hit.url,
        snippet=hit.description,
        domain=domain_of(hit.url),
        number=number,
        status="snippet" if page is None else "read" if read else "failed",
        published=hit.published or (read.published if read else None),
        snapshot_id=snapshot.id if snapshot else None,
        fetched_at=snapshot.fetched_at if snapshot else None,
    )


def _icon_url(hit: SearchHit, snapshot: Snapshot | None, private_hosts: Collection[str]) -> str | None:
    """The icon that the page names, else the one that the provider does."""
    own = icon_url(snapshot.url, snapshot.icon, private_hosts) if snapshot else None
    return own or icon_url(hit.url, hit.favicon or None, private_hosts)


def _snippet_snapshot(hit: SearchHit) -> Snapshot | None:
    """What the provider said of the page is all that was read of it."""
    text = hit.description.strip()
    if not text:
        return None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Snapshot(url=hit.url, text=text, title=hit.title, media_type="text/plain", fetched_at=now)


def _page_report(hit: SearchHit, page: CrawledPage | None, rank: int) -> PageReport:
    if page is None:
        return PageReport(url=hit.url, chosen=f"result {rank}: beyond the pages to be read", status="snippet")
    return replace(page.report, chosen=f"result {rank}")


def domain_of(url: str) -> str:
    """The site of a page; a page of the library's own has none but Footnote."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return "footnote" if parts.scheme == "footnote" else (parts.hostname or "").removeprefix("www.")
