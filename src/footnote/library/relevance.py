"""How well passages answer a question, and which of them are good enough to be called found."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from footnote.db.index import Frequencies, IndexHit, IndexTerms
from footnote.library.terms import base_form, content_terms
from footnote.text.languages import detect_locale
from footnote.text.terms import Term, is_unspaced


class Criterion(Struct, frozen=True):
    """One thing that a passage should have: any of these terms; if there are pairs, one of them side by side.

    `share` is how much it counts among wishes of equally rare terms.
    """

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    share: float = 1.0


class LibraryQuestion(Struct, frozen=True):
    criteria: tuple[Criterion, ...]

    @property
    def terms(self) -> list[str]:
        """Everything to look for, each once."""
        return list(dict.fromkeys(term for wish in self.criteria for term in wish.terms))


def parse_question(text: str) -> LibraryQuestion:
    telling = list(content_terms(text))
    unspaced = [term for term in telling if is_unspaced(term.text)]
    spaced = [term for term in telling if not is_unspaced(term.text)]
    wishes = _syllable_criteria(spaced, text) if detect_locale(text) == "vi" else _word_criteria(spaced)
    return LibraryQuestion((*wishes, *_character_criteria(unspaced)))


def _word_criteria(words: list[Term]) -> Iterator[Criterion]:
    for word in dict.fromkeys(word.text for word in words):
        yield Criterion(tuple(dict.fromkeys((word, base_form(word)))))


def _syllable_criteria(syllables: list[Term], text: str) -> Iterator[Criterion]:
    """A Vietnamese word is mostly two syllables, each of which is common: to find them together is most of a wish."""
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
    """In Chinese, pairs of characters also lie across two words. A character is there if one of its pairs is."""
    having: dict[int, list[str]] = {}
    for pair in pairs:
        for offset in range(pair.start, pair.end):
            having.setdefault(offset, []).append(pair.text)
    for found in having.values():
        yield Criterion(tuple(found), share=0.5)


MIN_RELEVANCE = 0.36
"""The least relevance. Tuned on questions to which the library has the answer, and on as many to which it has none."""
MIN_DOCUMENTATION_RELEVANCE = 0.6
"""Everybody has the documentation, and hardly anybody asks about it: it has to fit better than what somebody read."""
_SHORT_QUESTION_WORDS = 2
"""Words of a question of which one is not enough, whatever its weight: "time in Sydney" is not about time."""
_MIN_SHARE_OF_BEST = 0.5
_MIN_PASSAGES = 1000
"""A small library knows nothing of how rare a word is: each is weighed as if there were this many passages."""
_BM25_K1, _BM25_B, _AVERAGE_LENGTH = 1.2, 0.4, 90
"""BM25: how soon more of the same word says nothing new, and how much a long passage has it easier."""
_TITLE_BOOST, _ALTERNATE_FORM_WEIGHT = 2.0, 0.8


class RankedPassage(Struct, frozen=True):
    """The best passage of a text, by its offsets."""

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
    """One passage a text, the best first; none that is not good enough."""
    wishes = [_WeightedCriterion(wish, _criterion_weight(wish, frequencies)) for wish in question.criteria]
    best: dict[str, RankedPassage] = {}
    for one in candidates:
        relevance = _relevance(wishes, one.terms)
        known = best.get(one.snapshot_id)
        enough = MIN_DOCUMENTATION_RELEVANCE if one.documentation else MIN_RELEVANCE
        if relevance >= enough and (known is None or relevance > known.relevance):
            best[one.snapshot_id] = RankedPassage(one.snapshot_id, one.terms.start, one.terms.end, relevance)
    ranked = sorted(best.values(), key=lambda fitting: -fitting.relevance)
    return [fitting for fitting in ranked if fitting.relevance >= ranked[0].relevance * _MIN_SHARE_OF_BEST]


def _criterion_weight(criterion: Criterion, frequencies: Frequencies) -> float:
    """The rarer, the more telling; a word that stands nowhere tells most, and is missed most."""
    having = max(frequencies.by_term.get(term, 0) for term in criterion.terms)
    passages = max(frequencies.passages, _MIN_PASSAGES)
    return criterion.share * math.log(1 + (passages - having + 0.5) / (having + 0.5))


def _relevance(criteria: list[_WeightedCriterion], terms: IndexTerms) -> float:
    """The mean of two shares of the question: how much of it the passage has at all, and how strongly."""
    has = _PassageTerms(terms)
    strengths = [has.score(one.criterion) for one in criteria]
    whole = sum(one.weight for one in criteria)
    covered = sum(one.weight for one, strength in zip(criteria, strengths, strict=True) if strength)
    strong = sum(one.weight * strength for one, strength in zip(criteria, strengths, strict=True))
    if covered < whole / 2 and sum(one.criterion.share for one in criteria) <= _SHORT_QUESTION_WORDS:
        return 0
    return (covered + strong) / 2 / whole


class _PassageTerms:
    """The terms of a passage, counted."""

    def __init__(self, terms: IndexTerms) -> None:
        self._words = terms.text.split(" ")
        self._text, self._forms = Counter(self._words), Counter(terms.forms.split(" "))
        self._title = frozenset(terms.title.split(" "))
        self._length = 1 - _BM25_B + _BM25_B * len(self._words) / _AVERAGE_LENGTH

    @cached_property
    def _pairs(self) -> Counter[tuple[str, str]]:
        return Counter(pairwise(self._words))

    def score(self, criterion: Criterion) -> float:
        """0: not there; about 1: there once; at most 2.2, however often."""
        times = self._pair_frequency(criterion) if criterion.pairs else self._term_frequency(criterion)
        return times * (_BM25_K1 + 1) / (times + _BM25_K1 * self._length)

    def _term_frequency(self, criterion: Criterion) -> float:
        return max(
            max(self._text[term] + _TITLE_BOOST * (term in self._title), self._forms[term] * _ALTERNATE_FORM_WEIGHT)
            for term in criterion.terms
        )

    def _pair_frequency(self, criterion: Criterion) -> float:
        return max(self._pairs[pair] for pair in criterion.pairs)
