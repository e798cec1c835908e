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

from footnote.web_search.ranking.matching import MatchedPiece
from footnote.web_search.ranking.prefilter import rarity
from footnote.web_search.ranking.query import Query


class SentenceFeatures(NamedTuple):
    """What speaks for a sentence. Shares are of what all sentences have of the query together, rare words counting
    more."""

    words: float
    """The share that it has."""
    stop_words: float
    """The same of the words that any text has."""
    section_words: float
    section_pairs: float
    """The share that its section has, of words and of words side by side."""
    section_names: float
    """How much of that section's share are names and numbers."""
    page_words: float
    previous_words: float
    """The share that only the sentence before it has: `It was built in 1889.`"""
    ngrams: float
    section_ngrams: float
    """The share that it and its section have of the letters in a row: other forms of the words, and parts of them."""
    related_words: float
    """The part of the query's words of which it has relatives."""
    answer_type: float
    """Something of the kind that is asked for."""
    answer_type_before: float
    """The same, where the query's words stand in the next sentence: `… by Ada Lovelace. She wrote …`"""
    length: float
    """A long sentence has more of anything."""


WEIGHTS = SentenceFeatures(
    words=7.5,
    stop_words=1.5,
    section_words=3.3,
    section_pairs=2.2,
    section_names=4.6,
    page_words=2.4,
    previous_words=2.3,
    ngrams=5.0,
    section_ngrams=5.0,
    related_words=3.2,
    answer_type=1.8,
    answer_type_before=2.6,
    length=-0.6,
)

PART_WORDS, PART_ANSWER_TYPE, PART_LENGTH = 2.4, 2.6, 0.2
"""The weights of words, kind and length for the parts of one sentence against each other."""


class ScoredSentence(Struct, frozen=True, gc=False):
    """`section` and `page` are indexes."""

    page: int
    section: int
    piece: MatchedPiece


def score_sentences(sentences: Sequence[ScoredSentence], heading_words: Sequence[int], query: Query) -> list[float]:
    """What speaks for each of the sentences, in their order. `above`: the words in the headings above each section."""
    return [sum(map(mul, WEIGHTS, row)) for row in extract_features(sentences, heading_words, query)]


def extract_features(
    sentences: Sequence[ScoredSentence], heading_words: Sequence[int], query: Query
) -> Iterator[SentenceFeatures]:
    words = _RarityScale(one.piece.matched_words for one in sentences)
    frequent = _RarityScale(one.piece.stop_words for one in sentences)
    pairs = _RarityScale(one.piece.pairs for one in sentences)
    grams = _RarityScale(one.piece.ngrams for one in sentences)
    section_words, section_pairs, page_words = list(heading_words), [0] * len(heading_words), dict[int, int]()
    section_grams = [0] * len(heading_words)
    for one in sentences:
        section_words[one.section] |= one.piece.matched_words
        section_pairs[one.section] |= one.piece.pairs
        section_grams[one.section] |= one.piece.ngrams
        page_words[one.page] = page_words.get(one.page, 0) | one.piece.matched_words
    in_sections = _RarityScale(section_words)
    for at, one in enumerate(sentences):
        piece = one.piece
        beside = [
            other.piece.matched_words & ~piece.matched_words if other.section == one.section else 0
            for other in sentences[max(0, at - 1) : at + 2]
        ]
        yield SentenceFeatures(
            words=words.share(piece.matched_words),
            stop_words=frequent.share(piece.stop_words),
            section_words=in_sections.share(section_words[one.section]),
            section_pairs=pairs.share(section_pairs[one.section]),
            section_names=in_sections.share(section_words[one.section] & query.names),
            page_words=words.share(page_words[one.page]),
            previous_words=words.share(beside[0]) if at else 0.0,
            ngrams=grams.share(piece.ngrams),
            section_ngrams=grams.share(section_grams[one.section]),
            related_words=piece.related_words.bit_count() / len(query.word_bits),
            answer_type=piece.answer_type_score,
            answer_type_before=piece.answer_type_score * words.share(beside[-1]),
            length=math.log1p(piece.word_count),
        )


def score_parts(parts: Sequence[MatchedPiece], query: Query) -> list[float]:
    """What speaks for each of the parts of a sentence."""
    return [
        PART_WORDS * part.matched_words.bit_count() / len(query.word_bits)
        + PART_ANSWER_TYPE * part.answer_type_score
        + PART_LENGTH * math.log1p(part.word_count)
        for part in parts
    ]


def softmax(scores: Sequence[float]) -> list[float]:
    """Chances that add up to one."""
    highest = max(scores, default=0.0)
    raised = [math.exp(score - highest) for score in scores]
    total = sum(raised)
    return [one / total for one in raised]


class _RarityScale:
    """What a set of bits is worth, by the rarity of each among some sets, as a share of them all."""

    def __init__(self, sets: Iterable[int]) -> None:
        counts = Counter(bit for found in sets for bit in _bits(found))
        self._weights = {bit: rarity(count) for bit, count in counts.items()}
        self._total = sum(self._weights.values()) or 1.0
        self._share_cache: dict[int, float] = {}

    def share(self, found: int) -> float:
        share = self._share_cache.get(found)
        if share is None:
            share = self._share_cache[found] = sum(self._weights.get(bit, 0.0) for bit in _bits(found)) / self._total
        return share


def _bits(found: int) -> Iterator[int]:
    while found:
        lowest = found & -found
        yield lowest
        found ^= lowest
