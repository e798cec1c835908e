"""Contradictions: a passage says the same thing otherwise, with another number, name or direction, or denies it.

They are found where a statement and a passage agree in nearly all of their words, in order, and differ in one place.
"""

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from footnote.evidence.alignment import Alignment
from footnote.evidence.lexicon import directions
from footnote.evidence.order import Pair
from footnote.evidence.outline import Outline
from footnote.evidence.qualifiers import Kind, interval
from footnote.evidence.tokens import Token, is_character, looks_like_name
from footnote.evidence.values import Value, are_comparable, contains_exact_value, contains_value, is_same_kind, is_year
from footnote.text.sentences import Span

_MIN_AGREEMENT = 0.8
"""The share of the other words of a statement that a passage must have, in order, to be about the same thing."""
_MIN_AGREEMENT_IN_SYLLABLES = 0.88
_MIN_AGREEMENT_ON_DENIAL = 0.9
_MIN_WORDS = {"zh": 5, "vi": 5}
_MIN_DATED = {"zh": 4, "vi": 3}
_CLAUSE_ENDS = frozenset(",;:—.!?，；：。！？")
_MIN_SHARED = 0.6
_MIN_SHARED_WORDS = 2
"""What two texts must share beside a count that differs, if they are worded differently."""
_PLAIN_PREPOSITIONS = frozenset(
    ("in", "on", "at", "during", "of", "the", "vào", "năm", "ngày", "tháng", "trong", "hồi", "于", "在")
)
"""What may stand before a date without saying more than that something was then."""
_ROUNDED, _TWO_ROUNDED = 0.1, 0.05
"""How far an approximate number may be from the exact one, and from an approximate one."""
_MAX_SLOT_WORDS = 4
_MAX_SLOT_CHARACTERS = 14
_MIN_SPELLING = 0.6
_MAX_DENIAL_DISTANCE = 24
"""Characters between a denial and the word that it denies."""
_UNDECIDED: frozenset[Kind] = frozenset(("may", "hedge", "plan", "future", "condition", "opinion"))
_ORDINALS = frozenset(
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "last"]
)
_AMOUNTS: frozenset[Kind] = frozenset(("all", "most", "many", "some", "few"))
_HAD = frozenset(("has", "have", "had"))
_WEEKDAYS = frozenset(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])


class Contradiction(NamedTuple):
    """The words of a statement and those of a passage that stand against each other, by their offsets."""

    claim: Span
    passage: Span


class NameOffsets(NamedTuple):
    """Offsets of the words that are names: those of the claim, those of them that occur shortly before the passage,
    which may refer to them by a pronoun, and those of the passage."""

    claim: Collection[int]
    nearby: Collection[int]
    passage: Collection[int]


class _Slot(NamedTuple):
    """A place at which the two differ between words on which they agree: ranges of word indexes."""

    claim: range
    passage: range
    before: Pair | None
    after: Pair | None


def find_contradictions(alignment: Alignment, names: NameOffsets) -> list[Contradiction]:
    """Where a passage says otherwise."""
    if not alignment.chain or any(
        one.mark is not None and one.in_passage and one.mark.kind in _UNDECIDED for one in alignment.objections
    ):
        return []
    found = [
        Contradiction(*spans)
        for slot in _slots(alignment)
        if _agrees_elsewhere(alignment, slot)
        for spans in _differences(alignment, slot, names)
    ]
    return (
        found
        or list(_dates_differ(alignment))
        or list(_counts_differ(alignment, names))
        or list(_bounds_differ(alignment))
        or list(_denials(alignment))
    )


def conflicting_values(alignment: Alignment) -> list[Contradiction]:
    """The one number or date of a statement that a passage lacks against the one of its kind that only the passage
    has. It shows where two texts differ that are known to contradict each other."""
    claimed = [word for word in alignment.claim.words if word.value]
    stated = [word for word in alignment.passage.words if word.value]
    lacking = [word for word in claimed if not _has_value(stated, word)]
    others = [
        other
        for other in stated
        if not _has_value(claimed, other)
        and any(word.value and other.value and _are_of_one_kind(word.value, other.value) for word in lacking)
    ]
    return [Contradiction(_span(lacking), _span(others))] if len(lacking) == len(others) == 1 else []


