"""How two statements of different sources relate: they say the same, one says a part of the other, or they contradict
each other.

They are compared as a statement is compared with its page. Two statements contradict each other only if they differ in
one place: with another name or number beside it, they are about different things.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

from footnote.evidence.page_index import PageIndex
from footnote.evidence.tokens import Token, find_names, is_character, is_sentence_start, tokenize
from footnote.evidence.values import Value, are_comparable, contains_exact_value, is_year
from footnote.evidence.verdict import Evidence, find_evidence
from footnote.protocol.sources import Quote, Snapshot
from footnote.text.sentences import Span, sentences
from footnote.web_search.ranking.conflicts import ComparedStatement, compare_statements, parse_statement

StatementRelation: TypeAlias = Literal["same", "part", "whole", "contradiction"]
"""`part`: the first statement says a part of the second one; `whole`: the other way round."""

_MIN_SHARED = 0.35
"""Statements that share less of their words, by weight and of those of the shorter one, are about different things. The
rarer a word is among the statements, the more it weighs; numbers and names may differ."""
_MAX_NEAR = 8
"""How many statements one is compared with at most, those that share most with it."""
_MAX_SHARING = 60
"""A word that more statements have tells nothing of them."""
_MIN_DIFFERENCE = 0.05
"""Numbers that are nearer to each other may be one number, rounded."""


class ComparableStatement:
    """A statement, without footnotes and markup, prepared for comparisons with others."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def page(self) -> PageIndex:
        return PageIndex(Snapshot(url="", text=self.text))

    @cached_property
    def parsed(self) -> ComparedStatement:
        return parse_statement(self.text)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The words with a meaning by themselves; of Chinese, every two neighbouring characters."""
        left_out = {
            token.key
            for token in self.parsed.tokens
            if token.value is not None or not (token.is_content or is_character(token.key))
        }
        return self.parsed.keys - left_out

    @cached_property
    def names(self) -> frozenset[str]:
        """The words with a capital letter that are not the first of a sentence."""
        tokens = (token for token in self.parsed.tokens if token.is_capitalized)
        return frozenset(token.key for token in tokens if not is_sentence_start(self.text, token.start))

    @cached_property
    def token_keys(self) -> frozenset[str]:
        """All words, those without a meaning by themselves too; of Chinese, every character."""
        return frozenset(token.key for token in self.parsed.tokens)


def related_pairs(statements: Sequence[ComparableStatement]) -> Iterator[tuple[int, int, StatementRelation]]:
    """The pairs of statements that have to do with each other, by their indexes, the lower one first."""
    for one, other in _near_pairs(statements):
        if (relation := relate(statements[one], statements[other])) is not None:
            yield one, other, relation


def _near_pairs(statements: Sequence[ComparableStatement]) -> list[tuple[int, int]]:
    """The pairs that are worth comparing: for each statement the few that share most with it, so that the cost grows
    with the number of statements and not with its square."""
    counts = Counter(key for statement in statements for key in statement.keys)
    weights = {key: math.log(1 + len(statements) / count) for key, count in counts.items()}
    holders: dict[str, list[int]] = {}
    for at, statement in enumerate(statements):
        for key in statement.keys:
            holders.setdefault(key, []).append(at)
    totals = [math.fsum(weights[key] for key in sorted(statement.keys - statement.names)) for statement in statements]
    pairs: set[tuple[int, int]] = set()
    for at, statement in enumerate(statements):
        rare = [key for key in statement.keys if counts[key] <= _MAX_SHARING]
        near = {other for key in rare for other in holders[key] if other != at}
        shares = {other: _shared_weight(statement, statements[other], weights) for other in near}
        least = {other: _MIN_SHARED * min(totals[at], totals[other]) for other in near}
        ranked = heapq.nsmallest(
            _MAX_NEAR, (one for one in near if shares[one] >= least[one]), key=lambda one: (-shares[one], one)
        )
        pairs.update((min(at, other), max(at, other)) for other in ranked)
    return sorted(pairs)


def _shared_weight(one: ComparableStatement, other: ComparableStatement, weights: Mapping[str, float]) -> float:
    return math.fsum(weights[key] for key in sorted(one.keys & other.keys))


def relate(one: ComparableStatement, other: ComparableStatement) -> StatementRelation | None:
    """How `one` relates to `other`; None: they are about different things, or it is not certain."""
    if one.text == other.text:
        return "same"
    if min(len(_unmatched_values(one, other)), len(_unmatched_values(other, one))) > 1:
        return None  # With several other numbers it is about something else: this costs next to nothing to see.
    forward, backward = find_evidence(one.text, other.page), find_evidence(other.text, one.page)
    if forward.verdict == "supported":
        return "same" if backward.verdict == "supported" else "part"
    if backward.verdict == "supported":
        return "whole"
    return "contradiction" if _contradict(one, other, forward, backward) else None


def contradicting_sentence(one: ComparableStatement, other: ComparableStatement) -> str:
    """The sentence of a statement that another statement contradicts."""
    found = [one.text[span.start : span.end] for span in sentences(one.text)]
    if len(found) < 2:
        return one.text
    return next((text for text in found if relate(ComparableStatement(text), other) == "contradiction"), one.text)


def contradicting_quote(statement: ComparableStatement, page: PageIndex, evidence: Evidence) -> Quote | None:
    """What a page says in the place of a statement, by its evidence for it; None if it does not contradict it, or may
    be about something else: a name of the statement is nowhere on it."""
    quote = evidence.quote
    if evidence.verdict != "contradicted" or quote is None:
        return None
    spans = [one.claim for one in evidence.contradictions]
    places = [
        (one.claim, Span(one.passage.start - quote.start, one.passage.end - quote.start))
        for one in evidence.contradictions
    ]
    wording = tokenize(statement.text, page.language)
    names = [token for name in find_names(wording, page.is_proper_name) for token in name]
    absent = any(
        not page.has_term(token.key) and not is_character(token.key)
        for token in names
        if not any(span.start <= token.start < span.end for span in spans)
    )
    if absent or not _differ_in_one_place(statement, ComparableStatement(quote.text), places):
        return None
    return quote


def _contradict(one: ComparableStatement, other: ComparableStatement, forward: Evidence, backward: Evidence) -> bool:
    places = [(found.claim, found.passage) for found in forward.contradictions]
    places = places or [(found.passage, found.claim) for found in backward.contradictions]
    if places:
        return _differ_in_one_place(one, other, places)
    return _differ_in_one_value(one, other)


def _differ_in_one_place(
    one: ComparableStatement, other: ComparableStatement, places: Sequence[tuple[Span, Span]]
) -> bool:
    """Whether two statements that contradict each other at some places are about the same thing. With another number at
    a second place, each is about a time or a thing of its own."""
    if len(places) != 1:
        return False
    spans, other_spans = [place for place, _ in places], [place for _, place in places]
    if any(_is_subject(one, other, span) and _is_subject(other, one, there) for span, there in places):
        return False
    rest, other_rest = _unmatched(one, other, spans), _unmatched(other, one, other_spans)
    return not (rest and other_rest)


def _is_subject(one: ComparableStatement, other: ComparableStatement, span: Span) -> bool:
    """Whether a place at which two statements differ is a name at the beginning: `Halden has` and `Moss has`."""
    tokens = [token for token in one.parsed.tokens if token.is_content]
    before = any(token.end <= span.start and token.key in other.token_keys for token in tokens)
    differing = [token for token in tokens if span.start <= token.start < span.end]
    return not before and bool(differing) and not any(token.value for token in differing)


def _unmatched(one: ComparableStatement, other: ComparableStatement, spans: Sequence[Span]) -> list[Token]:
    """The words, names and numbers that only one of two statements has, beside the places at which they differ."""
    return [
        token
        for token in one.parsed.tokens
        if not any(span.start <= token.start < span.end for span in spans)
        and (token.is_content or _is_label(one.text, token))
        and not _has(other, token)
    ]


def _is_label(text: str, token: Token) -> bool:
    """A single capital letter within a sentence: `vaccine A`."""
    return token.is_capitalized and token.end - token.start == 1 and not is_sentence_start(text, token.start)


def _has(statement: ComparableStatement, token: Token) -> bool:
    if token.value is not None:
        return contains_exact_value(statement.parsed.values, token.value)
    return token.key in statement.token_keys


def _differ_in_one_value(one: ComparableStatement, other: ComparableStatement) -> bool:
    """Whether two statements have the same words and one number or date otherwise. Short statements differ in too large
    a part for a comparison word by word."""
    found = compare_statements(one.parsed, other.parsed)
    if found is None or found.relation != "contradiction":
        return False
    values, others = _unmatched_values(one, other), _unmatched_values(other, one)
    if len(values) != 1 or len(others) != 1 or not _are_far(values[0], others[0]):
        return False
    spans, other_spans = ([Span(value.start, value.end)] for value in (values[0], others[0]))
    return not _unmatched(one, other, spans) and not _unmatched(other, one, other_spans)


def _unmatched_values(one: ComparableStatement, other: ComparableStatement) -> list[Value]:
    """The numbers and dates that only one of two statements has."""
    return [value for value in one.parsed.values if not contains_exact_value(other.parsed.values, value)]


def _are_far(one: Value, other: Value) -> bool:
    """Whether no rounding makes one value of the other."""
    if not are_comparable(one, other):
        return False
    fact, other_fact = one.readings[0][0], other.readings[0][0]
    if len(one.readings[0]) > 1 or is_year(fact):
        return True
    return abs(fact.number - other_fact.number) > _MIN_DIFFERENCE * max(abs(fact.number), abs(other_fact.number))
