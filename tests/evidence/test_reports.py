"""Whole reports with a label for each statement: what is marked `uncited` or `unread`, and what is left alone."""

from collections import Counter

import pytest

from evidence.samples import sources_of
from fixtures.reports.reports import LANGUAGES, LabelledReport, reports
from footnote.evidence.proof import judge_text
from footnote.protocol.sources import Citation

MIN_PRECISION, MIN_RECALL = 0.9, 0.8
MIN_SUGGESTED = 0.65


def judged(report: LabelledReport) -> dict[int, list[Citation]]:
    """The citations of each labelled statement, by its offset."""
    citations = judge_text(report.text, sources_of(*report.pages), uncited=True, given=report.given)
    return {
        statement.start: [one for one in citations if statement.start <= one.start < statement.end]
        for statement in report.statements
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_statements_without_a_source_are_marked_and_hardly_anything_else(language: str) -> None:
    counts: Counter[str] = Counter()
    for report in (one for one in reports() if one.language == language):
        citations = judged(report)
        for statement in report.statements:
            found = [one for one in citations[statement.start] if one.verdict == "uncited"]
            counts["marked"] += bool(found)
            counts["right"] += bool(found) and statement.label == "uncited"
            counts["uncited"] += statement.label == "uncited"
            counts["supported"] += statement.source is not None
            counts["suggested"] += bool(found) and statement.source == found[0].suggestion is not None
    assert counts["uncited"] >= 20
    assert counts["right"] >= MIN_PRECISION * counts["marked"]
    assert counts["right"] >= MIN_RECALL * counts["uncited"]
    assert counts["suggested"] >= MIN_SUGGESTED * counts["supported"]


def test_headings_opinions_questions_instructions_and_sums_have_no_mark() -> None:
    marked = [
        (report.language, report.text[statement.start : statement.end])
        for report in reports()
        for citations in [judged(report)]
        for statement in report.statements
        if statement.label in ("none", "given") and citations[statement.start]
    ]
    assert marked == []


def test_links_to_pages_that_were_not_read_are_marked_and_no_source_is_suggested_that_says_nothing() -> None:
    for report in reports():
        citations = judged(report)
        for statement in report.statements:
            found = citations[statement.start]
            if statement.label == "unread":
                assert [one.verdict for one in found] == ["unread"]
            if statement.label == "uncited" and statement.source is None:
                assert [one.suggestion for one in found if one.suggestion] == []
            if statement.label == "cited":
                assert found
