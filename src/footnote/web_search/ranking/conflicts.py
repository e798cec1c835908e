"""Sentences of different pages that make the same statement, and sentences that contradict each other.

A statement that several pages copy counts once among the likeliest sentences; of a contradiction, every side is kept.

Two sentences that share nearly all of their words make the same statement. They contradict each other if they differ
in a number, a name, a negation or a direction.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.evidence.lexicon import directions, negations
from footnote.evidence.tokens import Token, TokenizedText, is_character
from footnote.evidence.values import Value, contains_exact_value, extract_values
from footnote.text.sentences import Span
from footnote.web_search.ranking.candidates import Candidates

SAME_OVERLAP = 0.8
"""The share of common words from which two sentences make the same statement."""
CONTRADICTION_OVERLAP = 0.6
"""The share of common words from which sentences with a difference contradict each other. Numbers, names and other
differing words do not count."""
MIN_WORDS = 3
"""Sentences with fewer words in common are about different things."""

MIN_STEM = 4
"""The shortest word that a prefix can negate: `union` is not the opposite of `ion`."""

Relation: TypeAlias = Literal["same", "contradiction"]

_NEGATING_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")
_DIGIT = re.compile(r"\d")


class ComparedStatement(Struct, frozen=True):
    """The parts of a sentence that are compared. The offsets of tokens, values and negations are offsets in `text`."""

    text: str
    tokens: tuple[Token, ...]
    keys: frozenset[str]
    values: Sequence[Value]
    negations: tuple[Span, ...]


class Contrast(Struct, frozen=True):
    """How one statement relates to another, and the first place in its text where it differs from that."""

    relation: Relation
    difference: Span


SAME = Contrast("same", Span(0, 0))


def parse_statement(text: str) -> ComparedStatement:
    tokenized = TokenizedText(text)
    negated = tuple(negations(text, strict=True))
    tokens = tuple(token for token in tokenized.tokens if not _is_inside(token, negated))
    return ComparedStatement(text, tokens, frozenset(_keys(tokens)), tokenized.values, negated)


def compare_statements(one: ComparedStatement, other: ComparedStatement) -> Contrast | None:
    """How `one` relates to `other`; None if they are about different things, or if one of them says more."""
    tokens = [token for token in one.tokens if token.key not in other.keys and not is_character(token.key)]
    other_tokens = [token for token in other.tokens if token.key not in one.keys and not is_character(token.key)]
    shared = len(one.keys & other.keys)
    numbers = [value for value in one.values if not contains_exact_value(other.values, value)]
    other_numbers = [value for value in other.values if not contains_exact_value(one.values, value)]
    is_replaced = len(one.values) == len(other.values)
    places: list[Span] = []
    if (numbers or other_numbers) and (is_replaced or (numbers and other_numbers)):
        places += [Span(value.start, value.end) for value in numbers or one.values]
    places += _codes(tokens) if _codes(other_tokens) else []
    places += _names(tokens) if _names(other_tokens) else []
    places += _prefix_negations(tokens, other_tokens)
    places += _opposite_directions(one.text, other.text)
    is_negated = len(one.negations) != len(other.negations)
    places += one.negations if is_negated else ()
    if not places and not is_negated:
        is_same = shared >= SAME_OVERLAP * len(one.keys | other.keys) and not (numbers or other_numbers)
        return SAME if is_same else None
    differing = {
        token.key
        for token in (*tokens, *other_tokens)
        if token.value or token.is_capitalized or _DIGIT.search(token.key)
    }
    comparable = len((one.keys | other.keys) - differing)
    if shared < MIN_WORDS or shared < CONTRADICTION_OVERLAP * comparable:
        return None
    if not places:  # only the other statement has a negation
        places = [_negated_word(one, other)]
    return Contrast("contradiction", min(places, key=lambda place: place.start))


class StatedFacts(Struct, frozen=True):
    """The facts in which a longer text may contradict another text that it otherwise repeats."""

    numbers: frozenset[str]
    negation_count: int

    def contradict(self, other: "StatedFacts") -> bool:
        return not self.numbers <= other.numbers or self.negation_count != other.negation_count


def stated_facts(text: str) -> StatedFacts:
    return StatedFacts(frozenset(value.key for value in extract_values(text)), len(negations(text, strict=True)))


def _keys(tokens: Sequence[Token]) -> Iterator[str]:
    """The keys of words; characters of Chinese and similar scripts in pairs, since most long sentences share single
    characters."""
    before = ""
    for token in tokens:
        character = token.key if is_character(token.key) else ""
        if not character or before:
            yield before + token.key if character else token.key
        before = character


def _is_inside(token: Token, spans: Sequence[Span]) -> bool:
    return any(span.start <= token.start < span.end for span in spans)


def _codes(tokens: Sequence[Token]) -> list[Span]:
    """Tokens with digits that were not parsed as a value: `A380`, `6½`."""
    return [Span(one.start, one.end) for one in tokens if one.value is None and _DIGIT.search(one.key)]


def _names(tokens: Sequence[Token]) -> list[Span]:
    return [Span(one.start, one.end) for one in tokens if one.is_capitalized and one.is_content and one.start]


def _prefix_negations(tokens: Sequence[Token], other_tokens: Sequence[Token]) -> list[Span]:
    """Words that one side has with a negating prefix: `safe`, `unsafe`."""
    others = {token.key for token in other_tokens}
    return [
        Span(token.start, token.end) for token in tokens if any(_is_negated_form(token.key, other) for other in others)
    ]


def _is_negated_form(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < MIN_STEM:
        return False
    # The key of a short word keeps its final e.
    return any(long.removesuffix("e") == prefix + short.removesuffix("e") for prefix in _NEGATING_PREFIXES)


def _opposite_directions(one: str, other: str) -> list[Span]:
    """The whole text if it names the opposite direction: `rose`, `fell`."""
    sides, other_sides = directions(one), directions(other)
    is_opposite = any(
        (axis, 1 - side) in other_sides - sides and (axis, side) not in other_sides for axis, side in sides
    )
    return [Span(0, len(one))] if is_opposite else []


def _negated_word(one: ComparedStatement, other: ComparedStatement) -> Span:
    """The word of `one` that `other` negates: the first word after a negation of `other`. If `one` does not have that
    word, its whole text."""
    for negation in other.negations:
        following = next((token.key for token in other.tokens if token.start >= negation.end), None)
        for token in one.tokens:
            if token.key == following:
                return Span(token.start, token.end)
    return Span(0, len(one.text))


MIN_OVERLAP = 0.4
"""Sentences that share fewer of their words are not compared."""
MIN_PROBABILITY_SHARE, LIKELY_PROBABILITY_SHARE = 0.01, 0.5
"""Shares of the probability of the likeliest sentence. A conflict is shown if one of its sides reaches the first; if
one reaches the second, the conflict is about the question itself."""


class ConflictSide(Struct, frozen=True):
    """A sentence by its index, and the place on its page where it differs from the other side."""

    sentence: int
    difference: Span


class ContradictingSides(Struct, frozen=True):
    """Sentences of different pages that contradict each other. `is_likely`: they probably answer the question."""

    sides: tuple[ConflictSide, ...]
    is_likely: bool


class ConflictResolution(Struct, frozen=True):
    """`probabilities` are 0 for copies of a likelier sentence; `conflict` is the likeliest one."""

    probabilities: list[float]
    conflict: ContradictingSides | None


def resolve_conflicts(
    candidates: Candidates, probabilities: list[float], *, top_count: int, max_sides: int
) -> ConflictResolution:
    """Compares the `top_count` likeliest sentences. A conflict has at most `max_sides` sides."""
    return _ConflictResolver(candidates, probabilities).resolve(top_count, max_sides)


class _ConflictResolver:
    """Parses a sentence when it is first compared, and caches the result."""

    def __init__(self, candidates: Candidates, probabilities: list[float]) -> None:
        self._candidates = candidates
        self._probabilities = list(probabilities)
        self._order = sorted(range(len(probabilities)), key=lambda at: -probabilities[at])
        self._keys: dict[int, frozenset[str]] = {}
        self._statements: dict[int, ComparedStatement] = {}

    def resolve(self, top_count: int, max_sides: int) -> ConflictResolution:
        unique: list[int] = []
        for at in self._order[: 2 * top_count]:
            if any(found.relation == "same" for found in self._compare(at, unique)):
                self._probabilities[at] = 0.0
            else:
                unique.append(at)
        highest = self._probabilities[unique[0]]
        for leader in unique[:top_count]:
            if self._probabilities[leader] < MIN_PROBABILITY_SHARE * highest:
                break
            if sides := self._sides(leader, max_sides):
                is_likely = self._probabilities[leader] >= LIKELY_PROBABILITY_SHARE * highest
                return ConflictResolution(self._probabilities, ContradictingSides(sides, is_likely))
        return ConflictResolution(self._probabilities, None)

    def _sides(self, leader: int, max_sides: int) -> tuple[ConflictSide, ...]:
        """The leader and the sentences that contradict it, the likeliest of each other page; empty without any."""
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
        piece, other_piece = self._candidates.sentences[one].piece, self._candidates.sentences[other].piece
        shorter, longer = sorted((piece.word_count, other_piece.word_count))
        if shorter < MIN_OVERLAP * longer:
            return False
        if piece.matched_words and not piece.matched_words & other_piece.matched_words:
            return False
        keys, other_keys = self._keys_of(one), self._keys_of(other)
        return len(keys & other_keys) >= MIN_OVERLAP * len(keys | other_keys)

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
