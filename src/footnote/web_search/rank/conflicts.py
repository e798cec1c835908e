"""Among the likeliest sentences: copies count once, and of those that contradict each other every side is kept."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from footnote.language.sentences import Span
from footnote.web_search.rank.dissent import SAME, Contrast, Statement, contrast, statement
from footnote.web_search.rank.survey import Survey

ROUGHLY = 0.4
"""Sentences that share fewer of their words are not compared at all."""
LEAST, LIKELY = 0.01, 0.5
"""A conflict is shown if a side of it is so likely, against the likeliest sentence, to hold the answer; from `LIKELY`
on it is what was asked about."""


class Side(Struct, frozen=True):
    """A sentence by its index, and where on its page it differs from the other side."""

    sentence: int
    differing: Span


class Conflict(Struct, frozen=True):
    """Sentences of different pages that contradict each other. `likely`: they are about what was asked, or nearly."""

    sides: tuple[Side, ...]
    likely: bool


class Settled(Struct, frozen=True):
    """`chances` are without those of copies; `conflict` is the likeliest one."""

    chances: list[float]
    conflict: Conflict | None


def settle(seen: Survey, chances: list[float], *, likeliest: int, count: int) -> Settled:
    """Looks at the sentences in the order of their chances; a conflict has at most `count` sides."""
    return _Settling(seen, chances).settled(likeliest, count)


class _Settling:
    """Sentences are read when they are compared, each once."""

    def __init__(self, seen: Survey, chances: list[float]) -> None:
        self._seen = seen
        self._chances = list(chances)
        self._order = sorted(range(len(chances)), key=lambda at: -chances[at])
        self._keys: dict[int, frozenset[str]] = {}
        self._statements: dict[int, Statement] = {}

    def settled(self, likeliest: int, count: int) -> Settled:
        kept: list[int] = []
        for at in self._order[: 2 * likeliest]:
            if any(found.relation == "same" for found in self._compared(at, kept)):
                self._chances[at] = 0.0
            else:
                kept.append(at)
        highest = self._chances[kept[0]]
        for leader in kept[:likeliest]:
            if self._chances[leader] < LEAST * highest:
                break
            if sides := self._sides(leader, count):
                likely = self._chances[leader] >= LIKELY * highest
                return Settled(self._chances, Conflict(sides, likely))
        return Settled(self._chances, None)

    def _sides(self, leader: int, count: int) -> tuple[Side, ...]:
        """The sentences of other pages that contradict `leader`, after itself; of a page the likeliest."""
        pages = {self._seen.sentences[leader].page}
        sides: list[Side] = []
        for at in self._order:
            if len(sides) + 1 == count or self._seen.sentences[at].page in pages:
                continue
            for found in self._compared(at, [leader]):
                if found.relation == "contradiction":
                    pages.add(self._seen.sentences[at].page)
                    sides.append(self._side(at, found))
        first = contrast(self._statement(leader), self._statement(sides[0].sentence)) if sides else None
        return (self._side(leader, first), *sides) if first else ()

    def _side(self, at: int, found: Contrast) -> Side:
        start = self._seen.sentences[at].piece.span.start
        return Side(at, Span(start + found.differing.start, start + found.differing.end))

    def _compared(self, at: int, others: Sequence[int]) -> Iterator[Contrast]:
        for other in others:
            if self._text(at) == self._text(other):
                yield SAME
            elif self._is_near(at, other) and (found := contrast(self._statement(at), self._statement(other))):
                yield found

    def _is_near(self, one: int, other: int) -> bool:
        mine, theirs = self._seen.sentences[one].piece, self._seen.sentences[other].piece
        if min(mine.count, theirs.count) < ROUGHLY * max(mine.count, theirs.count):
            return False
        if mine.words and not mine.words & theirs.words:
            return False
        keys, others = self._keys_of(one), self._keys_of(other)
        return len(keys & others) >= ROUGHLY * len(keys | others)

    def _keys_of(self, at: int) -> frozenset[str]:
        if at not in self._keys:
            sentence = self._seen.sentences[at]
            self._keys[at] = self._seen.eye.keys(self._seen.pages[sentence.page], sentence.piece.span)
        return self._keys[at]

    def _statement(self, at: int) -> Statement:
        if at not in self._statements:
            self._statements[at] = statement(self._text(at))
        return self._statements[at]

    def _text(self, at: int) -> str:
        sentence = self._seen.sentences[at]
        return self._seen.pages[sentence.page].text[sentence.piece.span.start : sentence.piece.span.end]
