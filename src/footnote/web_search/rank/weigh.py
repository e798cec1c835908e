"""How likely it is, for each of some sentences, that the answer stands in it.

What speaks for a sentence are the words of the query in it and, less, around it: in the sentence before, the section,
the page; and something of the kind that is asked for. The weights were learned from questions in three languages whose
answers are known, and hold for all three.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import mul
from typing import NamedTuple

from msgspec import Struct

from footnote.web_search.rank.eye import Piece
from footnote.web_search.rank.query import Query
from footnote.web_search.rank.skim import rarity


class Evidence(NamedTuple):
    """What speaks for a sentence. Shares are of what all sentences have of the query together, rare words counting
    more."""

    words: float
    """The share that it has."""
    frequent: float
    """The same of the words that any text has."""
    section_words: float
    section_pairs: float
    """The share that its section has, of words and of words side by side."""
    section_names: float
    """How much of that section's share are names and numbers."""
    page_words: float
    before: float
    """The share that only the sentence before it has: `It was built in 1889.`"""
    grams: float
    section_grams: float
    """The share that it and its section have of the letters in a row: other forms of the words, and parts of them."""
    kin: float
    """The part of the query's words of which it has relatives."""
    kind: float
    """Something of the kind that is asked for."""
    kind_before: float
    """The same, where the query's words stand in the next sentence: `… by Ada Lovelace. She wrote …`"""
    length: float
    """A long sentence has more of anything."""


WEIGHTS = Evidence(
    words=7.5,
    frequent=1.5,
    section_words=3.3,
    section_pairs=2.2,
    section_names=4.6,
    page_words=2.4,
    before=2.3,
    grams=5.0,
    section_grams=5.0,
    kin=3.2,
    kind=1.8,
    kind_before=2.6,
    length=-0.6,
)

PART_WORDS, PART_KIND, PART_LENGTH = 2.4, 2.6, 0.2
"""The weights of words, kind and length for the parts of one sentence against each other."""


class Sentence(Struct, frozen=True, gc=False):
    """`section` and `page` are indexes."""

    page: int
    section: int
    piece: Piece


def weigh(sentences: Sequence[Sentence], above: Sequence[int], query: Query) -> list[float]:
    """What speaks for each of the sentences, in their order. `above`: the words in the headings above each section."""
    return [sum(map(mul, WEIGHTS, row)) for row in evidence(sentences, above, query)]


def evidence(sentences: Sequence[Sentence], above: Sequence[int], query: Query) -> Iterator[Evidence]:
    words = _Scale(one.piece.words for one in sentences)
    frequent = _Scale(one.piece.frequent for one in sentences)
    pairs = _Scale(one.piece.pairs for one in sentences)
    grams = _Scale(one.piece.grams for one in sentences)
    section_words, section_pairs, page_words = list(above), [0] * len(above), dict[int, int]()
    section_grams = [0] * len(above)
    for one in sentences:
        section_words[one.section] |= one.piece.words
        section_pairs[one.section] |= one.piece.pairs
        section_grams[one.section] |= one.piece.grams
        page_words[one.page] = page_words.get(one.page, 0) | one.piece.words
    in_sections = _Scale(section_words)
    for at, one in enumerate(sentences):
        piece = one.piece
        beside = [
            other.piece.words & ~piece.words if other.section == one.section else 0
            for other in sentences[max(0, at - 1) : at + 2]
        ]
        yield Evidence(
            words=words.share(piece.words),
            frequent=frequent.share(piece.frequent),
            section_words=in_sections.share(section_words[one.section]),
            section_pairs=pairs.share(section_pairs[one.section]),
            section_names=in_sections.share(section_words[one.section] & query.names),
            page_words=words.share(page_words[one.page]),
            before=words.share(beside[0]) if at else 0.0,
            grams=grams.share(piece.grams),
            section_grams=grams.share(section_grams[one.section]),
            kin=piece.kin.bit_count() / len(query.words),
            kind=piece.kind,
            kind_before=piece.kind * words.share(beside[-1]),
            length=math.log1p(piece.count),
        )


def weigh_parts(parts: Sequence[Piece], query: Query) -> list[float]:
    """What speaks for each of the parts of a sentence."""
    return [
        PART_WORDS * part.words.bit_count() / len(query.words)
        + PART_KIND * part.kind
        + PART_LENGTH * math.log1p(part.count)
        for part in parts
    ]


def softmax(scores: Sequence[float]) -> list[float]:
    """Chances that add up to one."""
    highest = max(scores, default=0.0)
    raised = [math.exp(score - highest) for score in scores]
    total = sum(raised)
    return [one / total for one in raised]


class _Scale:
    """What a set of bits is worth, by the rarity of each among some sets, as a share of them all."""

    def __init__(self, sets: Iterable[int]) -> None:
        counts = Counter(bit for found in sets for bit in _bits(found))
        self._worth = {bit: rarity(count) for bit, count in counts.items()}
        self._all = sum(self._worth.values()) or 1.0
        self._known: dict[int, float] = {}

    def share(self, found: int) -> float:
        share = self._known.get(found)
        if share is None:
            share = self._known[found] = sum(self._worth.get(bit, 0.0) for bit in _bits(found)) / self._all
        return share


def _bits(found: int) -> Iterator[int]:
    while found:
        lowest = found & -found
        yield lowest
        found ^= lowest
