"""Sentences of different pages that say the same thing, and those that contradict each other.

Two sentences that share nearly all of their words make the same statement. They contradict each other if they differ
in a number, a name, a denial or a direction: then neither of them may stand for both.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.evidence.lexicon import directions, negations
from footnote.evidence.tokens import Token, TokenizedText, is_character
from footnote.evidence.values import Value, contains_exact_value, extract_values
from footnote.text.sentences import Span

SAME_OVERLAP = 0.8
"""Sentences that have so many of their words in common make the same statement."""
CONTRADICTION_OVERLAP = 0.6
"""The same without numbers, names and denials, of sentences that differ in one of these."""
MIN_WORDS = 3
"""Sentences with fewer words in common, apart from what they differ in, are about different things."""

MIN_STEM = 4
"""Letters of a word that can be denied by what it begins with: `union` is not the opposite of `ion`."""

Relation: TypeAlias = Literal["same", "contradiction"]

_NEGATING_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")
_DIGIT = re.compile(r"\d")


class ComparedStatement(Struct, frozen=True):
    """What a sentence is compared by. `denials` and the offsets of the tokens are those in `text`."""

    text: str
    tokens: tuple[Token, ...]
    keys: frozenset[str]
    values: Sequence[Value]
    negations: tuple[Span, ...]


class Contrast(Struct, frozen=True):
    """How one statement relates to another, and the first place of its text in which it contradicts that."""

    relation: Relation
    difference: Span


SAME = Contrast("same", Span(0, 0))


def parse_statement(text: str) -> ComparedStatement:
    wording = TokenizedText(text)
    denied = tuple(negations(text, strict=True))
    tokens = tuple(token for token in wording.tokens if not _is_inside(token, denied))
    return ComparedStatement(text, tokens, frozenset(_keys(tokens)), wording.values, denied)


def compare_statements(one: ComparedStatement, other: ComparedStatement) -> Contrast | None:
    """How `one` relates to `other`; None if they are about different things, or one of them says more."""
    mine = [token for token in one.tokens if token.key not in other.keys and not is_character(token.key)]
    theirs = [token for token in other.tokens if token.key not in one.keys and not is_character(token.key)]
    shared = len(one.keys & other.keys)
    numbers = [value for value in one.values if not contains_exact_value(other.values, value)]
    other_numbers = [value for value in other.values if not contains_exact_value(one.values, value)]
    replaced = len(one.values) == len(other.values)
    places: list[Span] = []
    if (numbers or other_numbers) and (replaced or (numbers and other_numbers)):
        places += [Span(value.start, value.end) for value in numbers or one.values]
    places += _codes(mine) if _codes(theirs) else []
    places += _names(mine) if _names(theirs) else []
    places += _negated_words(mine, theirs)
    places += _opposite_directions(one.text, other.text)
    denied = len(one.negations) != len(other.negations)
    places += one.negations if denied else ()
    if not places and not denied:
        is_same = shared >= SAME_OVERLAP * len(one.keys | other.keys) and not (numbers or other_numbers)
        return SAME if is_same else None
    differing = {
        token.key for token in (*mine, *theirs) if token.value or token.is_capitalized or _DIGIT.search(token.key)
    }
    every = len((one.keys | other.keys) - differing)
    if shared < MIN_WORDS or shared < CONTRADICTION_OVERLAP * every:
        return None
    if not places:  # The other one denies: the place is where its words go on in this one.
        places = [_denied_word(one, other)]
    return Contrast("contradiction", min(places, key=lambda place: place.start))


class StatedFacts(Struct, frozen=True):
    """What a longer text may contradict another one in, of which it repeats nearly all."""

    numbers: frozenset[str]
    negation_count: int

    def contradict(self, other: "StatedFacts") -> bool:
        return not self.numbers <= other.numbers or self.negation_count != other.negation_count


def stated_facts(text: str) -> StatedFacts:
    return StatedFacts(frozenset(value.key for value in extract_values(text)), len(negations(text, strict=True)))


def _keys(tokens: Sequence[Token]) -> Iterator[str]:
    """Characters of Chinese and the like in pairs: nearly all long sentences have the same single ones."""
    before = ""
    for token in tokens:
        character = token.key if is_character(token.key) else ""
        if not character or before:
            yield before + token.key if character else token.key
        before = character


def _is_inside(token: Token, spans: Sequence[Span]) -> bool:
    return any(span.start <= token.start < span.end for span in spans)


def _codes(tokens: Sequence[Token]) -> list[Span]:
    """Digits that are part of a name, or that no value was made of: `A380`, `6½`."""
    return [Span(one.start, one.end) for one in tokens if one.value is None and _DIGIT.search(one.key)]


def _names(tokens: Sequence[Token]) -> list[Span]:
    return [Span(one.start, one.end) for one in tokens if one.is_capitalized and one.is_content and one.start]


def _negated_words(mine: Sequence[Token], theirs: Sequence[Token]) -> list[Span]:
    """Words that one side has with a beginning that denies: `safe`, `unsafe`."""
    others = {token.key for token in theirs}
    return [Span(one.start, one.end) for one in mine if any(_is_negated_form(one.key, other) for other in others)]


def _is_negated_form(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < MIN_STEM:
        return False
    # The key of a short word keeps its e.
    return any(long.removesuffix("e") == beginning + short.removesuffix("e") for beginning in _NEGATING_PREFIXES)


def _opposite_directions(one: str, other: str) -> list[Span]:
    """Where words point the other way: `rose`, `fell`."""
    mine, theirs = directions(one), directions(other)
    turned = any((axis, 1 - side) in theirs - mine and (axis, side) not in theirs for axis, side in mine)
    return [Span(0, len(one))] if turned else []


def _denied_word(one: ComparedStatement, other: ComparedStatement) -> Span:
    """The word of `one` that `other` denies, as far as the words after its denial tell."""
    for denial in other.negations:
        following = [token.key for token in other.tokens if token.start >= denial.end][:2]
        for token in one.tokens:
            if following and token.key == following[0]:
                return Span(token.start, token.end)
    return Span(0, len(one.text))
