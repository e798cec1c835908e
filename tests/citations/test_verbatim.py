"""What is quoted word for word is found exactly where it stands."""

from footnote.citations.check import check
from footnote.citations.numbering import Sources
from footnote.citations.verbatim import verbatim
from footnote.protocol.sources import Quote, Snapshot, Source

PAGE = "# Oxygen\n\nThe name was coined in 1777\nby Antoine Lavoisier, whose experiments helped. It is [sic] a gas.\n"


def test_white_space_is_one_however_much_there_is():
    quote = "coined in 1777\nby Antoine Lavoisier"
    at = PAGE.index(quote)
    assert verbatim("coined in 1777  by Antoine Lavoisier", PAGE) == Quote(quote, at, at + len(quote))


def test_a_few_letters_are_found_everywhere_and_prove_nothing():
    assert verbatim("a gas", PAGE) is None


def test_a_part_of_a_sentence_is_quoted_and_no_more_of_it():
    sources = Sources()
    source = Source(
        url="http://a.example/", title="", snippet="", domain="", number=sources.number("http://a.example/")
    )
    sources.note(source, Snapshot(url=source.url, text=PAGE))
    [citation] = check("> coined in 1777  \n> by Antoine Lavoisier, whose [1]", sources)
    assert (citation.verdict, citation.quote) == ("supported", "coined in 1777\nby Antoine Lavoisier, whose")
