"""What a search found and did: a table of its sources, a line of figures, and a few words for a status line."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from footnote.cli.terminal.cells import cut, one_line, padded, width
from footnote.cli.terminal.footnotes import INDENT, Cited, cited_in, evidence, no_such_source, title_of
from footnote.cli.terminal.layout import Layout
from footnote.cli.terminal.lines import FULL, Line, Span, Symbols, Tone
from footnote.protocol.messages import Usage
from footnote.protocol.receipts import PageFailure, PageReport, ProviderTry, Receipt, SearchArtifact
from footnote.protocol.sources import Source
from footnote.workspace.text import counted

PIPE_COLUMNS = 120
LEAST_TITLE = 24
_WIDEST = {"domain": 24, "date": 12, "outcome": 36}
_GAP = 2

_FAILURES: dict[PageFailure, str] = {
    "refused_address": "not a public address",
    "robots": "robots.txt asks to stay away",
    "dns": "host name not found",
    "connection": "no connection",
    "tls": "TLS failed",
    "timeout": "no answer",
    "status": "answered with an error",
    "redirects": "redirected in circles",
    "too_large": "too large",
    "media_type": "not a text",
    "unreadable": "could not be taken apart",
    "empty": "no text in it",
    "needs_javascript": "needs JavaScript",
    "consent_wall": "asks for consent first",
}


def what_happened(report: PageReport, symbols: Symbols = FULL) -> str:
    """How the reading of a page ended, in a few words."""
    if report.status == "snippet":
        return "not opened"
    if report.status == "failed":
        return _failure(report)
    how = {
        "fresh": "from the cache",
        "revalidated": f"unchanged{symbols.dot}{_seconds(report.took_ms)}",
        "library": "from the library",
        None: f"{_seconds(report.took_ms)}{symbols.dot}{_size(report.bytes)}",
    }[report.cache]
    return f"read{symbols.dot}{how}" + (f"{symbols.dot}cut" if report.cut else "")


def _failure(report: PageReport) -> str:
    """The reason itself if it is short; a longer one stands below the row."""
    reason = one_line(report.reason or "")
    if reason and width(reason) <= _WIDEST["outcome"]:
        return reason
    return "failed" if report.failure is None else _FAILURES[report.failure]


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.1f} s"


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


class _Row(Struct, frozen=True):
    """One source in the table, its cells clean."""

    number: str
    mark: Span
    title: str
    cells: dict[str, str]
    tone: Tone
    source: Source
    report: PageReport | None


def source_table(artifact: SearchArtifact, layout: Layout) -> list[Line]:
    """A row for each source: number, how it went, title, domain, date, what happened.

    Below it stand its address, the passages that the summary takes from it, and every footnote that does not hold.
    """
    reports = {report.url: report for report in artifact.receipt.pages}
    rows = [_row(source, reports.get(source.url), layout.symbols) for source in artifact.sources]
    cited: dict[int, list[Cited]] = {}
    for one in cited_in(artifact.summary, artifact.citations):
        cited.setdefault(one.citation.number, []).append(one)
    columns = layout.columns or PIPE_COLUMNS
    shape = _shape(rows, columns)
    lines = layout.rows((Span(layout.words.sources),))
    for row in rows:
        lines += [_table_line(row, shape, layout)] if shape else _stacked_lines(row, layout)
        lines.append(_address(row, layout))
        lines += _long_reason(row, layout)
        lines += evidence(cited.pop(row.source.number or 0, ()), row.source, layout)
    return [*lines, *(line for number in sorted(cited) for line in no_such_source(number, layout))]


def _row(source: Source, report: PageReport | None, symbols: Symbols) -> _Row:
    read, unread, failed = ("✓", "·", "✗") if symbols is FULL else ("+", "-", "x")
    mark = {"read": Span(read, "good"), "failed": Span(failed, "bad")}.get(source.status or "", Span(unread, "dim"))
    cells = {
        "domain": one_line(source.domain),
        "date": _date(source.published),
        "outcome": what_happened(report, symbols) if report else "",
    }
    kept = {name: cut(cell, _WIDEST[name], symbols.ellipsis) for name, cell in cells.items()}
    tone: Tone = "bad" if source.status == "failed" else "dim"
    return _Row(f"[{source.number or '-'}]", mark, title_of(source), kept, tone, source, report)


def _date(published: str | None) -> str:
    """The day; what is no date in ISO form is shown as the provider wrote it."""
    text = one_line(published or "")
    return text[:10] if text[4:5] == text[7:8] == "-" else text


def _shape(rows: Sequence[_Row], columns: int) -> Mapping[str, int] | None:
    """The widths of the columns. On a narrow terminal the domain goes first, then the date; None: no table fits."""
    number = max((width(row.number) for row in rows), default=0)
    widths = {name: max((width(row.cells[name]) for row in rows), default=0) for name in _WIDEST}
    widest_title = max((width(row.title) for row in rows), default=0)
    for names in (("domain", "date", "outcome"), ("date", "outcome"), ("outcome",)):
        shown = {name: widths[name] for name in names if widths[name]}
        room = columns - number - 3 - sum(cells + _GAP for cells in shown.values())
        if room >= LEAST_TITLE:
            return {"number": number, "title": min(room, widest_title), **shown}
    return None


def _table_line(row: _Row, shape: Mapping[str, int], layout: Layout) -> Line:
    title = padded(cut(row.title, shape["title"], layout.symbols.ellipsis), shape["title"])
    spans = [Span(f"{padded(row.number, shape['number'])} "), row.mark, Span(f" {title}")]
    for name, cell in row.cells.items():
        if name in shape:
            last = name == "outcome"
            text = cell if last else padded(cell, shape[name])
            spans.append(Span(" " * _GAP + text, row.tone if last else "dim"))
    return tuple(spans)


def _stacked_lines(row: _Row, layout: Layout) -> list[Line]:
    head = (Span(f"{row.number} "), row.mark, Span(f" {row.title}"))
    facts = layout.symbols.dot.join(cell for name, cell in row.cells.items() if cell and name != "domain")
    return [
        *layout.rows(head, indent=INDENT),
        *layout.rows((Span(facts, row.tone),), first=INDENT, indent=INDENT),
    ]


def _address(row: _Row, layout: Layout) -> Line:
    went = row.report.final_url if row.report else None
    arrow = "→" if layout.symbols is FULL else "->"
    url = row.source.url if went in (None, row.source.url) else f"{row.source.url} {arrow} {went}"
    return layout.address(url, first=INDENT)


def _long_reason(row: _Row, layout: Layout) -> list[Line]:
    reason = one_line(row.report.reason or "") if row.report and row.source.status == "failed" else ""
    if not reason or reason == row.cells["outcome"]:
        return []
    return layout.rows((Span(reason, "bad"),), first=INDENT, indent=INDENT)


def receipt_lines(receipt: Receipt, symbols: Symbols, usage: Usage | None = None) -> list[Line]:
    """The figures of a search on one line, and what went another way than it should. `usage`: of its summary."""
    figures = [
        *(_asked(one) for one in receipt.providers),
        *_pages(receipt.pages),
        f"{receipt.passages_kept} of {counted(receipt.passages_found, 'passage')} kept"
        if receipt.passages_found
        else "",
        _summarised(receipt.summary_by),
        f"{usage.context:,} tokens in, {usage.output:,} out" if usage else "",
        _seconds(receipt.took_ms),
    ]
    notes = [(Span(f"Note: {note}", "dim"),) for note in receipt.notes]
    return [(Span(symbols.dot.join(figure for figure in figures if figure), "dim"),), *notes]


def _asked(one: ProviderTry) -> str:
    came = counted(one.count, "result") if one.outcome == "results" else one.outcome
    how = "from the cache" if one.cached else _seconds(one.took_ms) if one.outcome != "skipped" else ""
    return f"{one.provider}: {came} {how}".rstrip()


def _pages(reports: Sequence[PageReport]) -> list[str]:
    opened = [report for report in reports if report.status != "snippet"]
    unopened = len(reports) - len(opened)
    read = sum(report.status == "read" for report in opened)
    told = [f"{read} of {counted(len(opened), 'page')} read"] if opened else []
    return [*told, *([f"{unopened} not opened"] if unopened else [])]


def _summarised(by: str | None) -> str:
    if by is None:
        return "no summary"
    return "summary of quotations" if by == "passages" else f"summary by {by}"


def detour(receipt: Receipt) -> list[str]:
    """What went another way, for the status line of a call: another provider, pages that failed."""
    told: list[str] = []
    if receipt.providers and receipt.providers[0].provider != receipt.providers[-1].provider:
        told.append(f"{receipt.providers[-1].provider} instead of {receipt.providers[0].provider}")
    opened = [report for report in receipt.pages if report.status != "snippet"]
    if failed := sum(report.status == "failed" for report in opened):
        told.append(f"{failed} of {counted(len(opened), 'page')} failed")
    return told
