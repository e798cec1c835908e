"""A verbatim quotation is found at its exact position."""

import pytest

from footnote.evidence.page_index import find_verbatim
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.protocol.sources import Quote, Snapshot, Source

PAGE = "# Oxygen\n\nThe name was coined in 1777\nby Antoine Lavoisier, whose experiments helped. It is [sic] a gas.\n"


def is_verbatim(page: str) -> Sources:
    sources = Sources()
    url = "http://a.example/"
    source = Source(url=url, title="", snippet="", domain="", number=sources.assign_number(url))
    sources.add(source, Snapshot(url=url, text=page))
    return sources


def test_white_space_is_one_however_much_there_is():
    quote = "coined in 1777\nby Antoine Lavoisier"
    at = PAGE.index(quote)
    assert find_verbatim("coined in 1777  by Antoine Lavoisier", PAGE) == Quote(quote, at, at + len(quote))


def test_a_few_letters_are_found_everywhere_and_prove_nothing():
    assert find_verbatim("a gas", PAGE) is None


def test_a_part_of_a_sentence_is_quoted_and_no_more_of_it():
    [citation] = check_citations("> coined in 1777  \n> by Antoine Lavoisier, whose [1]", is_verbatim(PAGE))
    assert (citation.verdict, citation.quote) == ("supported", "coined in 1777\nby Antoine Lavoisier, whose")


def test_a_page_may_have_white_space_before_a_full_stop():
    page = 'ask "Write a report on tides" --output .\nask "…" > answer.md   # the answer alone\n'
    [citation] = check_citations(f"> {page.rstrip().replace(chr(10), chr(10) + '> ')} [1]", is_verbatim(page))
    assert (citation.verdict, citation.quote) == ("supported", page.rstrip())


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("It shows keys (never printed), models, search providers and fonts.", "models, search providers"),
        ("It shows keys (never (or hardly) printed) and models, search providers.", "and models, search providers"),
        ("| keys | never printed | models, search providers |", "models, search providers"),
        ("Although it never rained, the harvest was good that year.", "the harvest was good"),
        ("It did not rain; the harvest was good that year.", "the harvest was good that year."),
        ("It waits for an answer, and says so if it does not, or if the server stops.", "or if the server stops."),
        ("It fails if the disk does not answer, or if the server stops.", "or if the server stops."),
        ("Dù trời không mưa, mùa màng năm đó vẫn tốt.", "mùa màng năm đó vẫn tốt."),
        ("它显示密钥（从不打印）和模型、搜索服务商以及字体等等。", "和模型、搜索服务商以及字体等等。"),
    ],
)
def test_a_denial_of_something_else_does_not_take_a_quotation_away(sentence: str, quote: str):
    found = find_verbatim(quote, sentence)

    assert found is not None
    assert found.text == quote


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("It is not true that the earth is flat.", "the earth is flat"),
        ("It is not true, people say, that the earth is flat.", "the earth is flat"),
        ("He denied, in court, that he stole the money.", "that he stole the money"),
        ("He did not, however, win the election.", "win the election"),
        ("He did not (so he says) win the election.", "win the election"),
        ("Do not exceed the dose, drive a car or drink alcohol.", "drive a car or drink alcohol"),
        ("并没有证据表明，疫苗会引起儿童的自闭症。", "疫苗会引起儿童的自闭症。"),
    ],
)
def test_what_the_sentence_denies_is_no_quotation(sentence: str, quote: str):
    assert find_verbatim(quote, sentence) is None
