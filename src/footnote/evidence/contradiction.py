"""Where a claim and a passage contradict each other: another number, another name, a denial, the other direction.

All of it is found in slots: places in which the two say different things while they agree before and after.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from footnote.evidence.compare import CLAUSE_ENDS, Comparison, WordSlot
from footnote.evidence.lexicon import directions, negations
from footnote.evidence.names import looks_like_name
from footnote.evidence.tokens import Token, TokenizedText, is_character
from footnote.evidence.values import are_comparable, contains_exact_value, contains_value
from footnote.text.sentences import Span

_MIN_VERBATIM_SHARE = 0.75
"""From this share of a claim in the passage's own order on, it repeats the passage, and each word counts."""
_MIN_LITERAL_SHARE = 0.85
"""From this share on, it matters where a word that denies stands; below, whether there is one."""
_MAX_SLOT_WORDS = 4
"""Words beside a number or name with which a slot says the same thing in other words; with more, another thing."""
_MIN_REST_COVERAGE = 0.6
"""The share of a claim, or clause, that a passage must have apart from a number or name to be about the same thing."""
_MAX_LENGTH_DIFFERENCE = 2
_NEGATION_SCOPE = 3
"""Words between a denial and what it denies."""

_Names: TypeAlias = Sequence[Sequence[Token]]


class NameOffsets(NamedTuple):
    """Offsets of the words that are names: those of the claim, those of them that stand shortly before the passage,
    which may mean them by a pronoun, and those of the passage."""

    claim: Collection[int]
    nearby: Collection[int]
    passage: Collection[int]


def is_contradicted(comparison: Comparison, named: NameOffsets) -> bool:
    """Whether the two contradict each other anywhere."""
    return (
        any(
            _numbers_differ(comparison, slot, named)
            or _names_differ(comparison, slot, named)
            or _characters_differ(comparison, slot, named)
            or _directions_differ(comparison, slot)
            for slot in comparison.slots
        )
        or any(_negations_differ(comparison))
        or _has_unmatched_number(comparison)
    )


def _text(wording: TokenizedText, tokens: Sequence[Token]) -> str:
    return wording.text[tokens[0].start : tokens[-1].end] if tokens else ""


