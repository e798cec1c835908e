"""Among the likeliest sentences: copies count once, and of those that contradict each other every side is kept."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from footnote.text.sentences import Span
from footnote.web_search.ranking.candidates import Candidates
from footnote.web_search.ranking.contrast import SAME, ComparedStatement, Contrast, compare_statements, parse_statement

MIN_OVERLAP = 0.4
"""Sentences that share fewer of their words are not compared at all."""
MIN_PROBABILITY_SHARE, LIKELY_PROBABILITY_SHARE = 0.01, 0.5
"""A conflict is shown if a side of it is so likely, against the likeliest sentence, to hold the answer; from `LIKELY`
on it is what was asked about."""


class ConflictSide(Struct, frozen=True):
    """A sentence by its index, and where on its page it differs from the other side."""

    sentence: int
    difference: Span


class ContradictingSides(Struct, frozen=True):
    """Sentences of different pages that contradict each other. `likely`: they are about what was asked, or nearly."""

    sides: tuple[ConflictSide, ...]
    is_likely: bool


class ConflictResolution(Struct, frozen=True):
    """`chances` are without those of copies; `conflict` is the likeliest one."""

    probabilities: list[float]
    conflict: ContradictingSides | None


def resolve_conflicts(
    candidates: Candidates, probabilities: list[float], *, top_count: int, max_sides: int
) -> ConflictResolution:
    """Looks at the sentences in the order of their chances; a conflict has at most `count` sides."""
    return _ConflictResolver(candidates, probabilities).resolve(top_count, max_sides)


class _ConflictResolver:
    """Sentences are read when they are compared, each once."""

    def __init__(self, candidates: Candidates, probabilities: list[float]) -> None:
        self._candidates = candidates
        self._probabilities = list(probabilities)
        self._order = sorted(range(len(probabilities)), key=lambda at: -probabilities[at])
        self._keys: dict[int, frozenset[str]] = {}
        self._statements: dict[int, ComparedStatement] = {}

    def resolve(self, top_count: int, max_sides: int) -> ConflictResolution:
        kept: list[int] = []
        for at in self._order[: 2 * top_count]:
            if any(found.relation == "same" for found in self._compare(at, kept)):
                self._probabilities[at] = 0.0
            else:
                kept.append(at)
        highest = self._probabilities[kept[0]]
        for leader in kept[:top_count]:
            if self._probabilities[leader] < MIN_PROBABILITY_SHARE * highest:
                break
            if sides := self._sides(leader, max_sides):
                likely = self._probabilities[leader] >= LIKELY_PROBABILITY_SHARE * highest
                return ConflictResolution(self._probabilities, ContradictingSides(sides, likely))
        return ConflictResolution(self._probabilities, None)

    def _sides(self, leader: int, max_sides: int) -> tuple[ConflictSide, ...]:
        """The sentences of other pages that contradict `leader`, after itself; of a page the likeliest."""
        pages = {self._candidates.sentences[leader].page}
        sides: list[ConflictSide] = []
        for at in self._order:
            if len(sides) + 1 == max_sides or self._candidates.sentences[at].page in pages:
                continue
            for found in self._compare(at, [leader]):
                if found.relation == "contradiction":
                    pages.add(self._candidates.sentences[at].page)
                    sides.append(self._side(at, found))
        first = compare_statements(self._statement(leader), self._statement(sides[0].sentence)) if sides else None
        return (self._side(leader, first), *sides) if first else ()

    def _side(self, at: int, found: Contrast) -> ConflictSide:
        start = self._candidates.sentences[at].piece.span.start
        return ConflictSide(at, Span(start + found.difference.start, start + found.difference.end))

    def _compare(self, at: int, others: Sequence[int]) -> Iterator[Contrast]:
        for other in others:
            if self._text(at) == self._text(other):
                yield SAME
            elif self._is_near(at, other) and (
                found := compare_statements(self._statement(at), self._statement(other))
            ):
                yield found

    def _is_near(self, one: int, other: int) -> bool:
        mine, theirs = self._candidates.sentences[one].piece, self._candidates.sentences[other].piece
        if min(mine.word_count, theirs.word_count) < MIN_OVERLAP * max(mine.word_count, theirs.word_count):
            return False
        if mine.matched_words and not mine.matched_words & theirs.matched_words:
            return False
        keys, others = self._keys_of(one), self._keys_of(other)
        return len(keys & others) >= MIN_OVERLAP * len(keys | others)

    def _keys_of(self, at: int) -> frozenset[str]:
        if at not in self._keys:
            sentence = self._candidates.sentences[at]
            self._keys[at] = self._candidates.matcher.keys(self._candidates.pages[sentence.page], sentence.piece.span)
        return self._keys[at]

    def _statement(self, at: int) -> ComparedStatement:
        if at not in self._statements:
            self._statements[at] = parse_statement(self._text(at))
        return self._statements[at]

    def _text(self, at: int) -> str:
        sentence = self._candidates.sentences[at]
        return self._candidates.pages[sentence.page].text[sentence.piece.span.start : sentence.piece.span.end]
