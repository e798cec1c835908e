"""The result of a search: a table of its sources, a line of figures, and a few words for a status line.

The table is not a table of rich: it is also printed without rich and into pipes, and each row has lines below it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from footnote.cli.terminal.footnotes import (
    INDENT,
    CitedFootnote,
    Layout,
    cited_sentences,
    evidence_lines,
    missing_source_lines,
    title_of,
)
from footnote.cli.terminal.lines import UNICODE, Line, StyledText, Symbols, Tone, one_line, pad, truncate, width
from footnote.protocol.messages import Usage
from footnote.protocol.sources import PageFailure, PageReport, ProviderTry, Receipt, SearchArtifact, Source
from footnote.workspace.text import pluralize

PIPE_COLUMNS = 120
MIN_TITLE_CELLS = 24
_MAX_CELLS = {"domain": 24, "date": 12, "outcome": 36}
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
    "media_type": "not text",
    "unreadable": "could not be parsed",
    "empty": "no text in it",
    "needs_javascript": "needs JavaScript",
    "consent_wall": "asks for consent first",
}


def page_outcome(report: PageReport, symbols: Symbols = UNICODE) -> str:
    """How the reading of a page ended, in a few words."""
    if report.status == "snippet":
        return "not opened"
    if report.status == "failed":
        return _failure(report)
    how = {
        "fresh": "from the cache",
        "revalidated": f"unchanged{symbols.dot}{_format_seconds(report.took_ms)}",
        "library": "from the library",
        None: f"{_format_seconds(report.took_ms)}{symbols.dot}{_size(report.bytes)}",
    }[report.cache]
    return f"read{symbols.dot}{how}" + (f"{symbols.dot}cut" if report.cut else "")


def _failure(report: PageReport) -> str:
    """The reason itself if it is short; a longer one is shown below the row."""
    reason = one_line(report.reason or "")
    if reason and width(reason) <= _MAX_CELLS["outcome"]:
        return reason
    return "failed" if report.failure is None else _FAILURES[report.failure]


def _format_seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.1f} s"


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


class _ReceiptRow(Struct, frozen=True):
    """One source in the table, its cells clean."""

    number: str
    mark: StyledText
    title: str
    cells: dict[str, str]
    tone: Tone
    source: Source
    report: PageReport | None


def source_table(artifact: SearchArtifact, layout: Layout) -> list[Line]:
    """A row for each source: number, how it went, title, domain, date, what happened.

    Below it are its address, the passages that the summary cites, and every footnote with another verdict.
    """
    reports = {report.url: report for report in artifact.receipt.pages}
    rows = [_row(source, reports.get(source.url), layout.symbols) for source in artifact.sources]
    cited: dict[int, list[CitedFootnote]] = {}
    for note in cited_sentences(artifact.summary, artifact.citations):
        cited.setdefault(note.citation.number, []).append(note)
    columns = layout.columns or PIPE_COLUMNS
    shape = _column_widths(rows, columns)
    lines = layout.rows((StyledText(layout.messages.sources),))
    for row in rows:
        lines += [_table_line(row, shape, layout)] if shape else _stacked_lines(row, layout)
        lines.append(_address(row, layout))
        lines += _long_reason(row, layout)
        lines += evidence_lines(cited.pop(row.source.number or 0, ()), row.source, layout)
    return [*lines, *(line for number in sorted(cited) for line in missing_source_lines(number, layout))]


def _row(source: Source, report: PageReport | None, symbols: Symbols) -> _ReceiptRow:
    read, unread, failed = ("✓", "·", "✗") if symbols is UNICODE else ("+", "-", "x")
    mark = {"read": StyledText(read, "good"), "failed": StyledText(failed, "bad")}.get(
        source.status or "", StyledText(unread, "dim")
    )
    cells = {
        "domain": one_line(source.domain),
        "date": _date(source.published),
        "outcome": page_outcome(report, symbols) if report else "",
    }
    shown = {name: truncate(cell, _MAX_CELLS[name], symbols.ellipsis) for name, cell in cells.items()}
    tone: Tone = "bad" if source.status == "failed" else "dim"
    return _ReceiptRow(f"[{source.number or '-'}]", mark, title_of(source), shown, tone, source, report)


def _date(published: str | None) -> str:
    """The day of an ISO date; anything else is shown as the provider wrote it."""
    text = one_line(published or "")
    return text[:10] if text[4:5] == text[7:8] == "-" else text


def _column_widths(rows: Sequence[_ReceiptRow], columns: int) -> Mapping[str, int] | None:
    """The widths of the columns. A narrow terminal drops the domain, then the date; None: no table fits."""
    number = max((width(row.number) for row in rows), default=0)
    widths = {name: max((width(row.cells[name]) for row in rows), default=0) for name in _MAX_CELLS}
    widest_title = max((width(row.title) for row in rows), default=0)
    for names in (("domain", "date", "outcome"), ("date", "outcome"), ("outcome",)):
        shown = {name: widths[name] for name in names if widths[name]}
        room = columns - number - 3 - sum(cells + _GAP for cells in shown.values())
        if room >= MIN_TITLE_CELLS:
            return {"number": number, "title": min(room, widest_title), **shown}
    return None


def _table_line(row: _ReceiptRow, widths: Mapping[str, int], layout: Layout) -> Line:
    title = pad(truncate(row.title, widths["title"], layout.symbols.ellipsis), widths["title"])
    spans = [StyledText(f"{pad(row.number, widths['number'])} "), row.mark, StyledText(f" {title}")]
    for name, cell in row.cells.items():
        if name in widths:
            last = name == "outcome"
            text = cell if last else pad(cell, widths[name])
            spans.append(StyledText(" " * _GAP + text, row.tone if last else "dim"))
    return tuple(spans)


def _stacked_lines(row: _ReceiptRow, layout: Layout) -> list[Line]:
    head = (StyledText(f"{row.number} "), row.mark, StyledText(f" {row.title}"))
    facts = layout.symbols.dot.join(cell for name, cell in row.cells.items() if cell and name != "domain")
    return [
        *layout.rows(head, indent=INDENT),
        *layout.rows((StyledText(facts, row.tone),), first=INDENT, indent=INDENT),
    ]


def _address(row: _ReceiptRow, layout: Layout) -> Line:
    went = row.report.final_url if row.report else None
    arrow = "→" if layout.symbols is UNICODE else "->"
    url = row.source.url if went in (None, row.source.url) else f"{row.source.url} {arrow} {went}"
    return layout.url_line(url, first=INDENT)


def _long_reason(row: _ReceiptRow, layout: Layout) -> list[Line]:
    reason = one_line(row.report.reason or "") if row.report and row.source.status == "failed" else ""
    if not reason or reason == row.cells["outcome"]:
        return []
    return layout.rows((StyledText(reason, "bad"),), first=INDENT, indent=INDENT)


def receipt_lines(receipt: Receipt, symbols: Symbols, usage: Usage | None = None) -> list[Line]:
    """The figures of a search on one line, and its notes. `usage`: of its summary."""
    figures = [
        *(_provider_figure(tried) for tried in receipt.providers),
        *_pages(receipt.pages),
        f"{receipt.passages_kept} of {pluralize(receipt.passages_found, 'passage')} kept"
        if receipt.passages_found
        else "",
        _summary_figure(receipt.summary_by),
        f"{usage.context:,} tokens in, {usage.output:,} out" if usage else "",
        _format_seconds(receipt.took_ms),
    ]
    notes = [(StyledText(f"Note: {note}", "dim"),) for note in receipt.notes]
    return [(StyledText(symbols.dot.join(figure for figure in figures if figure), "dim"),), *notes]


def _provider_figure(tried: ProviderTry) -> str:
    outcome = pluralize(tried.count, "result") if tried.outcome == "results" else tried.outcome
    how = "from the cache" if tried.cached else _format_seconds(tried.took_ms) if tried.outcome != "skipped" else ""
    return f"{tried.provider}: {outcome} {how}".rstrip()


def _pages(reports: Sequence[PageReport]) -> list[str]:
    opened = [report for report in reports if report.status != "snippet"]
    unopened = len(reports) - len(opened)
    read = sum(report.status == "read" for report in opened)
    figures = [f"{read} of {pluralize(len(opened), 'page')} read"] if opened else []
    return [*figures, *([f"{unopened} not opened"] if unopened else [])]


def _summary_figure(by: str | None) -> str:
    if by is None:
        return "no summary"
    return "summary of quotations" if by == "passages" else f"summary by {by}"


def deviations(receipt: Receipt) -> list[str]:
    """What did not go as planned, for the status line of a call: another provider, failed pages."""
    notes: list[str] = []
    if receipt.providers and receipt.providers[0].provider != receipt.providers[-1].provider:
        notes.append(f"{receipt.providers[-1].provider} instead of {receipt.providers[0].provider}")
    opened = [report for report in receipt.pages if report.status != "snippet"]
    if failed := sum(report.status == "failed" for report in opened):
        notes.append(f"{failed} of {pluralize(len(opened), 'page')} failed")
    return notes
