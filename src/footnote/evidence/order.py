"""Words that stand in another order in a passage than in a statement, and mean the same: dates, adjuncts, compounds and
the items of a list."""

from collections.abc import Sequence
from typing import NamedTuple

from footnote.evidence.outline import Outline, WordGap
from footnote.evidence.tokens import Token
from footnote.evidence.values import are_comparable

_INDEFINITE = frozenset(("a", "an", "one", "một", "一"))
_TURNED = ({"of", "adjacent"}, {"of", "genitive"}, {"of", "has"})
"""How two words may be connected in one text and, the other way round, in another: `the population of the city`, `the
city has a population`."""
_MAX_CROSSED = 16
_MAX_COMPOUND = 4
_MAX_LIST = 24
_GENITIVES = frozenset(("of", "in", "by", "的", "của"))
_POSSESSION = frozenset(("has", "have", "had", "có", "有", "拥有"))
_FREQUENCIES = frozenset(
    ("each day", "each week", "each month", "each year", "mỗi ngày", "mỗi năm", "每天", "each person")
)
"""Adverbials, by their keys, that stand at either end of a clause."""
_ARTICLES = frozenset(["the", "a", "an", "its", "his", "her", "their", "this", "that"])


class Pair(NamedTuple):
    """A word of the statement and the same word of the passage, by their indexes."""

    claim: int
    passage: int


class WordOrder:
    """`places`: those in the passage of each word of the statement. `chain`: the words that both have in the same
    order."""

    def __init__(
        self, claim: Outline, passage: Outline, places: Sequence[Sequence[int]], chain: Sequence[Pair]
    ) -> None:
        self.claim = claim
        self.passage = passage
        self._places = places
        self._by_claim = {pair.claim: pair.passage for pair in chain}
        self._used = frozenset(pair.passage for pair in chain)

    def may_move(self, run: Sequence[int]) -> bool:
        """Whether words of the statement that stand elsewhere in the passage mean the same there."""
        spot = self._find_run(run)
        if spot is None:
            return self._is_list(run)
        return (
            self._is_adjunct(run, spot)
            or self._is_apposition(run, spot)
            or self._is_beside_date(run, spot)
            or self._is_compound(run, spot)
            or self._is_list(run)
        )

    def _find_run(self, run: Sequence[int]) -> range | None:
        """The place in the passage at which the words of a run follow each other."""
        for start in self._places[run[0]]:
            at = start
            for word in run[1:]:
                at = next((place for place in self._places[word] if at < place <= at + 2), -1)
                if at < 0:
                    break
            else:
                if not any(place in self._used for place in range(start, at + 1)):
                    return range(start, at + 1)
        return None

    def _is_adjunct(self, run: Sequence[int], spot: range) -> bool:
        """Whether a date or another adjunct stands at the other end of its clause: "In 1924 he …", "… in 1924"."""
        crossed = self._crossed(run, spot)
        if crossed is None:
            return False
        words = [self.claim.words[at] for at in run]
        values = [word.value for word in words if word.value]
        stated = [word.value for word in crossed if word.value]
        if any(are_comparable(one, other) for one in values for other in stated):
            return False
        is_frequency = all(self.claim.keys[at] in _FREQUENCIES for at in run)
        if is_frequency or len(values) == len(words) or len(stated) == len(crossed):
            return len(crossed) <= _MAX_CROSSED
        preposition = _preposition(self.claim.gaps[run[0]])
        return (
            bool(preposition)
            and preposition == _preposition(self.passage.gaps[spot.start])
            and _is_at_edge(self.claim, run[0], run[-1])
            and _is_at_edge(self.passage, spot[0], spot[-1])
        )

    def _is_apposition(self, run: Sequence[int], spot: range) -> bool:
        """Whether a name and what it is have changed places: `the Swiss architect Lena Moor`, `Lena Moor, a Swiss
        architect,`."""
        for step in (-1, 1):
            place = self._by_claim.get(run[0] - 1 if step < 0 else run[-1] + 1)
            claim_gap = self.claim.gaps[run[0] if step < 0 else run[-1] + 1]
            if place is None:
                continue
            low, high = sorted((spot, range(place, place + 1)), key=lambda one: one.start)
            while high.start > low.stop and self.passage.gaps[high.start].is_adjacent:
                high = range(high.start - 1, high.stop)
            gap = self.passage.gaps[high.start]
            while high.stop < len(self.passage.words) and self.passage.gaps[high.stop].is_adjacent:
                high = range(high.start, high.stop + 1)
            while low.start and self.passage.gaps[low.start].is_adjacent:
                low = range(low.start - 1, low.stop)
            is_aside = gap.is_break and not gap.ends_sentence and self.passage.gaps[high.stop].is_break
            is_name = self.passage.words[low.stop - 1].is_capitalized
            is_described = not _INDEFINITE.isdisjoint(gap.function_words)
            if claim_gap.is_adjacent and low.stop == high.start and is_aside and is_name and is_described:
                return True
        return False

    def _is_beside_date(self, run: Sequence[int], spot: range) -> bool:
        """Whether words and a date beside them have changed places: "by Lavoisier in 1777", "in 1777 by Lavoisier"."""
        for date in (run[0] - 1, run[-1] + 1):
            place = self._by_claim.get(date)
            if place is None or self.claim.words[date].value is None:
                continue
            low, high = (place, spot.start) if place < spot.start else (spot[-1], place)
            gaps, between = self.passage.gaps[low + 1 : high + 1], self.passage.words[low + 1 : high]
            is_one_clause = not any(gap.is_break or gap.joins for gap in gaps)
            if is_one_clause and all(word.is_capitalized and word.value is None for word in between):
                return True
        return False

    def _crossed(self, run: Sequence[int], spot: range) -> list[Token] | None:
        """The words of the passage between a run and its nearest neighbour in the statement, if they are in one
        clause."""
        places = [self._by_claim[at] for at in (run[0] - 1, run[-1] + 1) if at in self._by_claim]
        if not places:
            return None
        place = min(places, key=lambda one: abs(one - spot.start))
        low, high = (place, spot.start) if place < spot.start else (spot[-1], place)
        if any(gap.ends_sentence or gap.joins for gap in self.passage.gaps[low + 1 : high + 1]):
            return None
        is_turned = run[-1] in self.claim.passive_verbs and place == self._by_claim.get(run[-1] + 1)  # not who acts
        return self.passage.words[low + (not is_turned) : high + (place > spot.start)]

    def _is_compound(self, run: Sequence[int], spot: range) -> bool:
        """Whether two neighbours are joined the other way round: `the Detva district`, `the district of Detva`."""
        if len(run) > _MAX_COMPOUND or not self.claim.passive_verbs.isdisjoint(run):
            return False
        for step in (-1, 1):
            block = run[0] - 1 if step < 0 else run[-1] + 1
            claim_gap = self.claim.gaps[run[0] if step < 0 else block]
            place = self._by_claim.get(block)
            for _ in range(_MAX_COMPOUND):
                if place is None:
                    break
                meets = place == spot[-1] + 1 if step < 0 else place == spot.start - 1
                if meets and _is_turned(claim_gap, self.passage.gaps[place if step < 0 else spot.start]):
                    return True
                block += step
                following = self._by_claim.get(block)
                place = following if following is not None and following - place == step else None
        return False

    def _is_list(self, run: Sequence[int]) -> bool:
        """Whether words are items of a list in both texts."""
        items: list[list[int]] = []
        for at in run:
            if items and not self.claim.gaps[at].separates:
                items[-1].append(at)
            else:
                items.append([at])
        spots = [self._find_run(item) for item in items]
        for item, spot in zip(items, spots, strict=True):
            if spot is None or any(self.claim.words[at].value for at in item):
                return False
            if not (_is_item(self.claim, item[0], item[-1]) and _is_item(self.passage, spot[0], spot[-1])):
                return False
        near = [self._by_claim[at] for at in (run[0] - 1, run[-1] + 1) if at in self._by_claim]
        first = spots[0].start if spots[0] else 0
        return any(self._is_enumeration(*sorted((place, first))) for place in near)

    def _is_enumeration(self, low: int, high: int) -> bool:
        """Whether words of the passage are a list and nothing else."""
        return (
            high - low < _MAX_LIST
            and all(gap.is_adjacent or gap.separates for gap in self.passage.gaps[low + 1 : high + 1])
            and not any(word.value for word in self.passage.words[low : high + 1])
        )


def _is_at_edge(text: Outline, first: int, last: int) -> bool:
    before, after = text.gaps[first], text.gaps[last + 1]
    return first == 0 or before.ends_sentence or last + 1 == len(text.words) or after.ends_sentence or after.is_break


def _is_item(text: Outline, first: int, last: int) -> bool:
    is_before_another = last + 1 < len(text.words) and text.gaps[last + 1].separates
    return is_before_another or (first > 0 and text.gaps[first].separates)


def _is_turned(one: WordGap, other: WordGap) -> bool:
    return {_connection(one), _connection(other)} in _TURNED


def _connection(gap: WordGap) -> str:
    if gap.is_break or gap.joins:
        return "break"
    if gap.is_adjacent:
        return "adjacent"
    if not _GENITIVES.isdisjoint(gap.function_words):
        return "of"
    if not _POSSESSION.isdisjoint(gap.function_words):
        return "has" if _POSSESSION.union(_ARTICLES).issuperset(gap.function_words) else "other"
    return "genitive" if set(gap.function_words) <= {"s"} else "other"


def _preposition(gap: WordGap) -> str:
    """The last function word before a phrase that is not an article."""
    return next((word for word in reversed(gap.function_words) if word not in _ARTICLES), "")
