"""Contradictions between a claim and a passage: another number, another name, a negation, the opposite direction.

They are found in slots, places at which the two differ while they agree before and after.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from footnote.evidence.compare import CLAUSE_ENDS, Comparison, WordSlot
from footnote.evidence.lexicon import directions, negations
from footnote.evidence.tokens import Token, TokenizedText, is_character, looks_like_name
from footnote.evidence.values import are_comparable, contains_exact_value, contains_value
from footnote.text.sentences import Span

_MIN_VERBATIM_SHARE = 0.75
"""From this share of a claim in the order of the passage on, it repeats the passage, and each word counts."""
_MIN_LITERAL_SHARE = 0.85
"""From this share on, the place of a negation matters; below, only whether there is one."""
_MAX_SLOT_WORDS = 4
"""With more words than this beside a number or name, a slot is another statement, not other words for the same."""
_MIN_REST_COVERAGE = 0.6
"""The share of a claim, or clause, that a passage must have apart from a number or name to be about the same thing."""
_MAX_LENGTH_DIFFERENCE = 2
_NEGATION_SCOPE = 3
"""Limit for the words between a negation and what it negates."""

_Names: TypeAlias = Sequence[Sequence[Token]]


class NameOffsets(NamedTuple):
    """Offsets of the words that are names: those of the claim, those of them that occur shortly before the passage,
    which may refer to them by a pronoun, and those of the passage."""

    claim: Collection[int]
    nearby: Collection[int]
    passage: Collection[int]


def is_contradicted(comparison: Comparison, name_offsets: NameOffsets) -> bool:
    """Whether the two contradict each other anywhere."""
    return (
        any(
            _numbers_differ(comparison, slot, name_offsets)
            or _names_differ(comparison, slot, name_offsets)
            or _characters_differ(comparison, slot, name_offsets)
            or _directions_differ(comparison, slot)
            for slot in comparison.slots
        )
        or any(_negations_differ(comparison))
        or _has_unmatched_number(comparison)
    )


def _text(wording: TokenizedText, tokens: Sequence[Token]) -> str:
    return wording.text[tokens[0].start : tokens[-1].end] if tokens else ""


def _is_crowded(claim: TokenizedText, slot: WordSlot, name_offsets: NameOffsets) -> bool:
    """Whether the claim has so many words there that it makes another statement, not the same in other words."""
    content = [token for token in slot.claim if token.is_content]
    if any(not CLAUSE_ENDS.isdisjoint(claim.text[one.end : other.start]) for one, other in pairwise(content)):
        return True
    words = sum(token.value is None and token.start not in name_offsets.claim for token in content)
    return words > (_MAX_SLOT_WORDS if slot.left and slot.right else _MAX_SLOT_WORDS // 2)


def _numbers_differ(comparison: Comparison, slot: WordSlot, name_offsets: NameOffsets) -> bool:
    if _is_crowded(comparison.claim, slot, name_offsets):
        return False
    in_claim = [token.value for token in slot.claim if token.value]
    in_passage = [token.value for token in slot.passage if token.value]
    only_in_claim = [value for value in in_claim if not contains_value(in_passage, value)]
    only_in_passage = [value for value in in_passage if not contains_exact_value(in_claim, value)]
    if only_in_claim and only_in_passage:
        if any(not contains_value(comparison.passage.values, value) for value in only_in_claim):
            return True
        # The passage has the number, but in another place: a contradiction only in a claim that repeats it.
        claimed = [token.value for token in comparison.claim.tokens if token.value]
        is_swapped = (
            any(not contains_exact_value(claimed, value) for value in only_in_passage)
            or len(slot.claim) == len(slot.passage) == 1
        )
        return is_swapped and comparison.ordered_coverage >= _MIN_VERBATIM_SHARE
    has_code = any(_is_code(token) and token.key not in comparison.passage.keys for token in slot.claim)
    return has_code and any(_is_code(token) and token.key not in comparison.claim.keys for token in slot.passage)


def _is_code(token: Token) -> bool:
    """Letters and digits together: `2n`, `S2`."""
    return token.value is None and any(map(str.isdigit, token.key))


def _names_differ(comparison: Comparison, slot: WordSlot, name_offsets: NameOffsets) -> bool:
    if _is_crowded(comparison.claim, slot, name_offsets):
        return False
    claim_keys, passage_keys = {token.key for token in slot.claim}, {token.key for token in slot.passage}
    in_claim = [
        token for token in slot.claim if _identifies(token, name_offsets.claim) and token.key not in passage_keys
    ]
    in_passage = [
        token for token in slot.passage if _identifies(token, name_offsets.passage) and token.key not in claim_keys
    ]
    if not in_claim or not in_passage or all(token.value for token in (*in_claim, *in_passage)):
        return False
    absent = any(token.key not in comparison.passage.keys for token in in_claim)
    new = any(token.key not in comparison.claim.keys for token in in_passage)
    if absent and slot.refers_back and all(token.start in name_offsets.nearby for token in in_claim):
        return False
    return (absent and new) or ((absent or new) and comparison.ordered_coverage >= _MIN_VERBATIM_SHARE)


def _identifies(token: Token, names: Collection[int]) -> bool:
    return token.value is not None or (token.start in names and not is_character(token.key))


def _characters_differ(comparison: Comparison, slot: WordSlot, name_offsets: NameOffsets) -> bool:
    """Whether a Chinese name is in the place of another one."""
    in_claim, in_passage = _characters(slot.claim), _characters(slot.passage)
    claim_text, passage_text = _text(comparison.claim, slot.claim), _text(comparison.passage, slot.passage)
    if not in_claim or not in_passage or not CLAUSE_ENDS.isdisjoint(claim_text):
        return False
    excess = len(in_passage) - len(in_claim)
    if len(in_claim) == 1 or len(in_passage) == 1:
        tail = slot.right.key if slot.right is not None and is_character(slot.right.key) else ""
        are_names = looks_like_name(in_claim + tail) and looks_like_name(in_passage + tail)
        return bool(tail) and abs(excess) <= _MAX_LENGTH_DIFFERENCE and are_names
    if in_claim in _characters(comparison.passage.tokens) and comparison.ordered_coverage < _MIN_VERBATIM_SHARE:
        return False
    if looks_like_name(claim_text) and looks_like_name(passage_text):
        return excess <= len(in_claim) + 3 * _MAX_LENGTH_DIFFERENCE
    if looks_like_name(claim_text):
        return excess <= _MAX_LENGTH_DIFFERENCE and not any(token.start in name_offsets.nearby for token in slot.claim)
    is_transliterated = "·" in passage_text and slot.left is not None
    return looks_like_name(passage_text) and (excess <= _MAX_LENGTH_DIFFERENCE or is_transliterated)


def _has_unmatched_number(comparison: Comparison) -> bool:
    """Whether a clause that the passage covers otherwise has a number where the passage has another of its kind."""
    passage = [token.value for token in comparison.passage.tokens if token.value]
    claimed = [token.value for token in comparison.claim.tokens if token.value]
    free = [value for value in passage if not contains_exact_value(claimed, value)]
    for clause in comparison.clauses:
        missing = [
            token
            for token in clause.tokens
            if token.value and not contains_value(comparison.passage.values, token.value)
        ]
        rest = clause.weight - comparison.weight_of(missing)
        alike = any(are_comparable(token.value, value) for token in missing if token.value for value in free)
        if alike and clause.covered >= _MIN_REST_COVERAGE * rest > 0:
            return True
    return False


def has_unmatched_names(comparison: Comparison, names: _Names, unknown: _Names, passage_names: _Names) -> bool:
    """Whether a claim that the passage covers otherwise is about another subject: the passage lacks the name that the
    claim begins with, or most of its names, and has others."""
    if not unknown or (unknown[0] is not names[0] and 2 * len(unknown) <= len(names)):
        return False
    rest = comparison.total - comparison.weight_of([token for name in unknown for token in name])
    others = any(all(token.key not in comparison.claim.keys for token in name) for name in passage_names)
    return others and comparison.coverage * comparison.total >= _MIN_REST_COVERAGE * rest > 0


def _characters(tokens: Sequence[Token]) -> str:
    return "".join(token.key for token in tokens if is_character(token.key))


def _directions_differ(comparison: Comparison, slot: WordSlot) -> bool:
    if not slot.claim or not slot.passage:
        return False
    in_claim = directions(_text(comparison.claim, slot.claim))
    in_passage = directions(_text(comparison.passage, slot.passage))
    only_in_passage = in_passage - in_claim
    return any((axis, 1 - side) in only_in_passage and (axis, side) not in in_passage for axis, side in in_claim)


def _negations_differ(comparison: Comparison) -> Iterator[bool]:
    strict = comparison.ordered_coverage >= _MIN_LITERAL_SHARE
    in_claim = negations(comparison.claim.text, strict=strict)
    in_passage = negations(comparison.passage.text, strict=strict)
    if not (in_claim or in_passage):
        return
    if in_claim and in_passage and not strict:
        yield _is_negated_only_in(comparison.claim, in_claim, comparison.passage, in_passage)
        yield _is_negated_only_in(comparison.passage, in_passage, comparison.claim, in_claim)
        return
    for slot in comparison.slots:
        passage_negates = _is_negated(comparison.passage, slot.passage, in_passage)
        # A negation in the passage after the end of the claim has nothing to do with the claim.
        if slot.right is not None or not passage_negates:
            yield _is_negated(comparison.claim, slot.claim, in_claim) != passage_negates


def _is_negated_only_in(
    text: TokenizedText, negated: Sequence[Span], other: TokenizedText, negated_in_other: Sequence[Span]
) -> bool:
    """Whether a text negates a word that the other has too, and nowhere negates."""
    for negation in negated:
        word = _negated_word(text, negation)
        places = [at for at in range(len(other.tokens)) if word and _keys(other, at, len(word)) == word]
        if places and not any(_is_in_scope(other, at, negated_in_other) for at in places):
            return True
    return False


def _negated_word(wording: TokenizedText, negation: Span) -> tuple[str, ...]:
    """The word that is negated: the first content token after the negation, or the first two if they are syllables."""
    for at, token in enumerate(wording.tokens):
        if token.start >= negation.end and token.is_content:
            is_separated = not CLAUSE_ENDS.isdisjoint(wording.text[negation.end : token.start])
            return () if is_separated or token.value else _keys(wording, at, 2 if token.is_syllable else 1)
    return ()


def _keys(wording: TokenizedText, at: int, count: int) -> tuple[str, ...]:
    return tuple(token.key for token in wording.tokens[at : at + count])


def _is_in_scope(wording: TokenizedText, at: int, negated: Sequence[Span]) -> bool:
    """Whether a negation is shortly before a token."""
    start = wording.tokens[max(0, at - 2 * _NEGATION_SCOPE)].start
    return any(start <= negation.start < wording.tokens[at].end for negation in negated)


def _is_negated(wording: TokenizedText, tokens: Sequence[Token], found: Sequence[Span]) -> bool:
    """Whether the words after the slot, on which both agree, are negated in it."""
    for negation in found:
        covered = [at for at, token in enumerate(tokens) if token.start < negation.end and negation.start < token.end]
        if covered:
            between = sum(token.is_content for token in tokens[covered[-1] + 1 :])
            if between <= _NEGATION_SCOPE and CLAUSE_ENDS.isdisjoint(wording.text[negation.end : tokens[-1].end]):
                return True
    return False
