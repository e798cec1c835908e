"""Which sections of the pages have how much of what is looked for.

Only the words of the query are searched for, none of the others is even read: a long page costs next to nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from math import log1p

from msgspec import Struct

from footnote.text.terms import has_unspaced
from footnote.web_search.ranking.query import Query, key_of
from footnote.web_search.ranking.sections import PageSection

_ARABIC = re.compile(r"[\u0620-\u06d3]")
_FORM = re.compile(r"[^\W_]{1,12}+(?![^\W_])")
_MIN_STEM = 4
"""A key of fewer letters begins too many words: what is found must be a form of the very word."""


class RankedPage(Struct, frozen=True):
    """`plain` is the text as it is compared, letter by letter."""

    number: int
    text: str
    normalized: str
    sections: tuple[PageSection, ...]


class SectionPlace(Struct, frozen=True, gc=False, order=True):
    """A section by the index of its page and its own."""

    page: int
    section: int


def rarity(count: int) -> float:
    """What it says of a text that it has a word which `count` texts have. It does not matter of how many: words of one
    query are compared with each other."""
    return 1 / (1 + log1p(count))


class Prefiltered(Struct, frozen=True):
    """Every section, with the rarity of what it has added up; and the words that no page has."""

    scores: dict[SectionPlace, float]
    missing_words: tuple[str, ...]


def prefilter(pages: Sequence[RankedPage], query: Query) -> Prefiltered:
    found = {SectionPlace(at, section): 0.0 for at, page in enumerate(pages) for section in range(len(page.sections))}
    starts = [[section.start for section in page.sections] for page in pages]
    missing: list[str] = []
    for needle in _needles(query):
        places = [
            SectionPlace(at, one) for at, page in enumerate(pages) for one in _sections_with(page, starts[at], needle)
        ]
        if not places and needle.word:
            missing.append(needle.word)
        for place in places:
            found[place] += rarity(len(places))
    return Prefiltered(found, tuple(missing))


class _Needle(Struct, frozen=True):
    """`apart`: it must begin a word. `exact`: of which it must be the key. `word` is the key of the query's word, empty
    for a pair."""

    word: str
    text: str
    at_word_start: bool
    exact: bool


def _needles(query: Query) -> Iterator[_Needle]:
    for key in query.word_bits:
        # In Arabic, `and`, `in` and `the` are written together with the word that follows.
        apart = not has_unspaced(key) and not _ARABIC.match(key)
        yield _Needle(
            key, key[:-1] if len(key) > _MIN_STEM and key[-1] == "y" else key, apart, apart and len(key) < _MIN_STEM
        )
    for first, second in query.pairs:
        if len(first) == len(second) == 1 and has_unspaced(first + second):
            yield _Needle("", first + second, at_word_start=False, exact=False)


def _sections_with(page: RankedPage, starts: list[int], needle: _Needle) -> Iterator[int]:
    """The sections that have it, each once."""
    plain, text = page.normalized, needle.text
    at = plain.find(text)
    while at >= 0:
        end = at + len(text)
        index = bisect_right(starts, at) - 1
        if (
            (needle.at_word_start and at and plain[at - 1].isalnum())
            or (needle.exact and plain[end : end + 1].isalnum() and not _is_form_of(plain, at, needle.word))
            or index < 0
            or at >= page.sections[index].end
        ):
            at = plain.find(text, at + 1)
        else:
            yield index
            at = plain.find(text, page.sections[index].end)


def _is_form_of(plain: str, at: int, key: str) -> bool:
    """Whether the word that begins there has that key: `votes` has `vot`, `law` is that of `laws`."""
    found = _FORM.match(plain, at)
    return found is not None and key_of(found.group()) == key