def _are_of_one_kind(one: Value, other: Value) -> bool:
    have_years = all(any(map(is_year, value.readings[0])) for value in (one, other))
    return have_years or are_comparable(one, other)


def _has_value(words: Sequence[Token], wanted: Token) -> bool:
    return wanted.value is not None and contains_value([one.value for one in words if one.value], wanted.value)


def _slots(alignment: Alignment) -> Iterator[_Slot]:
    chain = alignment.chain
    claim, passage = alignment.claim, alignment.passage
    first, last = chain[0], chain[-1]
    if first.claim > 0:
        start = next(at for at, one in enumerate(passage.sentence_of) if one == passage.sentence_of[first.passage])
        start = max(start, first.passage - first.claim - 2)
        yield _Slot(range(first.claim), range(start, first.passage), None, first)
    for before, after in pairwise(chain):
        if after.claim - before.claim > 1:
            inner = range(before.passage + 1, after.passage)
            yield _Slot(range(before.claim + 1, after.claim), inner, before, after)
    rest = len(claim.words) - last.claim - 1
    if rest:
        end = last.passage + 1
        while (
            end < len(passage.words)
            and end - last.passage <= rest + 2
            and passage.sentence_of[end] == passage.sentence_of[last.passage]
        ):
            end += 1
        yield _Slot(range(last.claim + 1, len(claim.words)), range(last.passage + 1, end), last, None)


def _agrees_elsewhere(alignment: Alignment, slot: _Slot) -> bool:
    """Whether the two say the same beside a slot."""
    words = len(alignment.claim.words)
    others = words - len(slot.claim)
    language = alignment.claim.language
    if _length(alignment, slot.claim) < _MIN_WORDS.get(language, 2) or not slot.claim or not slot.passage:
        return False
    limit = _MAX_SLOT_CHARACTERS if language in ("zh", "vi") else _MAX_SLOT_WORDS
    if len(slot.claim) > limit or len(slot.passage) > 2 * limit:
        return False
    around = {slot.claim.start - 1, slot.claim.stop, *slot.claim}
    if any(
        one.kind in ("order", "voice")
        or (one.kind == "skipped" and (one.words == (0,) or not around.issuperset(one.words)))
        for one in alignment.objections
    ):
        return False
    inner = alignment.passage.gaps[slot.passage.start + 1 : slot.passage.stop]
    if any(gap.ends_sentence for gap in inner):
        return False
    least = _MIN_AGREEMENT_IN_SYLLABLES if language in ("zh", "vi") else _MIN_AGREEMENT if others > 5 else 1.0
    lacking = sum(len(one.words) for one in alignment.objections if one.kind == "words")
    return max(len(alignment.chain), words - lacking) >= least * others


def _length(alignment: Alignment, without: Collection[int]) -> int:
    """The words of a statement beside some; in a language of syllables, its syllables."""
    shown = [alignment.claim.shown(at) for at in range(len(alignment.claim.words)) if at not in without]
    if alignment.claim.language == "zh":
        return sum(1 if one.isascii() or any(map(str.isdigit, one)) else len(one) for one in shown)
    return sum(len(one.split()) if alignment.claim.language == "vi" else 1 for one in shown)


def _differences(
    alignment: Alignment,
    slot: _Slot,
    names: NameOffsets,
) -> Iterator[tuple[Span, Span]]:
    claim = [alignment.claim.words[at] for at in slot.claim]
    passage = [alignment.passage.words[at] for at in slot.passage]
    yield from _values_differ(alignment, slot, claim, passage)
    yield from _names_differ(alignment, slot, claim, passage, names)
    if len(claim) == len(passage) == 1 and _is_code(claim[0]) and _is_code(passage[0]):
        yield _span(claim), _span(passage)
    if len(claim) <= 2 and len(passage) <= 2:
        yield from _opposites(alignment, claim, passage)


def _span(tokens: Sequence[Token]) -> Span:
    return Span(tokens[0].start, tokens[-1].end)


