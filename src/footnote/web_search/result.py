"""The result of a search: its numbered sources with the texts that were read, what the model reads, and the notes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from footnote.evidence.sources import Sources
from footnote.protocol.sources import (
    Citation,
    Disagreement,
    DisagreementValue,
    EvidencePassage,
    PageReport,
    Passage,
    ProviderTry,
    Quote,
    SearchHit,
    Snapshot,
    Source,
    published_day,
)
from footnote.text.boundary import EVIDENCE_HEADING, strip_quotes, wrap_web_text
from footnote.text.markdown import blockquote
from footnote.web_search.crawl.crawler import CrawledPage
from footnote.web_search.images import icon_url
from footnote.web_search.ranking import RankedPassages, RankedQuotes

MAX_EXCERPT_TOKENS = 1_000
"""The limit for the excerpts of all sources together, in the text that the model reads."""
MAX_EXCERPT_BYTES = 400
BYTES_PER_TOKEN = 3
"""The agent's own estimate: about right for Chinese, a little low for English and Vietnamese."""


class SearchSources(Struct, frozen=True):
    """The sources of one search and the snapshots of their texts, by source number, and a report on each page."""

    sources: dict[int, Source]
    snapshots: dict[int, Snapshot]
    reports: tuple[PageReport, ...]


def collect_sources(
    hits: Iterable[SearchHit], pages: Mapping[str, CrawledPage], numbering: Sources, private_hosts: Collection[str] = ()
) -> SearchSources:
    """A page without a text of its own has the provider's snippet for its snapshot. `private_hosts`: hosts that the
    operator allows, whose icons may be shown too."""
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
        status="read" if read else "snippet" if page is None else page.report.status,
        published=hit.published or (read.published if read else None),
        snapshot_id=snapshot.id if snapshot else None,
        fetched_at=snapshot.fetched_at if snapshot else None,
    )


def _icon_url(hit: SearchHit, snapshot: Snapshot | None, private_hosts: Collection[str]) -> str | None:
    """The icon that the page declares, otherwise the one that the provider reports."""
    own = icon_url(snapshot.url, snapshot.icon, private_hosts) if snapshot else None
    return own or icon_url(hit.url, hit.favicon or None, private_hosts)


