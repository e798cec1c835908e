"""Which quotations belong to a question, by the words that are rare on the pages of a run."""

from footnote.research.findings import quote_source
from footnote.research.relevance import Relevance
from research.finding_samples import Pages

OXYGEN = "Oxygen was discovered by Carl Wilhelm Scheele in Uppsala in 1773."
FIRE = "An electrical fire spread quickly through the cabin, and was discovered too late by the crew."
RIVER = "The river was discovered by Jean Ribault in May 1562, and was called the River of May."


def test_a_quotation_that_shares_a_common_word_alone_is_left_out():
    pages = Pages()
    numbers = [pages.add("site.example", text) for text in (OXYGEN, FIRE, RIVER)]
    texts = (OXYGEN, FIRE, RIVER)
    found = [quote_source("q1", text, number, pages.sources) for number, text in zip(numbers, texts, strict=True)]
    selected = Relevance(pages.sources).select("Who discovered oxygen?", [one for one in found if one], 6)
    assert [one.citations[0].number for one in selected] == [numbers[0]]


def test_of_many_the_most_relevant_are_kept_in_their_order():
    pages = Pages()
    texts = [f"Oxygen was discovered {place} in {1770 + place}." for place in range(5)]
    numbers = [pages.add("site.example", text) for text in texts]
    found = [quote_source("q1", text, number, pages.sources) for number, text in zip(numbers, texts, strict=True)]
    selected = Relevance(pages.sources).select("When was oxygen discovered?", [one for one in found if one], 3)
    assert len(selected) == 3
    assert selected == [one for one in found if one in selected]
