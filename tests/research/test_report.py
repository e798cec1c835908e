"""The report: its outline, its sections, what is not settled, and that all of it holds."""

import re

import msgspec
import pytest

from footnote.evidence.proof import count_verdicts, judge_text
from footnote.protocol.messages import AssistantMessage, Message, ToolCall, ToolResultMessage
from footnote.protocol.sources import PageReport, ProviderTry, Receipt, SearchArtifact
from footnote.protocol.tools import Locale
from footnote.research.findings import Finding
from footnote.research.report import (
    assemble_report,
    plan_sections,
    quoted_section,
    summary_by_rule,
    summary_request,
    unsettled_section,
)
from research.finding_samples import Pages, PlainTemplate, plan_of

LOCALES: tuple[Locale, ...] = ("en", "vi", "zh")
TURBINES = "The tidal station of Halden has 24 turbines."
OPENED = "The tidal station of Halden was opened on 21 September 2014."
FALSE = "The tidal station of Halden has 57 turbines."
DENIED = "The tidal station of Halden was not opened on 21 September 2014."


def sample() -> tuple[Pages, tuple[Finding, ...]]:
    pages = Pages()
    pages.add("a.example", f"About it. {TURBINES} {OPENED}", "2024-03-17")
    pages.add("b.example", f"Again. {TURBINES}", "2024-03-18")
    pages.add("false.example", FALSE, "2024-02-11")
    pages.add("c.example", DENIED, "2024-02-12")
    found = pages.settled(q1=f"{TURBINES} [1][2] {FALSE} [3]", q2=f"{OPENED} [1]", q3=f"{DENIED} [4]")
    return pages, found


def look_up(pages: Pages, *reports: PageReport, tries: tuple[ProviderTry, ...] = ()) -> list[Message]:
    sources = tuple(one for number in pages.sources.numbers if (one := pages.sources.source(number)))
    artifact = SearchArtifact(query="halden", sources=sources, receipt=Receipt(pages=reports, providers=tries))
    call = ToolCall("call_1", "web_search", {"query": "halden"})
    return [
        AssistantMessage((call,), "toolUse", "scripted/model", parent="q1"),
        ToolResultMessage("call_1", "web_search", (), artifact=msgspec.to_builtins(artifact), parent="q1"),
    ]


@pytest.mark.parametrize("locale", LOCALES)
def test_nothing_in_a_report_is_marked_and_every_section_is_supported(locale: Locale) -> None:
    pages, found = sample()
    state = plan_of(
        "How many turbines are there?",
        "When was it opened?",
        "Who says otherwise since 2020?",
        "What did Ingrid Berg say on 3 May 2023?",
        "History of Halden, 1900-1950",
        q4=("dropped", "The report was begun after 900 seconds, before Norway was looked into."),
        q5=("failed", "The model of Acme Inc. answered with status 503."),
    )
    messages = look_up(
        pages,
        PageReport(url="http://dead.example:8080/a", status="failed", failure="connection"),
        PageReport(url="http://dead.example:8080/b", status="failed", failure="status", http_status=404),
        PageReport(url="http://slow.example/", status="failed", failure="timeout"),
        PageReport(url="https://a.example/1", status="failed", failure="timeout"),
    )
    plans = plan_sections(state, found, PlainTemplate(), locale)
    unsettled = unsettled_section(state, found, (), messages, locale)
    sections = [(plan.heading, quoted_section(plan, locale)) for plan in plans]
    report = assemble_report("Halden, 2014: what is known?", sections, unsettled, pages.sources, locale, is_quoted=True)
    assert pages.marks(report) == []
    assert count_verdicts(judge_text(report, pages.sources, uncited=True)).supported == 5
    body, last = report.split("\n## " + unsettled.split("\n")[0][3:])
    assert TURBINES in body
    assert FALSE not in body
    assert OPENED not in body
    for told in (FALSE, OPENED, DENIED, "false.example", "2024-02-11", "`dead.example:8080`", "HTTP 404", "503", "900"):
        assert told in last
    assert "`slow.example`" in last
    assert "`a.example`" not in last
    assert re.search(r"^- \[1\] \[Page 1\]\(<https://a.example/1>\)", last, re.MULTILINE)


@pytest.mark.parametrize("locale", LOCALES)
def test_a_report_with_nothing_open_says_so_and_one_with_nothing_found_too(locale: Locale) -> None:
    pages = Pages()
    pages.add("a.example", TURBINES)
    found = pages.settled(q1=f"{TURBINES} [1]")
    settled = unsettled_section(plan_of("How many turbines?"), found, (), (), locale)
    assert len(settled.split("\n\n")) == 2
    assert pages.marks(settled) == []
    nothing = unsettled_section(plan_of("How many turbines has Halden?"), (), (), (), locale)
    assert "- [ ] How many turbines has Halden? (" in nothing
    report = assemble_report("Halden", [], nothing, pages.sources, locale, is_quoted=False)
    assert report.startswith("# Halden\n\n")
    assert pages.marks(report) == []


@pytest.mark.parametrize("locale", LOCALES)
def test_the_answer_by_rule_says_where_the_report_is_and_has_the_first_findings_of_each_item(locale: Locale) -> None:
    pages, found = sample()
    answer = summary_by_rule("How many turbines are there?", found, "/report.md", locale)
    assert "/report.md" in answer
    assert f"- {TURBINES} [1][2]" in answer
    assert FALSE not in answer
    assert DENIED not in answer
    assert pages.marks(answer) == []


def test_a_request_for_the_summary_shows_the_report_without_its_sources_and_never_too_much_of_it() -> None:
    pages = Pages()
    sections = [(f"Part {at}", "\n\n".join(f"Fact {at}.{n} is here [1]." for n in range(400))) for at in range(9)]
    pages.add("a.example", "Nothing.")
    report = assemble_report("All", sections, "## Not settled", pages.sources, "en", is_quoted=False)
    _, message = summary_request("What?", report, "en")
    assert len(message) < 25_000
    assert all(f"## Part {at}\n\nFact {at}.0" in message for at in range(9))
    assert "## Not settled" in message
    assert "Page 1" not in message
