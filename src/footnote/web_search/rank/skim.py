"""Which sections of the pages have how much of what is looked for.

Only the words of the query are searched for, none of the others is even read: a long page costs next to nothing.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from math import log1p

from msgspec import Struct

from footnote.language.terms import has_unspaced
from footnote.web_search.rank.query import Query
from footnote.web_search.rank.sections import Section

_STEM = 4
"""A word of fewer letters is searched for as it is; a longer one may have another ending."""


class Page(Struct, frozen=True):
    """`plain` is the text as it is compared, letter by letter."""

    number: int
    text: str
    plain: str
    sections: tuple[Section, ...]


class Place(Struct, frozen=True, gc=False, order=True):
    """A section by the index of its page and its own."""

    page: int
    section: int


def rarity(count: int) -> float:
    """What it says of a text that it has a word which `count` texts have. It does not matter of how many: words of one
    query are compared with each other."""
    return 1 / (1 + log1p(count))


def skim(pages: Sequence[Page], query: Query) -> dict[Place, float]:
    """Every section, with the rarity of what it has added up."""
    found = {Place(at, section): 0.0 for at, page in enumerate(pages) for section in range(len(page.sections))}
    starts = [[section.start for section in page.sections] for page in pages]
    for needle in _needles(query):
        places = [Place(at, one) for at, page in enumerate(pages) for one in _having(page, starts[at], needle)]
        for place in places:
            found[place] += rarity(len(places))
    return found


class _Needle(Struct, frozen=True):
    """`apart`: it must begin a word. `whole`: it must also end it; a long word may have another ending."""

    text: str
    apart: bool
    whole: bool


def _needles(query: Query) -> Iterator[_Needle]:
    for key in query.words:
        apart = not has_unspaced(key)
        yield _Needle(key[:-1] if len(key) > _STEM and key[-1] == "y" else key, apart, apart and len(key) < _STEM)
    for first, second in query.pairs:
        if has_unspaced(first + second):
            yield _Needle(first + second, apart=False, whole=False)


def _having(page: Page, starts: list[int], needle: _Needle) -> Iterator[int]:
    """The sections that have it, each once."""
    plain, text = page.plain, needle.text
    at = plain.find(text)
    while at >= 0:
        end = at + len(text)
        index = bisect_right(starts, at) - 1
        if (
            (needle.apart and at and plain[at - 1].isalnum())
            or (needle.whole and plain[end : end + 1].isalnum())
            or index < 0
            or at >= page.sections[index].end
        ):
            at = plain.find(text, at + 1)
        else:
            yield index
            at = plain.find(text, page.sections[index].end)
