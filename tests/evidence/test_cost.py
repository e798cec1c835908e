"""The cost of judging the footnotes of a text: linear and bounded."""

import time

import pytest

from evidence.samples import sources_of
from footnote.evidence.claims import MAX_CHARACTERS, extract_claims
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import MAX_CITATIONS, MAX_COMPARED_CHARACTERS, MAX_COMPARISONS, check_citations

SAID = "The market does not open on Sundays."
LONG = {
    "quotations in one paragraph": 'He said "so it is. So" then [1]. ',
    "footnotes in one sentence": "and it was a day [1] ",
    "code in one sentence": "`a` [1] ",
    "statements": "It is so [1]. ",
    "rows of a table": "| a | b [1] |\n",
}


@pytest.mark.parametrize("piece", LONG.values(), ids=LONG)
def test_a_text_twenty_times_as_long_takes_no_more_than_that(piece: str):
    extract_claims(piece * 100)
    short, long = (min(_seconds(piece * count) for _ in range(3)) for count in (400, 8_000))
    assert long < 100 * short


def _seconds(text: str) -> float:
    began = time.thread_time()
    extract_claims(text)
    return time.thread_time() - began


def test_what_is_left_when_the_comparisons_are_used_up_is_unsupported_without_a_quotation():
    found = check_citations(f"{SAID} [1]\n\n" * (MAX_COMPARISONS + 10), sources_of(SAID))
    assert [(one.verdict, one.quote) for one in found] == [
        *[("supported", SAID)] * MAX_COMPARISONS,
        *[("unsupported", None)] * 10,
    ]


def test_long_pages_are_compared_less_often():
    page = SAID + " Nothing else is said here, however long it is." * 8_000
    often = MAX_COMPARED_CHARACTERS // len(page)
    found = check_citations(f"{SAID} [1]\n\n" * (often + 10), sources_of(page))
    assert often < MAX_COMPARISONS
    assert [one.verdict for one in found] == [*["supported"] * often, *["unsupported"] * 10]


def test_a_text_of_nothing_but_footnotes_has_a_limited_number_of_citations():
    assert len(check_citations("So [1]. " * (MAX_CITATIONS + 10), Sources())) == MAX_CITATIONS


def test_what_stands_behind_the_first_300_000_characters_is_not_judged():
    text = f"{SAID} [1]\n\n{'x' * MAX_CHARACTERS}\n\n{SAID} [1]"
    assert [one.start for one in check_citations(text, sources_of(SAID))] == [0]