def _is_crowded(claim: TokenizedText, slot: WordSlot, named: NameOffsets) -> bool:
    """Whether the claim says so much there that it is something else, rather than the same with another word."""
    content = [token for token in slot.claim if token.is_content]
    if any(not CLAUSE_ENDS.isdisjoint(claim.text[one.end : other.start]) for one, other in pairwise(content)):
        return True
    words = sum(token.value is None and token.start not in named.claim for token in content)
    return words > (_MAX_SLOT_WORDS if slot.left and slot.right else _MAX_SLOT_WORDS // 2)


def _numbers_differ(comparison: Comparison, slot: WordSlot, named: NameOffsets) -> bool:
    if _is_crowded(comparison.claim, slot, named):
        return False
    mine = [token.value for token in slot.claim if token.value]
    theirs = [token.value for token in slot.passage if token.value]
    other_mine = [value for value in mine if not contains_value(theirs, value)]
    other_theirs = [value for value in theirs if not contains_exact_value(mine, value)]
    if other_mine and other_theirs:
        if any(not contains_value(comparison.passage.values, value) for value in other_mine):
            return True
        # The passage has the number, but in another place: a contradiction only in a claim that repeats it.
        claimed = [token.value for token in comparison.claim.tokens if token.value]
        swapped = (
            any(not contains_exact_value(claimed, value) for value in other_theirs)
            or len(slot.claim) == len(slot.passage) == 1
        )
        return swapped and comparison.ordered_coverage >= _MIN_VERBATIM_SHARE
    coded = any(_is_code(token) and token.key not in comparison.passage.keys for token in slot.claim)
    return coded and any(_is_code(token) and token.key not in comparison.claim.keys for token in slot.passage)


def _is_code(token: Token) -> bool:
    """Letters and digits together: `2n`, `S2`."""
    return token.value is None and any(map(str.isdigit, token.key))


def _names_differ(comparison: Comparison, slot: WordSlot, named: NameOffsets) -> bool:
    if _is_crowded(comparison.claim, slot, named):
        return False
    here, there = {token.key for token in slot.claim}, {token.key for token in slot.passage}
    mine = [token for token in slot.claim if _identifies(token, named.claim) and token.key not in there]
    theirs = [token for token in slot.passage if _identifies(token, named.passage) and token.key not in here]
    if not mine or not theirs or all(token.value for token in (*mine, *theirs)):
        return False
    absent = any(token.key not in comparison.passage.keys for token in mine)
    new = any(token.key not in comparison.claim.keys for token in theirs)
    if absent and slot.refers_back and all(token.start in named.nearby for token in mine):
        return False
    return (absent and new) or ((absent or new) and comparison.ordered_coverage >= _MIN_VERBATIM_SHARE)


def _identifies(token: Token, names: Collection[int]) -> bool:
    return token.value is not None or (token.start in names and not is_character(token.key))


def _characters_differ(comparison: Comparison, slot: WordSlot, named: NameOffsets) -> bool:
    """A Chinese name in the place of another one."""
    mine, theirs = _characters(slot.claim), _characters(slot.passage)
    here, there = _text(comparison.claim, slot.claim), _text(comparison.passage, slot.passage)
    if not mine or not theirs or not CLAUSE_ENDS.isdisjoint(here):
        return False
    more = len(theirs) - len(mine)
    if len(mine) == 1 or len(theirs) == 1:
        tail = slot.right.key if slot.right is not None and is_character(slot.right.key) else ""
        alike = looks_like_name(mine + tail) and looks_like_name(theirs + tail)
        return bool(tail) and abs(more) <= _MAX_LENGTH_DIFFERENCE and alike
    if mine in _characters(comparison.passage.tokens) and comparison.ordered_coverage < _MIN_VERBATIM_SHARE:
        return False
    if looks_like_name(here) and looks_like_name(there):
        return more <= len(mine) + 3 * _MAX_LENGTH_DIFFERENCE
    if looks_like_name(here):
        return more <= _MAX_LENGTH_DIFFERENCE and not any(token.start in named.nearby for token in slot.claim)
    return looks_like_name(there) and (more <= _MAX_LENGTH_DIFFERENCE or ("·" in there and slot.left is not None))


def _has_unmatched_number(comparison: Comparison) -> bool:
    """Whether a clause that the passage has otherwise says a number where the passage has another of its kind."""
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


def has_unmatched_names(comparison: Comparison, names: _Names, unknown: _Names, theirs: _Names) -> bool:
    """Whether a claim that the passage has otherwise is about somebody else: the passage knows nothing of the name that
    the claim begins with, or of most of its names, and has others."""
    if not unknown or (unknown[0] is not names[0] and 2 * len(unknown) <= len(names)):
        return False
    rest = comparison.total - comparison.weight_of([token for name in unknown for token in name])
    others = any(all(token.key not in comparison.claim.keys for token in name) for name in theirs)
    return others and comparison.coverage * comparison.total >= _MIN_REST_COVERAGE * rest > 0


def _characters(tokens: Sequence[Token]) -> str:
    return "".join(token.key for token in tokens if is_character(token.key))


def _directions_differ(comparison: Comparison, slot: WordSlot) -> bool:
    if not slot.claim or not slot.passage:
        return False
    here = directions(_text(comparison.claim, slot.claim))
    there = directions(_text(comparison.passage, slot.passage))
    return any((axis, 1 - side) in there - here and (axis, side) not in there for axis, side in here)


def _negations_differ(comparison: Comparison) -> Iterator[bool]:
    strict = comparison.ordered_coverage >= _MIN_LITERAL_SHARE
    mine = negations(comparison.claim.text, strict=strict)
    theirs = negations(comparison.passage.text, strict=strict)
    if not (mine or theirs):
        return
    if mine and theirs and not strict:
        yield _is_negated_only_in(comparison.claim, mine, comparison.passage, theirs)
        yield _is_negated_only_in(comparison.passage, theirs, comparison.claim, mine)
        return
    for slot in comparison.slots:
        there = _is_negated(comparison.passage, slot.passage, theirs)
        # What the passage denies after the claim has ended is not what the claim says.
        if slot.right is not None or not there:
            yield _is_negated(comparison.claim, slot.claim, mine) != there


def _is_negated_only_in(
    one: TokenizedText, denied: Sequence[Span], other: TokenizedText, others: Sequence[Span]
) -> bool:
    """Whether one text denies a word that the other has too, and nowhere denies."""
    for denial in denied:
        head = _negated_word(one, denial)
        places = [at for at in range(len(other.tokens)) if head and _keys(other, at, len(head)) == head]
        if places and not any(_is_in_scope(other, at, others) for at in places):
            return True
    return False


def _negated_word(wording: TokenizedText, denial: Span) -> tuple[str, ...]:
    """The word that is denied: the first after the denial that says something, of syllables the first two."""
    for at, token in enumerate(wording.tokens):
        if token.start >= denial.end and token.is_content:
            parted = not CLAUSE_ENDS.isdisjoint(wording.text[denial.end : token.start])
            return () if parted or token.value else _keys(wording, at, 2 if token.is_syllable else 1)
    return ()


def _keys(wording: TokenizedText, at: int, count: int) -> tuple[str, ...]:
    return tuple(token.key for token in wording.tokens[at : at + count])


def _is_in_scope(wording: TokenizedText, at: int, denied: Sequence[Span]) -> bool:
    """Whether a denial stands shortly before a token, or is part of what leads to it."""
    start = wording.tokens[max(0, at - 2 * _NEGATION_SCOPE)].start
    return any(start <= denial.start < wording.tokens[at].end for denial in denied)


def _is_negated(wording: TokenizedText, tokens: Sequence[Token], found: Sequence[Span]) -> bool:
    """Whether what follows the slot, and is agreed on, is denied in it."""
    for denial in found:
        covered = [at for at, token in enumerate(tokens) if token.start < denial.end and denial.start < token.end]
        if covered:
            between = sum(token.is_content for token in tokens[covered[-1] + 1 :])
            if between <= _NEGATION_SCOPE and CLAUSE_ENDS.isdisjoint(wording.text[denial.end : tokens[-1].end]):
                return True
    return False
