"""The alignment of a statement with a passage, word by word, and what speaks against it.

A passage says a statement if it has all of its words in the same order, or in one that means the same (`order`; a
passive), with the same qualifiers, and if what it has beside them can be left out. Whatever else is found is an
objection.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from footnote.evidence.lexicon import PRONOUNS
from footnote.evidence.order import Pair, WordOrder
from footnote.evidence.outline import Outline, WordGap
from footnote.evidence.qualifiers import (
    MUST_BE_IN_PASSAGE,
    MUST_BE_IN_STATEMENT,
    OPPOSITE_RELATIONS,
    SENTENCE_WIDE,
    Kind,
    Mark,
    interval,
)
from footnote.evidence.subjects import (
    NAME_PARTS,
    begins_within,
    is_other_subject,
    is_passive_of_active,
    loses_head,
    loses_subject,
)
from footnote.evidence.tokens import POSSESSIVE, Token
from footnote.evidence.values import Value, are_comparable, is_same_kind

_INHABITANTS = frozenset(("resident", "person"))
_POPULATIONS = frozenset(("popul",))
_DISPENSABLE = frozenset(["locat", "situat", "occur", "plac", "fact", "addition"])
"""Words, by their keys, that a statement may have beside those of its passage: "is located in"."""
_OPEN_BOUNDS: frozenset[Kind | None] = frozenset(("at_least", "more_than", "at_most", "less_than"))
_MAX_DISTANCE_OF_NUMBERS = 0.2
"""A number may follow from another that is a fifth larger. "More than 50" of 500 is true, and misleads."""
_MAX_PLACES, _MAX_STEP = 12, 9
"""Limits for the places of one word that are looked at, and for the words in a row that a passage may lack."""
_MAX_SKIPPED = {"en": 4, "vi": 6, "zh": 6, "other": 4}
_MAX_ASIDE = 18
_MAX_SUBJECT = 4
_MAX_AGENT = 5
_SYLLABIC = ("vi", "zh")
_REACH_OF_MARK = {"vi": 4, "zh": 4}
"""How many words further on a qualifier may stand in the other text."""
_MIN_WORDS = 2
_LONE_SYLLABLE_SHARE = 0.35
ObjectionKind: TypeAlias = Literal["order", "words", "qualifier", "skipped", "voice"]


class Objection(NamedTuple):
    """Why a passage does not say a statement. `words`: those of the statement that it concerns, by their indexes.

    `mark`: the qualifier that only one of the two has, the passage if `in_passage`. `at_end`: it stands after the last
    word.
    """

    kind: ObjectionKind
    words: tuple[int, ...]
    mark: Mark | None = None
    in_passage: bool = False
    at_end: bool = False


class _PlacedMark(NamedTuple):
    """A qualifier, by the word of the statement before which it stands."""

    mark: Mark
    at: int


class PassageContext(NamedTuple):
    """What the page of a passage says about its words. `is_near`: whether a word stands shortly before the passage,
    where a pronoun in it may refer to. `is_full_name`: whether the page has a full name, and its last word in no
    other. `is_stated`: whether the page has a number anywhere."""

    is_near: Callable[[Token], bool]
    is_full_name: Callable[[str, str], bool]
    is_stated: Callable[[Value], bool]


class Alignment:
    """`ignores_voice`: the statement was turned into an active or a passive clause."""

    def __init__(
        self, claim: Outline, passage: Outline, context: PassageContext | None = None, *, ignores_voice: bool = False
    ) -> None:
        self.claim = claim
        self.passage = passage
        self.context = context
        self._ignores_voice = ignores_voice

    @cached_property
    def candidates(self) -> list[list[int]]:
        """The places in the passage of each word of the statement."""
        pairs = zip(self.claim.words, self.claim.keys, strict=True)
        return [
            self.passage.places_of(word, key)
            or [place for place in self.passage.value_positions if self._implies(place, at)]
            for at, (word, key) in enumerate(pairs)
        ]

    def _implies(self, place: int, at: int) -> bool:
        """Whether a number with a bound follows from another number: 54 reviews are more than 50 reviews."""
        value, other, bound = self.claim.words[at].value, self.passage.words[place].value, self.claim.bound_at(at)
        if value is None or other is None or bound not in _OPEN_BOUNDS or not is_same_kind(value, other):
            return False
        unit = value.readings[0][0].unit
        if unit is None and self.claim.keys[at + 1 : at + 2] != self.passage.keys[place + 1 : place + 2]:
            return False
        low, high = interval(value.readings[0][0].number, bound)
        number = other.readings[0][0].number
        return (
            self.passage.bound_at(place) is None
            and low < number < high
            and abs(number - value.readings[0][0].number) <= _MAX_DISTANCE_OF_NUMBERS * abs(number)
        )

    @cached_property
    def chain(self) -> list[Pair]:
        """The longest common subsequence, of several the one with the fewest gaps."""
        nodes = [Pair(at, place) for at, places in enumerate(self.candidates) for place in places[:_MAX_PLACES]]
        best: list[float] = []
        previous: list[int] = []
        for at, (word, place) in enumerate(nodes):
            score, link = 1.0, -1
            for other in range(at - 1, -1, -1):
                other_word, other_place = nodes[other]
                if word - other_word > _MAX_STEP:
                    break
                if other_word < word and other_place < place:
                    reached = best[other] + 1.0 - _step_cost(word - other_word, place - other_place)
                    if reached > score:
                        score, link = reached, other
            best.append(score)
            previous.append(link)
        chain: list[Pair] = []
        at = max(range(len(nodes)), key=best.__getitem__, default=-1)
        while at >= 0:
            chain.append(nodes[at])
            at = previous[at]
        return chain[::-1]

    @cached_property
    def _by_claim(self) -> dict[int, int]:
        return {pair.claim: pair.passage for pair in self.chain}

    @cached_property
    def _used(self) -> frozenset[int]:
        return frozenset(pair.passage for pair in self.chain)

    @cached_property
    def _moved(self) -> frozenset[int]:
        """The places of those words of the statement that have another order in the passage; single syllables move by
        chance."""
        is_syllabic = self.claim.language in _SYLLABIC
        return frozenset(
            place
            for at, places in enumerate(self.candidates)
            if at not in self._by_claim and (self.claim.words[at].value or not is_syllabic)
            for place in places
        )

    def coverage(self, weights: Sequence[float]) -> tuple[float, float]:
        """The share of the statement that the passage has, in any order and in the same."""
        total = sum(weights) or 1.0
        ordered = sum(weights[at] for at in self._by_claim)
        rest = sum(
            weight * (_LONE_SYLLABLE_SHARE if self.claim.words[at].is_syllable else 1.0)
            for at, weight in enumerate(weights)
            if at not in self._by_claim and self.candidates[at]
        )
        return (ordered + rest) / total, ordered / total

    @property
    def matched(self) -> frozenset[int]:
        """The offsets of the words of the statement that the passage has, or without which it says the same."""
        lacking = {at for one in self.objections if one.kind == "words" for at in one.words}
        return frozenset(word.start for at, word in enumerate(self.claim.words) if at not in lacking)

    # Objections ------------------------------------------------------------------------------------------------------

    @cached_property
    def objections(self) -> list[Objection]:
        """What speaks against it that the passage says the statement; nothing if it does."""
        absent, moved = self._unaligned()
        if len(self.claim.words) < _MIN_WORDS < len(self.claim.text.tokens):
            absent = list(range(len(self.claim.words)))  # too little to be said by anything but the same words
        found = [Objection("words", tuple(absent))] if absent else []
        if moved:
            found.append(Objection("order", tuple(moved)))
        if self.chain:
            found += self._lone_syllables()
            found += self._skips()
            found += self._mark_differences()
            found += self._relation_differences()
            if not self._ignores_voice:
                found += self._voice_differences()
        return found

    def _unaligned(self) -> tuple[list[int], list[int]]:
        """The words of the statement that the passage lacks, and those that stand elsewhere and mean something else
        there."""
        absent: list[int] = []
        elsewhere: list[int] = []
        for at in range(len(self.claim.words)):
            if at in self._by_claim:
                continue
            if any(place not in self._used for place in self.candidates[at]):
                elsewhere.append(at)
            elif self.claim.keys[at] not in _DISPENSABLE and not self.claim.is_function_word(at):
                absent.append(at)
        absent = [] if self._is_named_before(absent) else [at for at in absent if not self._is_said_otherwise(at)]
        order = WordOrder(self.claim, self.passage, self.candidates, self.chain)
        return absent, [at for run in runs_of(elsewhere) for at in run if not order.may_move(run)]

    def _is_named_before(self, absent: Sequence[int]) -> bool:
        """Whether the passage lacks nothing but the subject, has a pronoun for it, and the page names it shortly
        before."""
        if not absent or not self.chain or list(absent) != list(range(len(absent))):
            return False
        first = self.chain[0]
        if first.claim != len(absent) or not all(self.claim.words[at].is_capitalized for at in absent):
            return False
        start = self.passage.sentence_start(first.passage)
        opening = self.passage.gaps[start : first.passage + 1]
        has_pronoun = any(not PRONOUNS.isdisjoint(gap.function_words) for gap in opening)
        has_name = any(word.is_capitalized for word in self.passage.words[start : first.passage])
        return has_pronoun and not has_name and self._are_near(absent)

    def _is_said_otherwise(self, at: int) -> bool:
        """Whether the passage has a word in another form: a person by the last name alone, `54,300 inhabitants` as `a
        population of 54,300`."""
        if at and self.claim.keys[at] in _INHABITANTS and (place := self._by_claim.get(at - 1)) is not None:
            return bool(self.claim.words[at - 1].value and place) and self.passage.keys[place - 1] in _POPULATIONS
        last = at + 1
        while last < len(self.claim.words) and last not in self._by_claim:
            last += 1
        names = self.claim.words[at : last + 1]
        if last == len(self.claim.words) or not all(word.is_capitalized and not word.value for word in names):
            return False
        place = self._by_claim[last]
        has_other_name = (
            place > 0 and self.passage.gaps[place].is_adjacent and self.passage.words[place - 1].is_capitalized
        )
        if has_other_name or not all(self.claim.gaps[word].is_adjacent for word in range(at + 1, last + 1)):
            return False
        context = self.context
        last_name = POSSESSIVE.sub("", self.claim.shown(last))
        full_name = self.claim.text.text[names[0].start : names[-1].start] + last_name
        return context is not None and context.is_full_name(full_name, last_name)

    def _are_near(self, words: Sequence[int]) -> bool:
        context = self.context
        return context is not None and all(context.is_near(self.claim.words[at]) for at in words)

    # What is left out ----------------------------------------------------------------------------------------

    def _lone_syllables(self) -> Iterator[Objection]:
        """In a language of syllables, one of them without its neighbours is half a word."""
        if self.claim.language not in _SYLLABIC:
            return
        pairs = set(self.chain)
        last = len(self.claim.words) - 1
        for word, place in self.chain:
            token = self.claim.words[word]
            if token.value or not token.is_syllable or token.is_capitalized:
                continue
            before = word > 0 and self.claim.gaps[word].is_adjacent
            after = word < last and self.claim.gaps[word + 1].is_adjacent
            is_joined = (before and Pair(word - 1, place - 1) in pairs) or (
                after and Pair(word + 1, place + 1) in pairs
            )
            is_cut = self.passage.gaps[place].is_break or self.passage.gaps[place + 1].is_break
            if (before or after) and not is_joined and not is_cut:
                yield Objection("words", (word,))

    def _skips(self) -> Iterator[Objection]:
        for before, after in pairwise(self.chain):
            between = range(before.passage + 1, after.passage)
            is_gap = not self._moved.issuperset(between) or self.passage.gaps[after.passage].ends_sentence
            if is_gap and (loses_subject(self.claim, self.passage, before, after) or not self._may_skip(before, after)):
                yield Objection("skipped", (before.claim, after.claim))
        first, last = self.chain[0], self.chain[-1]
        if last.claim == len(self.claim.words) - 1 and not self._may_end_after(last.passage):
            yield Objection("skipped", (last.claim,))
        if first.claim == 0 and first.passage and begins_within(self.claim, self.passage, first.passage, self._moved):
            yield Objection("skipped", (0,))

    def _may_end_after(self, place: int) -> bool:
        """Whether what follows a word of the passage does not belong to it: `heart` of `heart disease`."""
        while place + 1 in self._moved:
            place += 1
        if place + 1 >= len(self.passage.words):
            return True
        if loses_head(self.claim, len(self.claim.words) - 1, self.passage, place):
            return False
        following = self.passage.gaps[place + 1]
        word = self.passage.words[place + 1]
        if following.is_adjacent and not word.value and self.passage.keys[place + 1] not in self.claim.positions:
            is_name = self.passage.words[place].is_capitalized and not word.is_capitalized
            is_verb_or_adverb = self.passage.shown(place + 1).casefold().endswith(("ly", "ing", "ed"))
            if not is_name and not is_verb_or_adverb and (self.passage.language != "vi" or word.is_capitalized):
                return False
        return self.claim.strict_from is None or following.is_break or following.joins

    def _may_skip(self, before: Pair, after: Pair) -> bool:
        """Whether the passage may have more words between two that the statement has."""
        gaps = self.passage.gaps[before.passage + 1 : after.passage + 1]
        skipped = self.passage.words[before.passage + 1 : after.passage]
        claim_gaps = self.claim.gaps[before.claim + 1 : after.claim + 1]
        claim_breaks = any(gap.is_break or gap.joins for gap in claim_gaps)
        if any(gap.ends_sentence for gap in gaps):
            hides = self._hides_value(skipped, before, after)
            return not hides and self._may_cross(before, after, claim_breaks=claim_breaks)
        is_aside = gaps[0].is_break and gaps[-1].is_break and len(skipped) <= _MAX_ASIDE
        if is_aside and self._is_in_brackets(before, after):
            return True
        if self._hides_value(skipped, before, after):
            return False
        if is_aside:
            return True
        strict = self.claim.strict_from
        if strict is not None and after.claim >= strict:
            return False
        return self._may_skip_in_clause(before, after, skipped, gaps, claim_breaks=claim_breaks)

    def _may_skip_in_clause(
        self, before: Pair, after: Pair, skipped: Sequence[Token], gaps: Sequence[WordGap], *, claim_breaks: bool
    ) -> bool:
        if is_other_subject(gaps, self.claim.gaps[after.claim]):
            return False
        keys = self.passage.keys[before.passage + 1 : after.passage]
        if self.passage.keys[before.passage] in keys:
            return False  # "He read books and she read papers": not "he read papers".
        if self._is_first_name(after, skipped, gaps):
            return True
        begins_part, ends_part = gaps[0].is_break or gaps[0].joins, gaps[-1].joins
        has_names = any(word.is_capitalized for word in skipped) and self.passage.words[after.passage].is_capitalized
        if has_names and not (begins_part or ends_part):
            return False
        limit = _MAX_SKIPPED[self.passage.language]
        if not any(gap.is_break or gap.joins for gap in gaps):
            return len(skipped) <= limit
        if claim_breaks or (ends_part and self._is_subject(before)):
            limit *= 2
        return (claim_breaks or begins_part or ends_part) and len(skipped) <= limit

    def _is_first_name(self, after: Pair, skipped: Sequence[Token], gaps: Sequence[WordGap]) -> bool:
        """Whether only the first names of a person are left out."""
        return (
            self.passage.words[after.passage].is_capitalized
            and all(word.is_capitalized and word.value is None and word.key not in NAME_PARTS for word in skipped)
            and all(gap.is_adjacent for gap in gaps[1:])
        )

    def _is_in_brackets(self, before: Pair, after: Pair) -> bool:
        start, end = self.passage.words[before.passage].end, self.passage.words[after.passage].start
        between = self.passage.text.text[start:end].strip()
        return between[:1] in ("(", "（") and between.count(")") + between.count("）") == 1

    def _is_subject(self, before: Pair) -> bool:
        """Whether what was found up to a word is the beginning of the passage's sentence."""
        first = self.chain[0].passage
        return self.passage.sentence_start(first) == first and before.passage - first <= _MAX_SUBJECT

    def _hides_value(self, skipped: Sequence[Token], before: Pair, after: Pair) -> bool:
        """Whether a number is left out beside another of its kind."""
        near = [word.value for at in (before.passage, after.passage) if (word := self.passage.words[at]).value]
        return any(are_comparable(word.value, one) for word in skipped if word.value for one in near if one)

    def _may_cross(self, before: Pair, after: Pair, *, claim_breaks: bool) -> bool:
        """Whether a statement may go on in the next sentence of the passage: its own clause ends there too, or the next
        sentence begins with a pronoun for its subject."""
        numbers = self.passage.sentence_of
        if numbers[after.passage] - numbers[before.passage] > 1:
            return False
        lead = after.passage - self.passage.sentence_start(after.passage)
        gap = self.passage.gaps[after.passage]
        has_pronoun = not PRONOUNS.isdisjoint(gap.function_words)
        if lead and not gap.is_break and not has_pronoun:
            return False
        return lead <= _MAX_SUBJECT if claim_breaks else has_pronoun and self._is_subject(before)

    # Qualifiers ----------------------------------------------------------------------------------------------

    def _mark_differences(self) -> Iterator[Objection]:
        words = len(self.claim.words)
        implied = {at + step for at, place in self.chain if self._implies(place, at) for step in (0, 1)}
        in_claim = [
            _PlacedMark(mark, at)
            for at, gap in enumerate(self.claim.gaps)
            for mark in gap.marks
            if not (mark.bound and at in implied)
        ]
        in_passage = [one for one in self._passage_marks() if not (one.mark.bound and one.at in implied)]
        required = len(in_passage)
        following = self.passage.gaps[self.chain[-1].passage + 1]
        in_passage += [one for mark in following.marks if (one := _PlacedMark(mark, words)) not in in_passage]
        reach = _REACH_OF_MARK.get(self.claim.language, 2)
        taken: set[int] = set()
        for mark, at in in_claim:
            found = next(
                (
                    index
                    for index, (other, place) in enumerate(in_passage)
                    if index not in taken and _covers(other.kind, mark.kind) and abs(place - at) <= reach
                ),
                None,
            )
            if found is not None:
                taken.add(found)
            elif mark.kind in MUST_BE_IN_PASSAGE:
                yield Objection("qualifier", (min(at, words - 1),), mark, at_end=at == words)
        for index, (mark, at) in enumerate(in_passage[:required]):
            if index not in taken and mark.kind in MUST_BE_IN_STATEMENT:
                yield Objection("qualifier", (min(at, words - 1),), mark, in_passage=True)

    def _passage_marks(self) -> Iterator[_PlacedMark]:
        """The qualifiers that hold for what the statement has of the passage."""
        yield from self._marks_before()
        for before, after in pairwise(self.chain):
            gaps = self.passage.gaps[before.passage + 1 : after.passage + 1]
            is_aside = len(gaps) > 1 and gaps[0].is_break and (gaps[-1].is_break or gaps[-1].joins)
            if is_aside or any(gap.ends_sentence for gap in gaps):
                gaps = gaps[-1:]
            yield from (_PlacedMark(mark, after.claim) for gap in gaps for mark in gap.marks)
        yield from self._marks_after()

    def _marks_before(self) -> Iterator[_PlacedMark]:
        """Those before the first word, of its clause; a condition limits the whole sentence."""
        first = self.chain[0]
        is_same_clause = True
        for at in range(first.passage, self.passage.sentence_start(first.passage) - 1, -1):
            gap = self.passage.gaps[at]
            for mark in gap.marks:
                if at == first.passage or mark.kind == "condition" or (is_same_clause and mark.kind in SENTENCE_WIDE):
                    yield _PlacedMark(mark, first.claim)
            is_same_clause = is_same_clause and not (gap.is_break and at < first.passage)

    def _marks_after(self) -> Iterator[_PlacedMark]:
        last = self.chain[-1]
        end = self.passage.words[last.passage].end
        for at in range(last.passage + 1, len(self.passage.gaps)):
            gap = self.passage.gaps[at]
            for mark in gap.marks:
                if mark.kind == "condition" or (mark.bound and mark.start - end <= 1):
                    yield _PlacedMark(mark, last.claim + 1)
            if gap.ends_sentence:
                return

    # Relations and roles ----------------------------------------------------------------------------------------

    def _relation_differences(self) -> Iterator[Objection]:
        """Words before which the one has `from` and the other `to`."""
        for word, place in self.chain:
            relations: tuple[Kind | None, Kind | None] = (
                self.claim.relation_before(word),
                self.passage.relation_before(place),
            )
            if relations in OPPOSITE_RELATIONS:
                yield Objection("order", (word,))

    def _voice_differences(self) -> Iterator[Objection]:
        """Verbs that are passive in one of the two, with the same words after them."""
        pairs = set(self.chain)
        for word, place in self.chain:
            is_other = (word in self.claim.passive_verbs) != (place in self.passage.passive_verbs)
            if is_passive_of_active(self.claim, word, self.passage, place):
                yield Objection("voice", (word,))
            if is_other and Pair(word + 1, place + 1) in pairs and not self.claim.words[word + 1].value:
                yield Objection("voice", (word,))


def _covers(stated: Kind, claimed: Kind) -> bool:
    """Whether a qualifier of a passage allows one of a statement: what can be may be."""
    return stated == claimed or (stated == "can" and claimed == "may")


def _step_cost(words: int, places: int) -> float:
    """What an alignment loses by words that only one of the two has between others."""
    return 0.02 * (words > 1) + (0.1 + 0.01 * min(places, 30) if places > 1 else 0.0)


def runs_of(places: Sequence[int]) -> list[list[int]]:
    """Indexes that follow each other, together."""
    runs: list[list[int]] = []
    for at in places:
        if runs and at == runs[-1][-1] + 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs
