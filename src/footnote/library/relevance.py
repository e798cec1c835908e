"""How well passages answer a question, and which of them are good enough to be called found."""

import math
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from footnote.db.index import Candidate, Frequencies, Terms
from footnote.library.question import Question, Wish

ENOUGH = 0.36
"""The least relevance. Tuned on questions to which the library has the answer, and on as many to which it has none."""
ENOUGH_OF_DOCUMENTATION = 0.6
"""Everybody has the documentation, and hardly anybody asks about it: it has to fit better than what somebody read."""
_SHORT = 2
"""Words of a question of which one is not enough, whatever its weight: "time in Sydney" is not about time."""
_BESIDE_THE_BEST = 0.5
_FEWEST_PASSAGES = 1000
"""A small library knows nothing of how rare a word is: each is weighed as if there were this many passages."""
_SATURATION, _LENGTH_MATTERS, _USUAL_LENGTH = 1.2, 0.4, 90
"""BM25: how soon more of the same word says nothing new, and how much a long passage has it easier."""
_IN_TITLE, _OTHER_FORM = 2.0, 0.8


class Fitting(Struct, frozen=True):
    """The best passage of a text, by its offsets."""

    snapshot_id: str
    start: int
    end: int
    relevance: float


class _Weighed(Struct, frozen=True):
    wish: Wish
    weight: float


def best_fitting(question: Question, frequencies: Frequencies, candidates: Iterable[Candidate]) -> list[Fitting]:
    """One passage a text, the best first; none that is not good enough."""
    wishes = [_Weighed(wish, _weight(wish, frequencies)) for wish in question.wishes]
    best: dict[str, Fitting] = {}
    for one in candidates:
        relevance = _relevance(wishes, one.terms)
        known = best.get(one.snapshot_id)
        enough = ENOUGH_OF_DOCUMENTATION if one.documentation else ENOUGH
        if relevance >= enough and (known is None or relevance > known.relevance):
            best[one.snapshot_id] = Fitting(one.snapshot_id, one.terms.start, one.terms.end, relevance)
    ranked = sorted(best.values(), key=lambda fitting: -fitting.relevance)
    return [fitting for fitting in ranked if fitting.relevance >= ranked[0].relevance * _BESIDE_THE_BEST]


def _weight(wish: Wish, frequencies: Frequencies) -> float:
    """The rarer, the more telling; a word that stands nowhere tells most, and is missed most."""
    having = max(frequencies.having.get(term, 0) for term in wish.terms)
    passages = max(frequencies.passages, _FEWEST_PASSAGES)
    return wish.share * math.log(1 + (passages - having + 0.5) / (having + 0.5))


def _relevance(wishes: list[_Weighed], terms: Terms) -> float:
    """The mean of two shares of the question: how much of it the passage has at all, and how strongly."""
    has = _Contents(terms)
    strengths = [has.strength(one.wish) for one in wishes]
    whole = sum(one.weight for one in wishes)
    covered = sum(one.weight for one, strength in zip(wishes, strengths, strict=True) if strength)
    strong = sum(one.weight * strength for one, strength in zip(wishes, strengths, strict=True))
    if covered < whole / 2 and sum(one.wish.share for one in wishes) <= _SHORT:
        return 0
    return (covered + strong) / 2 / whole


class _Contents:
    """The terms of a passage, counted."""

    def __init__(self, terms: Terms) -> None:
        self._words = terms.text.split(" ")
        self._text, self._forms = Counter(self._words), Counter(terms.forms.split(" "))
        self._title = frozenset(terms.title.split(" "))
        self._length = 1 - _LENGTH_MATTERS + _LENGTH_MATTERS * len(self._words) / _USUAL_LENGTH

    @cached_property
    def _pairs(self) -> Counter[tuple[str, str]]:
        return Counter(pairwise(self._words))

    def strength(self, wish: Wish) -> float:
        """0: not there; about 1: there once; at most 2.2, however often."""
        times = self._times_together(wish) if wish.pairs else self._times(wish)
        return times * (_SATURATION + 1) / (times + _SATURATION * self._length)

    def _times(self, wish: Wish) -> float:
        return max(
            max(self._text[term] + _IN_TITLE * (term in self._title), self._forms[term] * _OTHER_FORM)
            for term in wish.terms
        )

    def _times_together(self, wish: Wish) -> float:
        return max(self._pairs[pair] for pair in wish.pairs)