def _values_differ(
    alignment: Alignment, slot: _Slot, claim: Sequence[Token], passage: Sequence[Token]
) -> Iterator[tuple[Span, Span]]:
    claimed = [word.value for word in alignment.claim.words if word.value]
    stated = alignment.passage.text.values
    is_alone = not any(one.value is None and one.key not in alignment.passage.text.keys for one in claim)
    for at, word in zip(slot.claim, claim, strict=True):
        if word.value is None or contains_value(stated, word.value):
            continue
        for place, other in zip(slot.passage, passage, strict=True):
            if (
                other.value is not None
                and is_same_kind(word.value, other.value)
                and ((is_alone and _are_dates(word.value, other.value)) or _is_anchored(alignment, at, place))
                and (not contains_exact_value(claimed, other.value) or len(claim) == len(passage) == 1)
                and _are_disjoint(
                    word.value, alignment.claim.bound_at(at), other.value, alignment.passage.bound_at(place)
                )
            ):
                yield _span([word]), _span([other])
                return


def _are_dates(one: Value, other: Value) -> bool:
    return are_comparable(one, other) and (len(one.readings[0]) > 1 or any(is_year(fact) for fact in one.readings[0]))


def _is_anchored(alignment: Alignment, word: int, place: int) -> bool:
    """Whether the two have the same word or bound directly before or after: a number counts the same there."""
    pairs = set(alignment.chain)
    bound = alignment.claim.bound_at(word)
    return (
        Pair(word + 1, place + 1) in pairs
        or Pair(word - 1, place - 1) in pairs
        or (bound is not None and bound == alignment.passage.bound_at(place))
    )


def _are_disjoint(one: Value, bound: Kind | None, other: Value, other_bound: Kind | None) -> bool:
    """Whether no number can be both. Dates have no bounds."""
    if len(one.readings[0]) != 1 or len(other.readings[0]) != 1:
        return True
    # "About 52,000" and "about 62,000" are two numbers, although one may be rounded as far as half-way to the other.
    approximation = _TWO_ROUNDED if bound == other_bound == "about" else _ROUNDED
    low, high = interval(one.readings[0][0].number, bound, approximation=approximation)
    other_low, other_high = interval(other.readings[0][0].number, other_bound, approximation=approximation)
    return high < other_low or other_high < low


def _dates_differ(alignment: Alignment) -> Iterator[Contradiction]:
    """A date at another place of the sentence: `In 2011 it closed` against `It closed in 2012`. The two agree in
    everything else, and the sentence has no other date."""
    lacking = [at for one in alignment.objections for at in one.words]
    sentences = {alignment.passage.sentence_of[pair.passage] for pair in alignment.chain}
    if len(lacking) != 1 or alignment.objections[0].kind != "words" or len(sentences) > 1:
        return
    [at] = lacking
    word = alignment.claim.words[at]
    if word.value is None or _length(alignment, lacking) < _MIN_DATED.get(alignment.claim.language, 2):
        return
    dates = [
        place
        for place, other in enumerate(alignment.passage.words)
        if other.value
        and alignment.passage.sentence_of[place] in sentences
        and _are_dates(word.value, other.value)
        and not contains_value([word.value], other.value)
    ]
    if len(dates) == 1 and all(
        _PLAIN_PREPOSITIONS.issuperset(gap.function_words) and not gap.marks
        for gap in (alignment.claim.gaps[at], alignment.passage.gaps[dates[0]])
    ):
        yield Contradiction(_span([word]), _span([alignment.passage.words[dates[0]]]))


def _counts_differ(alignment: Alignment, names: NameOffsets) -> Iterator[Contradiction]:
    """Another number of the same things, in other words: `52,000 vehicles cross the bridge`, `The bridge carries 62,000
    vehicles`. Nothing else may set the two numbers apart: no date, no name and no other number."""
    claim, passage = alignment.claim, alignment.passage
    length = 2 if claim.language in ("vi", "zh") else 1
    for at in claim.value_positions:
        things = claim.keys[at + 1 : at + 1 + length]
        word = claim.words[at]
        if word.value is None or _are_dates(word.value, word.value) or len(things) < length:
            continue
        places = [
            place
            for place in passage.value_positions
            if passage.keys[place + 1 : place + 1 + length] == things and claim.gaps[at + 1].is_adjacent
        ]
        if len(places) != 1 or not passage.gaps[places[0] + 1].is_adjacent:
            continue
        other = passage.words[places[0]]
        if (
            other.value is not None
            and is_same_kind(word.value, other.value)
            and _is_about_the_same(alignment, at, places[0], names)
            and not (alignment.context and alignment.context.is_stated(word.value))
            and _are_disjoint(word.value, claim.bound_at(at), other.value, passage.bound_at(places[0]))
        ):
            yield Contradiction(_span([word]), _span([other]))


