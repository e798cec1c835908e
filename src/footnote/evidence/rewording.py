"""A statement in another construction: the words of a clause in the order in which a passage has them, where the roles
stay the same.

`The law was passed by the senate` is `The senate passed the law`. Each rule needs the words by which a language marks
the construction (`by`, `was`, `được`, `被`, a participle before a comma) and gives the statement with its words in
another order; whether a passage says that, the alignment decides as for any statement.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from footnote.evidence.alignment import Alignment
from footnote.evidence.outline import WordGap
from footnote.evidence.subjects import loses_head

_MAX_AGENT = 5
_MAX_ABSENT = 0.34
"""With a larger share of words that the passage lacks, another order does not help."""
_AUXILIARIES = frozenset(("is", "are", "was", "were", "be", "been", "being"))
_ARTICLES = frozenset(("a", "an", "the", "its", "his", "her", "their", "this", "that", "these", "those"))
_PASSIVE_MARKERS = frozenset(("được", "bị", "被", "由", "bởi", "do"))
_PARTICIPLES = frozenset(("born", "built", "known", "written", "held", "made", "set", "led", "won", "sold", "drawn"))
_MAX_SUBJECT = 6

_Blocks = Sequence[range]


def reworded(alignment: Alignment) -> Alignment:
    """The alignment of a statement, in another construction if the passage has that one: it has no objection then, or
    only words that the passage lacks."""
    objections = alignment.objections
    kinds = {one.kind for one in objections}
    absent = sum(len(one.words) for one in objections if one.kind == "words")
    words = len(alignment.claim.words)
    if kinds.isdisjoint(("order", "voice", "skipped")) or absent > _MAX_ABSENT * words:
        return alignment
    best = alignment
    for blocks in _constructions(alignment):
        other = Alignment(
            alignment.claim.reordered([block for block in blocks if block]),
            alignment.passage,
            alignment.context,
            ignores_voice=True,
        )
        if not other.objections:
            return other
        if best is alignment and {one.kind for one in other.objections}.isdisjoint(("order", "voice", "skipped")):
            best = other
    return best


def _constructions(alignment: Alignment) -> Iterator[_Blocks]:
    for rule in _RULES:
        blocks = rule(alignment, _lead(alignment))
        if blocks is not None:
            yield blocks


def _lead(alignment: Alignment) -> int:
    """How many words a statement has before its subject: the date of `In 1998 …`."""
    words = alignment.claim.words
    at = 0
    while at < len(words) and words[at].value:
        at += 1
    is_lead = at < len(words) - 2 and (alignment.claim.gaps[at].is_break or alignment.claim.language != "en")
    return at if is_lead else 0


def _other_voice(alignment: Alignment, lead: int) -> _Blocks | None:
    """`The senate passed the law` for `The law was passed by the senate`, and the other way round."""
    claim, passage = alignment.claim, alignment.passage
    words = len(claim.words)
    for verb in range(lead + 1, min(words - 1, lead + _MAX_AGENT + 1)):
        is_passive = verb in claim.passive_verbs
        if not any((place in passage.passive_verbs) != is_passive for place in alignment.candidates[verb]):
            continue
        end = verb + 2
        while end < words and end - verb <= _MAX_AGENT and _continues_phrase(claim.gaps[end]):
            end += 1
        return [range(verb + 1, end), range(verb, verb + 1), range(lead, verb), range(end, words), range(lead)]
    return None


def _without_agent(alignment: Alignment, lead: int) -> _Blocks | None:
    """`The wage was raised to 15 dollars` where somebody raised it."""
    claim, passage = alignment.claim, alignment.passage
    for verb in range(lead + 1, min(len(claim.words), lead + _MAX_SUBJECT + 1)):
        if _AUXILIARIES.isdisjoint(claim.gaps[verb].function_words) or verb in claim.passive_verbs:
            continue
        for place in alignment.candidates[verb]:
            gap = passage.gaps[place]
            has_subject = place > passage.sentence_start(place) and not (gap.is_break or gap.ends_sentence)
            is_active = _AUXILIARIES.isdisjoint(gap.function_words) and place not in passage.passive_verbs
            has_object = place + 1 in alignment.candidates[lead] and _ARTICLES.issuperset(
                passage.gaps[place + 1].function_words
            )
            if has_subject and is_active and has_object and not passage.gaps[place + 1].is_break:
                rest = range(verb + 1, len(claim.words))
                return [range(verb, verb + 1), range(lead, verb), rest, range(lead)]
        return None
    return None


def _participle(alignment: Alignment, lead: int) -> _Blocks | None:
    """`Northwind was founded in 1998` where the passage begins with `Founded in 1998, Northwind`."""
    claim, passage = alignment.claim, alignment.passage
    for verb in range(lead + 1, min(len(claim.words), lead + _MAX_SUBJECT + 1)):
        if _AUXILIARIES.isdisjoint(claim.gaps[verb].function_words):
            continue
        for place in alignment.candidates[verb]:
            shown = passage.shown(place).casefold()
            if passage.sentence_start(place) == place and (shown.endswith("ed") or shown in _PARTICIPLES):
                subject = (at for at in alignment.candidates[lead] if at > place and passage.gaps[at].is_break)
                if any(passage.sentence_start(at) == place for at in subject):
                    return [range(verb, len(claim.words)), range(lead), range(lead, verb)]
        return None
    return None


def _marked_passive(alignment: Alignment, lead: int) -> _Blocks | None:
    """`X được Y mua`, `X 被 Y 收购` for `Y mua X`, `Y 收购 X`, and the other way round."""
    claim, passage = alignment.claim, alignment.passage
    words = len(claim.words)
    marker = next((at for at in range(lead + 1, len(claim.words)) if _is_passive(claim.gaps[at])), None)
    if marker is not None:
        return _active_for(alignment, lead, marker)
    marker = next((at for at in range(1, len(passage.words)) if _is_passive(passage.gaps[at])), None)
    if marker is None or marker not in alignment.candidates[lead]:
        return None
    start = passage.sentence_start(marker)
    words = range(lead + 2, len(claim.words))
    runs = [at for at in words if any(start <= place < marker for place in alignment.candidates[at])]
    if not runs or runs != list(range(runs[0], runs[-1] + 1)):
        return None
    moved = range(runs[0], runs[-1] + 1)
    return [moved, range(lead, moved.start), range(moved.stop, len(claim.words)), range(lead)]


def _active_for(alignment: Alignment, lead: int, marker: int) -> _Blocks | None:
    """A passive statement as the active clause of its passage: who acts stands after the marker, and first."""
    claim, passage = alignment.claim, alignment.passage
    by_claim = {pair.claim: pair.passage for pair in alignment.chain}
    object_at = next((place for place in alignment.candidates[lead] if place not in by_claim.values()), None)
    if object_at is None or any(map(_is_passive, passage.gaps[: object_at + 1])):
        return None
    clause = [at for at, place in by_claim.items() if at >= marker and place < object_at]
    end = max(clause, default=marker) + 1
    if end - marker < 2 or loses_head(claim, marker - 1, passage, object_at + marker - 1 - lead):
        return None
    return [range(marker, end), range(lead, marker), range(end, len(claim.words)), range(lead)]


def _is_passive(gap: WordGap) -> bool:
    return not _PASSIVE_MARKERS.isdisjoint(gap.function_words) or any(mark.kind == "passive" for mark in gap.marks)


def _relative_clause(alignment: Alignment, lead: int) -> _Blocks | None:
    """`The river is 320 km long and flows north` for `The river, which flows north, is 320 km long`."""
    claim = alignment.claim
    opening = next(
        (at for at in range(lead + 1, len(claim.words)) if claim.gaps[at].is_break and _is_relative(claim.gaps[at])),
        None,
    )
    if opening is None:
        return None
    closing = next((at for at in range(opening + 1, len(claim.words)) if claim.gaps[at].is_break), None)
    if closing is None:
        return None
    return [range(lead, opening), range(closing, len(claim.words)), range(opening, closing), range(lead)]


def _is_relative(gap: WordGap) -> bool:
    return not {"which", "who", "that"}.isdisjoint(gap.function_words)


def _adjunct_last(_alignment: Alignment, lead: int) -> _Blocks | None:
    """`It closed in 1998` for `In 1998 it closed`."""
    return [range(lead, len(_alignment.claim.words)), range(lead)] if lead else None


_RULES: Final[Sequence[Callable[[Alignment, int], _Blocks | None]]] = (
    _other_voice,
    _without_agent,
    _participle,
    _marked_passive,
    _relative_clause,
    _adjunct_last,
)


def _continues_phrase(gap: WordGap) -> bool:
    return gap.is_adjacent or (not gap.is_break and set(gap.function_words) <= {"of", "the", "a", "an", "'s"})
