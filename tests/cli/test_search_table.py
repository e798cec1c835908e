"""The summary of a search as lines: the table of sources, its numbers, and what failed."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cli.run_events import call, call_running, result
from cli.test_ask_plain import render
from footnote.cli.terminal.footnotes import Layout
from footnote.cli.terminal.lines import ASCII, UNICODE, Line, as_text
from footnote.cli.terminal.receipt import page_outcome, receipt_lines, source_table
from footnote.protocol.messages import Usage
from footnote.protocol.sources import Citation, PageFailure, PageReport, ProviderTry, Receipt, SearchArtifact, Source

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e"


def source(number: int, title: str, **more: Any) -> Source:
    facts = {"url": f"https://{number}.example/page", "snippet": "…", "domain": f"{number}.example"}
    return Source(title=title, number=number, **{"status": "read", **facts, **more})


def page(number: int, **more: Any) -> PageReport:
    facts: dict[str, Any] = {
        "url": f"https://{number}.example/page",
        "status": "read",
        "took_ms": 1234,
        "bytes": 45_300,
    }
    return PageReport(**(facts | more))


def texts(lines: list[Line]) -> list[str]:
    return [as_text(line) for line in lines]


SUMMARY = "Giá đóng cửa là 26.500 đồng [1]. It doubled [3]. Both agree [9]."
SEARCH = SearchArtifact(
    query="HPG share price",
    sources=(
        source(1, "Giá cổ phiếu HPG hôm nay", domain="simplize.vn", published="2024-03-17T10:00:00Z"),
        source(2, "和发集团股价走势与成交量", domain="cafef.vn", published="vor 2 Tagen"),
        source(3, "Hoa Phat Group annual report for shareholders and everybody else", status="failed"),
        source(4, "", status="snippet", url="https://4.example/x", domain="4.example"),
    ),
    summary=SUMMARY,
    citations=(
        Citation("[1]", 1, 0, 32, "supported", "HPG đóng cửa ở mức 26.500 đồng.", 0, 31),
        Citation("[3]", 3, 33, 48, "unsupported"),
        Citation("[9]", 9, 49, 64, "unsupported"),
    ),
    receipt=Receipt(
        providers=(
            ProviderTry(provider="duckduckgo", outcome="blocked", took_ms=812, reason="a challenge"),
            ProviderTry(provider="brave", outcome="results", took_ms=405, count=4),
        ),
        pages=(
            page(1),
            page(2, cache="library", final_url="https://m.cafef.vn/hpg"),
            page(3, status="failed", failure="status", http_status=500, reason="HTTP 500"),
            page(4, url="https://4.example/x", status="snippet", chosen="result 4: beyond the pages to be read"),
        ),
        passages_found=31,
        passages_kept=12,
        summary_by="anthropic/claude",
        took_ms=6120,
        notes=("duckduckgo did not answer (a challenge). These results are from brave.",),
    ),
)


def test_a_source_has_a_row_its_address_and_what_the_summary_takes_from_it() -> None:
    assert texts(source_table(SEARCH, Layout(100))) == [
        "Sources:",
        "[1] ✓ Giá cổ phiếu HPG hôm nay                     simplize.vn  2024-03-17   read · 1.2 s · 45 kB",
        "    https://1.example/page",
        "    “HPG đóng cửa ở mức 26.500 đồng.”",
        "[2] ✓ 和发集团股价走势与成交量                     cafef.vn     vor 2 Tagen  read · from the library",
        "    https://2.example/page → https://m.cafef.vn/hpg",
        "[3] ✗ Hoa Phat Group annual report for…            3.example                 HTTP 500",
        "    https://3.example/page",
        "    (only its search result was read)",
        "    ✗ not supported: “It doubled.”",
        "[4] · 4.example                                    4.example                 not opened",
        "    https://4.example/x",
        "[9] no such source",
    ]


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (80, "[2] ✓ 和发集团股价走势与成交量              vor 2 Tagen  read · from the library"),
        (60, "[2] ✓ 和发集团股价走势与成交量       read · from the library"),
    ],
)
def test_on_a_narrower_terminal_the_domain_goes_first_and_then_the_date(columns: int, row: str) -> None:
    assert row in texts(source_table(SEARCH, Layout(columns)))


def test_where_no_table_fits_the_facts_stand_below_the_title() -> None:
    assert texts(source_table(SEARCH, Layout(30)))[:9] == [
        "Sources:",
        "[1] ✓ Giá cổ phiếu HPG hôm nay",
        "    2024-03-17 · read · 1.2 s",
        "    · 45 kB",
        "    https://1.example/page",
        "    “HPG đóng cửa ở mức 26.500",
        "     đồng.”",
        "[2] ✓ 和发集团股价走势与成交量",
        "    vor 2 Tagen · read · from",
    ]


def test_without_a_terminal_there_is_room_for_everything() -> None:
    assert texts(source_table(SEARCH, Layout()))[6].split("  ")[0] == (
        "[3] ✗ Hoa Phat Group annual report for shareholders and everybody…"
    )


def test_where_the_encoding_lacks_the_signs_the_table_is_in_ascii() -> None:
    lines = "\n".join(texts(source_table(SEARCH, Layout(symbols=ASCII))))
    assert "read - 1.2 s - 45 kB" in lines
    assert "[3] x Hoa Phat" in lines
    assert "https://2.example/page -> https://m.cafef.vn/hpg" in lines
    assert not set("✓✗·…“”→") & set(lines)


words = st.text(st.sampled_from("aé 股价ạ👩🔬한ｱ。“"), max_size=60)


@given(st.lists(st.tuples(words, words, words), min_size=1, max_size=4), st.integers(1, 140))
def test_columns_are_aligned_and_no_row_is_wider_than_the_terminal(
    rows: list[tuple[str, str, str]], columns: int
) -> None:
    found = tuple(
        source(at, f"x{title}", domain=domain, published=date) for at, (title, domain, date) in enumerate(rows, 1)
    )
    pages = tuple(page(at) for at in range(1, len(rows) + 1))
    artifact = SearchArtifact(query="?", sources=found, receipt=Receipt(pages=pages))
    lines = [line for line in texts(source_table(artifact, Layout(columns))) if "https://" not in line]
    assert [line for line in lines if cell_len(line) > max(columns, 2)] == []
    outcomes = [line.rindex("read · ") for line in lines if "read · 1.2 s · 45 kB" in line]
    if columns >= 60:
        assert len(outcomes) == len(rows)
        assert len({cell_len(line[:at]) for line, at in zip(lines[1:], outcomes, strict=True)}) == 1


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (page(1), "read · 1.2 s · 45 kB"),
        (page(1, bytes=312, took_ms=40), "read · 0.0 s · 312 B"),
        (page(1, bytes=2_340_000, cut=True), "read · 1.2 s · 2.3 MB · cut"),
        (page(1, cache="fresh"), "read · from the cache"),
        (page(1, cache="revalidated"), "read · unchanged · 1.2 s"),
        (page(1, cache="library"), "read · from the library"),
        (page(1, status="snippet"), "not opened"),
        (
            page(1, status="failed", failure="timeout", reason="no answer within 8 seconds"),
            "no answer within 8 seconds",
        ),
        (page(1, status="failed", failure="robots", reason="x" * 99), "robots.txt asks to stay away"),
        (page(1, status="failed", failure="robots"), "robots.txt asks to stay away"),
        (page(1, status="failed"), "failed"),
    ],
)
def test_what_happened_to_a_page_is_a_few_words(report: PageReport, words: str) -> None:
    assert page_outcome(report) == words


@pytest.mark.parametrize("failure", get_args(PageFailure))
def test_every_failure_has_words_that_fit_into_the_table(failure: PageFailure) -> None:
    words = page_outcome(page(1, status="failed", failure=failure))
    assert words
    assert len(words) <= 36


def test_a_long_reason_stands_in_full_below_the_row() -> None:
    reason = "it expands to more than 20,000,000 bytes: a decompression bomb"
    pages = (page(1, status="failed", failure="too_large", reason=reason),)
    artifact = SearchArtifact(query="?", sources=(source(1, "A", status="failed"),), receipt=Receipt(pages=pages))
    assert texts(source_table(artifact, Layout(80))) == [
        "Sources:",
        "[1] ✗ A  1.example  too large",
        "    https://1.example/page",
        f"    {reason}",
    ]


def test_nothing_that_a_page_or_a_provider_says_steers_the_terminal() -> None:
    evil = source(
        1, f"Ti{EVIL}tle", domain=f"do{EVIL}main", published=f"20{EVIL}24", url=f"https://x/{EVIL}", status="failed"
    )
    report = page(1, url=evil.url, status="failed", reason=f"re{EVIL}ason" * 9, final_url=f"https://y/{EVIL}")
    receipt = Receipt(
        pages=(report,),
        providers=(ProviderTry(provider=f"br{EVIL}ave", outcome="results"),),
        summary_by=f"a/{EVIL}b",
        notes=(f"no{EVIL}te",),
    )
    artifact = SearchArtifact(query="?", sources=(evil,), receipt=receipt)
    for lines in (
        source_table(artifact, Layout(80)),
        source_table(artifact, Layout()),
        receipt_lines(receipt, UNICODE),
    ):
        shown = "".join(texts(lines))
        assert not set(EVIL) & set(shown) - set("0;owned[2J31m]")
    assert texts(source_table(artifact, Layout(80)))[1] == "[1] ✗ Title  domain  2024  failed"


def test_the_figures_of_a_search_are_one_line_and_what_was_unusual_has_its_own() -> None:
    assert texts(receipt_lines(SEARCH.receipt, UNICODE)) == [
        (
            "duckduckgo: blocked 0.8 s · brave: 4 results 0.4 s · 2 of 3 pages read · 1 not opened"
            " · 12 of 31 passages kept · summary by anthropic/claude · 6.1 s"
        ),
        "Note: duckduckgo did not answer (a challenge). These results are from brave.",
    ]


def test_the_figures_of_a_search_that_was_answered_from_the_cache() -> None:
    receipt = Receipt(
        providers=(
            ProviderTry(provider="serper", outcome="skipped", reason="resting"),
            ProviderTry(provider="brave", outcome="results", cached=True, count=1),
        ),
        pages=(page(1, cache="fresh"),),
        passages_found=1,
        passages_kept=1,
        summary_by="passages",
        took_ms=12,
    )
    assert texts(receipt_lines(receipt, ASCII)) == [
        (
            "serper: skipped - brave: 1 result from the cache - 1 of 1 page read - 1 of 1 passage kept"
            " - summary of quotations - 0.0 s"
        )
    ]


def test_the_figures_tell_what_the_summary_cost() -> None:
    (line,) = texts(receipt_lines(Receipt(summary_by="a/b", took_ms=900), UNICODE, Usage(1000, 567, 200, 34)))
    assert line == "summary by a/b · 1,234 tokens in, 567 out · 0.9 s"


def test_the_figures_of_a_search_that_found_nothing() -> None:
    receipt = Receipt(providers=(ProviderTry(provider="brave", outcome="empty", took_ms=300),), took_ms=310)
    assert texts(receipt_lines(receipt, UNICODE)) == ["brave: empty 0.3 s · no summary · 0.3 s"]


def status_line(artifact: dict[str, Any], *, ok: bool = True) -> str:
    events = [
        *call(0, "c1", "web_search", "Search the web", query="HPG"),
        *call_running("c1"),
        *result(1, "c1", "web_search", "No provider answered.\nMore.", ok=ok, artifact=artifact),
    ]
    _, err = render(events)
    return err.splitlines()[-1]


def artifact_of(receipt: Receipt) -> dict[str, Any]:
    pages = [{"url": one.url, "status": one.status} for one in receipt.pages]
    tries = [{"provider": one.provider, "outcome": one.outcome} for one in receipt.providers]
    return {"query": "HPG", "sources": [{}] * 4, "receipt": {"pages": pages, "providers": tries}}


def test_the_status_line_of_a_search_tells_its_detours() -> None:
    assert status_line(artifact_of(SEARCH.receipt)) == (
        "✓ Search the web · HPG · 0.5s · 4 sources · brave instead of duckduckgo · 1 of 3 pages failed"
    )


SMOOTH = {"providers": [{"provider": "brave", "outcome": "results"}], "pages": [{"url": "https://a", "status": "read"}]}


@pytest.mark.parametrize("receipt", [None, {}, "x", {"pages": 5}, SMOOTH])
def test_the_status_line_of_a_search_without_a_detour_or_a_receipt_is_short(receipt: Any) -> None:
    artifact = {"query": "HPG", "sources": [{}], "receipt": receipt}
    assert status_line(artifact) == "✓ Search the web · HPG · 0.5s · 1 source"


def test_the_status_line_of_a_search_that_failed_says_why() -> None:
    assert status_line(artifact_of(SEARCH.receipt), ok=False) == (
        "✗ Search the web · HPG · 0.5s · No provider answered."
    )