def _is_about_the_same(alignment: Alignment, at: int, place: int, names: NameOffsets) -> bool:
    """Whether a statement and a passage that differ in a number have the same names, dates and other numbers, and
    enough words in common."""
    claim, passage = alignment.claim, alignment.passage
    sentence = passage.sentence_of[place]
    others = [other for other in range(len(claim.words)) if other != at]
    values = [claim.words[other].value for other in others if claim.words[other].value]
    stated = [
        passage.words[other].value
        for other in passage.value_positions
        if other != place and passage.sentence_of[other] == sentence
    ]
    if not all(contains_value([one for one in stated if one], value) for value in values if value):
        return False
    if not all(contains_value([one for one in values if one], value) for value in stated if value):
        return False
    found = [
        other for other in others if any(passage.sentence_of[one] == sentence for one in alignment.candidates[other])
    ]
    lacking_names = any(claim.words[other].start in names.claim for other in others if other not in found)
    marks = [one.mark.kind for one in alignment.objections if one.mark and not one.mark.bound]
    return (
        not lacking_names
        and not marks
        and len(found) >= _MIN_SHARED_WORDS * (2 if claim.language in ("vi", "zh") else 1)
        and len(found) >= _MIN_SHARED * len(others)
    )


def _names_differ(
    alignment: Alignment,
    slot: _Slot,
    claim: Sequence[Token],
    passage: Sequence[Token],
    names: NameOffsets,
) -> Iterator[tuple[Span, Span]]:
    keys = alignment.passage.text.keys
    claimed = alignment.claim.text.keys
    if any(is_character(word.key) for word in (*claim, *passage)):
        yield from _characters_differ(alignment, slot, claim, passage, names)
        return
    in_claim = [word for word in claim if word.start in names.claim and word.key not in keys and word.value is None]
    is_anchored = slot.before is not None and slot.after is not None
    in_passage = [word for word in passage if word.start in names.passage and (is_anchored or word.key not in claimed)]
    if not in_claim or not in_passage or len(in_claim) != len([word for word in claim if word.key not in keys]):
        return
    if all(word.start in names.nearby for word in in_claim) and not is_anchored:
        return
    one, other = _span(in_claim), _span(in_passage)
    if not _is_spelling(
        alignment.claim.text.text[one.start : one.end], alignment.passage.text.text[other.start : other.end]
    ):
        yield one, other


def _is_spelling(one: str, other: str) -> bool:
    """Whether two names may be one name, spelled in two ways."""
    plain, other_plain = (
        "".join(letter for letter in unicodedata.normalize("NFKD", name) if letter.isalnum()).casefold()
        for name in (one, other)
    )
    return SequenceMatcher(None, plain, other_plain, autojunk=False).ratio() >= _MIN_SPELLING


def _characters_differ(
    alignment: Alignment, slot: _Slot, claim: Sequence[Token], passage: Sequence[Token], names: NameOffsets
) -> Iterator[tuple[Span, Span]]:
    """Whether a Chinese name is in the place of another one."""
    if any(word.value for word in (*claim, *passage)):
        return
    one = alignment.claim.text.text[claim[0].start : claim[-1].end]
    other = alignment.passage.text.text[passage[0].start : passage[-1].end]
    is_anchored = slot.before is not None and slot.after is not None
    if abs(len(one) - len(other)) > 8 or (not is_anchored and any(word.start in names.nearby for word in claim)):
        return
    if any(map(str.isascii, one + other)):
        return  # Latin letters beside Chinese characters may be the same name.
    if not _CLAUSE_ENDS.isdisjoint(one) or not _CLAUSE_ENDS.isdisjoint(other) or _is_spelling(one, other):
        return
    are_names = looks_like_name(one), looks_like_name(other)
    if all(are_names) or (is_anchored and any(are_names) and min(len(claim), len(passage)) > 1):
        yield _span(claim), _span(passage)
        return
    tail = alignment.claim.text.text[claim[-1].end : claim[-1].end + 1]
    if len(one) == len(other) == 1 and looks_like_name(one + tail) and looks_like_name(other + tail):
        yield _span(claim), _span(passage)