def _snippet_snapshot(hit: SearchHit) -> Snapshot | None:
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
    """The host of a page without `www.`; `footnote` for a page of the library's own."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return "footnote" if parts.scheme == "footnote" else (parts.hostname or "").removeprefix("www.")


# Text for the model --------------------------------------------------------------------------------------------------


def search_content(
    summary: str,
    sources: Collection[Source],
    notes: Iterable[str],
    *,
    passages: Collection[Passage] = (),
    evidence: str = "",
) -> str:
    """As web text: the summary, a blank line, `Sources:`, for each source a link with an excerpt, and the evidence. The
    notes follow outside of it, in our own words only. `passages`: the best quotations, for a source without a
    snippet."""
    max_bytes = min(MAX_EXCERPT_BYTES, MAX_EXCERPT_TOKENS * BYTES_PER_TOKEN // max(len(sources), 1))
    listed = "\n".join(_source_line(source, passages, max_bytes) for source in sources)
    note_lines = "".join(f"\nNote: {strip_quotes(note)}" for note in notes)
    opening = f"{summary}\n\n" if summary else ""
    return wrap_web_text(f"{opening}Sources:\n{listed}{evidence}") + note_lines


def evidence_text(evidence: Iterable[EvidencePassage], snapshots: Mapping[int, Snapshot]) -> str:
    """The passages with their ids, verbatim; empty if there are none."""
    listed = "\n\n".join(f"[{one.id}] {with_page_number(one, snapshots[one.number])}" for one in evidence)
    return f"{EVIDENCE_HEADING}{listed}" if listed else ""


def _source_line(source: Source, passages: Iterable[Passage], max_bytes: int) -> str:
    quoted = next((passage.text for passage in passages if passage.number == source.number), "")
    excerpt = _excerpt(source.snippet, max_bytes) or _excerpt(quoted, max_bytes)
    return f"[{source.number}] {_link(source)}" + (f"\n    {excerpt}" if excerpt else "")


def _excerpt(text: str, max_bytes: int) -> str:
    """One line of at most `max_bytes`, cut between words unless that would lose half of it."""
    line = " ".join(text.split())
    raw = line.encode("utf-8", "replace")
    if len(raw) <= max_bytes:
        return line
    short = raw[: max_bytes - len("…".encode())].decode("utf-8", "ignore")
    whole_words = short.rpartition(" ")[0]
    return f"{whole_words if len(whole_words) > len(short) // 2 else short}…"


def _link(source: Source) -> str:
    title = " ".join((source.title or source.domain or source.url).split())
    for bracket in "[]":
        title = title.replace(bracket, f"\\{bracket}")
    address = source.url.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
    return f"[{title}]({address})"


MAX_LINKS = 40
"""Links of a page that are listed; of a page that consists of links, `MAX_LINKS_OF_LISTING`."""
MAX_LINKS_OF_LISTING = 150


def page_content(
    collected: SearchSources, ranked: RankedPassages, evidence: Sequence[EvidencePassage], notes: Iterable[str]
) -> str:
    """One page for the model: what it is, the passages with ids in text order, what else fits of it, and its links."""
    [(number, snapshot)] = collected.snapshots.items()
    facts = (collected.sources[number].title, snapshot.author, snapshot.published, snapshot.language)
    head = " · ".join(fact for fact in facts if fact)
    in_order = sorted(evidence, key=lambda passage: passage.start)
    numbered = {(passage.start, passage.end) for passage in evidence}
    others = sorted(
        (passage for passage in ranked.passages if (passage.start, passage.end) not in numbered),
        key=lambda passage: passage.start,
    )
    parts = [evidence_text(in_order, collected.snapshots)]
    if others:
        heading = "More of the page" if evidence else "The page"
        text = "\n\n".join(with_page_number(passage, snapshot) for passage in others)
        parts.append(f"\n\n{heading}:\n{text}")
    parts.append(_links_text(snapshot, [*in_order, *others]))
    return search_content(head, collected.sources.values(), notes, evidence="".join(parts))


def _links_text(snapshot: Snapshot, shown: Sequence[Passage | EvidencePassage]) -> str:
    """The links in the passages that are shown, each address once."""
    linked = sum(link.end - link.start for link in snapshot.links)
    limit = MAX_LINKS_OF_LISTING if linked * 2 > len(snapshot.text) else MAX_LINKS
    spans = [(passage.start, passage.end) for passage in shown]
    labels: dict[str, str] = {}
    for link in snapshot.links:
        if link.start < link.end and any(start <= link.start and link.end <= end for start, end in spans):
            labels.setdefault(link.url, " ".join(snapshot.text[link.start : link.end].split()))
        if len(labels) == limit:
            break
    listed = "\n".join(f"- [{label}]({url})" for url, label in labels.items())
    return f"\n\nLinks:\n{listed}" if listed else ""


def with_page_number(passage: Passage | EvidencePassage, snapshot: Snapshot | None) -> str:
    """The text of a passage; one of a PDF begins with the number of its page."""
    page = snapshot.page_at(passage.start) if snapshot else None
    return f"(page {page}) {passage.text}" if page else passage.text


# Quotations and notes ------------------------------------------------------------------------------------------------


def quote_passages(passages: Iterable[Passage]) -> str:
    """A summary that consists of quotations only."""
    return "\n\n".join(blockquote(passage.text, passage.number) for passage in passages)


def quotes_of(source: Source, passages: Iterable[Passage], citations: Iterable[Citation]) -> tuple[Quote, ...]:
    """The quotations from the text of a source, each once, in text order. A citation of an older snapshot of the same
    URL does not count: its offsets belong to another text."""
    found = {(one.start, one.end): one.text for one in passages if one.number == source.number}
    for citation in citations:
        if (citation.number, citation.snapshot_id) != (source.number, source.snapshot_id):
            continue
        if citation.quote is not None and citation.quote_start is not None and citation.quote_end is not None:
            found[citation.quote_start, citation.quote_end] = citation.quote
    return tuple(Quote(text, start, end) for (start, end), text in sorted(found.items()))


def disagreements(query: str, quotes: RankedQuotes, sources: Mapping[int, Source]) -> tuple[Disagreement, ...]:
    """The quotations that contradict each other, as the sides of one disagreement."""
    sides = tuple(
        DisagreementValue(
            text=passage.text,
            number=passage.number,
            quote_start=passage.start,
            quote_end=passage.end,
            published=sources[passage.number].published,
        )
        for passage in (quotes.passages[index] for index in quotes.conflicts)
    )
    return (Disagreement(about=query, values=sides),) if len(sides) > 1 else ()


def disagreement_notes(found: Iterable[Disagreement], evidence: Sequence[EvidencePassage] = ()) -> list[str]:
    """What the model is told: the sources, each with the id of its passage and the day when it was published."""
    sides = [[_describe_side(value, evidence) for value in sorted(one.values, key=_by_number)] for one in found]
    return [
        f"Sources {', '.join(one[:-1])} and {one[-1]} contradict each other. Give both sides, each with its source."
        for one in sides
    ]


def _by_number(value: DisagreementValue) -> int:
    return value.number


def _describe_side(value: DisagreementValue, evidence: Iterable[EvidencePassage]) -> str:
    holders = (
        passage.id
        for passage in evidence
        if passage.number == value.number and passage.start <= value.quote_start and value.quote_end <= passage.end
    )
    facts = [f"[{holder}]" for holder in list(holders)[:1]]
    if day := published_day(value.published):
        facts.append(f"published {day}")
    return f"{value.number} ({', '.join(facts)})" if facts else str(value.number)


def fallback_notes(tries: Sequence[ProviderTry]) -> list[str]:
    """Notes on the providers that failed or found nothing, on the one that answered instead, and on the options that it
    does not support."""
    if not tries:
        return []
    *failed, last = tries
    if last.count or not failed:
        failures = [f"{_describe_tries(failed)}. These results are from {last.provider}."] if failed else []
        return [*failures, *(f"{last.provider}: {note}" for note in last.notes)]
    return [f"{_describe_tries(tries)}."]


def _describe_tries(tries: Sequence[ProviderTry]) -> str:
    return "; ".join(
        f"{one.provider} found nothing"
        if one.outcome == "empty"
        else f"{one.provider} did not answer ({one.reason or one.outcome})"
        for one in tries
    )
