"""The relevance of passages for a question, by BM25, and which of them are good enough to be results."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from footnote.db.fulltext import Frequencies, IndexHit, IndexTerms
from footnote.text.excerpt import best_sentences
from footnote.text.languages import detect_locale
from footnote.text.search_terms import alternate_forms, content_terms
from footnote.text.stems import base_form
from footnote.text.terms import Term, is_unspaced


class Criterion(Struct, frozen=True):
    """A part of the question that a passage should contain: any of `terms`, or if there are `pairs`, one of the pairs
    side by side.

    `share` is its weight relative to other criteria with equally rare terms.
    """

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    share: float = 1.0


class LibraryQuestion(Struct, frozen=True):
    criteria: tuple[Criterion, ...]

    @property
    def terms(self) -> list[str]:
        """All terms, each once."""
        return list(dict.fromkeys(term for criterion in self.criteria for term in criterion.terms))


def parse_question(text: str) -> LibraryQuestion:
    terms = list(content_terms(text))
    unspaced = [term for term in terms if is_unspaced(term.text)]
    spaced = [term for term in terms if not is_unspaced(term.text)]
    criteria = _syllable_criteria(spaced, text) if detect_locale(text) == "vi" else _word_criteria(spaced)
    return LibraryQuestion((*criteria, *_character_criteria(unspaced)))


def _word_criteria(words: list[Term]) -> Iterator[Criterion]:
    for word in dict.fromkeys(word.text for word in words):
        yield Criterion(tuple(dict.fromkeys((word, base_form(word)))))


def _syllable_criteria(syllables: list[Term], text: str) -> Iterator[Criterion]:
    """Most Vietnamese words have two syllables, each of which is common: the two as neighbours weigh most."""
    pairs: dict[str, list[tuple[str, str]]] = {syllable.text: [] for syllable in syllables}
    for first, second in pairwise(syllables):
        if text[first.end : second.start].isspace():
            pairs[first.text].append((first.text, second.text))
            pairs[second.text].append((first.text, second.text))
    for syllable, words in pairs.items():
        if words:
            yield Criterion((syllable,), share=0.3)
            yield Criterion((syllable,), tuple(words), share=0.7)
        else:
            yield Criterion((syllable,))


def _character_criteria(pairs: list[Term]) -> Iterator[Criterion]:
    """One criterion for each Chinese character, which a passage meets if it contains one of the character's pairs. A
    criterion for each pair would be too strict, because some pairs span two words."""
    pairs_by_offset: dict[int, list[str]] = {}
    for pair in pairs:
        for offset in range(pair.start, pair.end):
            pairs_by_offset.setdefault(offset, []).append(pair.text)
    for texts in pairs_by_offset.values():
        yield Criterion(tuple(texts), share=0.5)


MIN_RELEVANCE = 0.36
"""The minimum for a result. It was tuned on questions that the library can answer, and as many that it cannot."""
MIN_DOCUMENTATION_RELEVANCE = 0.6
"""Every library contains the documentation, and few questions are about it, so that its minimum is higher."""
_SHORT_QUESTION_WORDS = 2
"""In a question of at most this many words, one word is not enough, whatever its weight: "time in Sydney" is not about
time."""
_MIN_SHARE_OF_BEST = 0.5
_MIN_PASSAGES = 1000
"""A small library says little about how rare a word is: weights are computed as if there were this many passages."""
_BM25_K1, _BM25_B, _AVERAGE_LENGTH = 1.2, 0.4, 90
"""The parameters of BM25: the saturation of term frequency, and the normalization by passage length."""
_TITLE_BOOST, _ALTERNATE_FORM_WEIGHT = 2.0, 0.8


class RankedPassage(Struct, frozen=True):
    """The best passage of a text, as offsets."""

    snapshot_id: str
    start: int
    end: int
    relevance: float


class _WeightedCriterion(Struct, frozen=True):
    criterion: Criterion
    weight: float


def rank_passages(
    question: LibraryQuestion, frequencies: Frequencies, candidates: Iterable[IndexHit]
) -> list[RankedPassage]:
    """The best passage of each text that is relevant enough, the best text first."""
    criteria = [
        _WeightedCriterion(criterion, _criterion_weight(criterion, frequencies)) for criterion in question.criteria
    ]
    best: dict[str, RankedPassage] = {}
    for hit in candidates:
        relevance = _relevance(criteria, hit.terms)
        known = best.get(hit.snapshot_id)
        minimum = MIN_DOCUMENTATION_RELEVANCE if hit.documentation else MIN_RELEVANCE
        if relevance >= minimum and (known is None or relevance > known.relevance):
            best[hit.snapshot_id] = RankedPassage(hit.snapshot_id, hit.terms.start, hit.terms.end, relevance)
    ranked = sorted(best.values(), key=lambda passage: -passage.relevance)
    return [passage for passage in ranked if passage.relevance >= ranked[0].relevance * _MIN_SHARE_OF_BEST]


def _criterion_weight(criterion: Criterion, frequencies: Frequencies) -> float:
    """The inverse document frequency: rarer terms weigh more, and a term that no passage contains weighs most."""
    matching = max(frequencies.by_term.get(term, 0) for term in criterion.terms)
    passages = max(frequencies.passages, _MIN_PASSAGES)
    return criterion.share * math.log(1 + (passages - matching + 0.5) / (matching + 0.5))


def _relevance(criteria: list[_WeightedCriterion], terms: IndexTerms) -> float:
    """The mean of two shares of the question: of the criteria that the passage meets, and of their BM25 scores."""
    passage = _PassageTerms(terms)
    scores = [passage.score(one.criterion) for one in criteria]
    total = sum(one.weight for one in criteria)
    covered = sum(one.weight for one, score in zip(criteria, scores, strict=True) if score)
    scored = sum(one.weight * score for one, score in zip(criteria, scores, strict=True))
    if covered < total / 2 and sum(one.criterion.share for one in criteria) <= _SHORT_QUESTION_WORDS:
        return 0
    return (covered + scored) / 2 / total


class _PassageTerms:
    """The term frequencies of a passage."""

    def __init__(self, terms: IndexTerms) -> None:
        self._words = terms.text.split(" ")
        self._text, self._forms = Counter(self._words), Counter(terms.forms.split(" "))
        self._title = frozenset(terms.title.split(" "))
        self._length = 1 - _BM25_B + _BM25_B * len(self._words) / _AVERAGE_LENGTH

    @cached_property
    def _pairs(self) -> Counter[tuple[str, str]]:
        return Counter(pairwise(self._words))

    def score(self, criterion: Criterion) -> float:
        """0 if the passage does not meet the criterion, about 1 for one occurrence, at most 2.2 for many."""
        frequency = self._pair_frequency(criterion) if criterion.pairs else self._term_frequency(criterion)
        return frequency * (_BM25_K1 + 1) / (frequency + _BM25_K1 * self._length)

    def _term_frequency(self, criterion: Criterion) -> float:
        return max(
            max(self._text[term] + _TITLE_BOOST * (term in self._title), self._forms[term] * _ALTERNATE_FORM_WEIGHT)
            for term in criterion.terms
        )

    def _pair_frequency(self, criterion: Criterion) -> float:
        return max(self._pairs[pair] for pair in criterion.pairs)


MAX_EXCERPT_LENGTH = 400
_HEADING_MARKS = re.compile(r"^#{1,6} +", re.MULTILINE)


def passage_excerpt(passage: str, question: LibraryQuestion) -> str:
    """The excerpt of a passage for a hit: the sentences with most of the terms of the question."""

    def matched_terms(sentence: str) -> set[str]:
        words = [term.text for term in content_terms(sentence)]
        return {*words, *alternate_forms(words)}.intersection(question.terms)

    return best_sentences(_HEADING_MARKS.sub("", passage), matched_terms, MAX_EXCERPT_LENGTH)