def _is_code(token: Token) -> bool:
    """Letters and digits together: `2n`, `S2`."""
    return token.value is None and any(map(str.isdigit, token.key))


def _opposites(alignment: Alignment, claim: Sequence[Token], passage: Sequence[Token]) -> Iterator[tuple[Span, Span]]:
    one, other = _span(claim), _span(passage)
    in_claim = directions(alignment.claim.text.text[one.start : one.end])
    in_passage = directions(alignment.passage.text.text[other.start : other.end])
    if any((axis, 1 - side) in in_passage and (axis, side) not in in_passage for axis, side in in_claim):
        yield one, other
        return
    for closed in (_ORDINALS, _WEEKDAYS):
        words = [
            {text.text.text[word.start : word.end].casefold() for word in listed} & closed
            for text, listed in ((alignment.claim, claim), (alignment.passage, passage))
        ]
        if all(words) and not words[0] & words[1]:
            yield one, other
            return


def _bounds_differ(alignment: Alignment) -> Iterator[Contradiction]:
    """`Less than 100` against `more than 100`."""
    if any(one.kind != "qualifier" for one in alignment.objections):
        return
    for pair in alignment.chain:
        word, other = alignment.claim.words[pair.claim], alignment.passage.words[pair.passage]
        if word.value and other.value and len(alignment.chain) > 2:
            bounds = {alignment.claim.bound_at(pair.claim), alignment.passage.bound_at(pair.passage)}
            if bounds in ({"more_than", "less_than"}, {"at_least", "less_than"}, {"more_than", "at_most"}):
                yield Contradiction(_span([word]), _span([other]))


def _denials(alignment: Alignment) -> Iterator[Contradiction]:
    """Whether only one of the two denies what both say."""
    last = (len(alignment.claim.words) - 1,)
    if any(
        one.kind in ("order", "voice") or (one.kind == "skipped" and one.words != last) for one in alignment.objections
    ):
        return
    words = alignment.claim.words
    agreed = len(words) - sum(len(one.words) for one in alignment.objections if one.kind == "words")
    if agreed < max(_MIN_WORDS.get(alignment.claim.language, 2), _MIN_AGREEMENT_ON_DENIAL * len(words)):
        return
    marks = [one for one in alignment.objections if one.mark is not None]
    denials = [one for one in marks if one.mark and one.mark.kind == "negation"]
    if len(denials) != 1 or len(marks) > 2 or denials[0].mark is None or denials[0].at_end:
        return
    by_claim = {pair.claim: alignment.passage.words[pair.passage] for pair in alignment.chain}
    at = denials[0].words[0]
    mark = denials[0].mark
    place = min(by_claim, key=lambda one: (one < at, abs(one - at)))
    if place < at:
        return
    denied = Span(mark.start, mark.end)
    if denials[0].in_passage:
        if by_claim[place].start - mark.end > _MAX_DENIAL_DISTANCE:
            return
        yield Contradiction(_asserted(alignment.claim, place), denied)
    else:
        stated = next(pair.passage for pair in alignment.chain if pair.claim == place)
        yield Contradiction(denied, _asserted(alignment.passage, stated))


def _asserted(text: Outline, at: int) -> Span:
    """The words of a text that say what another one denies: `many` for `nobody`, `had` before a noun, or the word
    itself."""
    gap, word = text.gaps[at], text.words[at]
    amount = next((mark for mark in gap.marks if mark.kind in _AMOUNTS), None)
    if amount is not None:
        return Span(amount.start, amount.end)
    start = text.words[at - 1].end if at else 0
    had = next((token for token in text.text.tokens if start <= token.start < word.start and token.key in _HAD), None)
    is_participle = text.shown(at).casefold().endswith(("ed", "en", "ing"))
    return Span(had.start, had.end) if had is not None and not is_participle else _span([word])
