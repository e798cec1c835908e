"""The comparison of a claim with a passage: how much of the claim the passage covers, and where the two differ."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from footnote.evidence.lexicon import PRONOUNS
from footnote.evidence.tokens import Token, TokenizedText, is_character
from footnote.evidence.values import Value, contains_value
from footnote.text.sentences import sentences
from footnote.text.terms import fold

CLAUSE_ENDS = frozenset(",;:—.!?，；：。！？")

_LONE_SYLLABLE_CREDIT = 0.35
"""The credit of a syllable or character that the passage has, but not beside the same neighbour."""
_PARTIAL_PAIR_CREDIT = 0.7
"""Its credit if the neighbour has no meaning by itself: `的`, `của`."""
_NEARBY_NAME_CREDIT = 0.6
"""The credit of a name or number in another sentence of the passage: this one may say `he`, `the city`."""
_NEARBY_WORD_CREDIT = 0.25
_MIN_CLAUSE_WORDS = 3
_MAX_SLOT_TOKENS = {True: 18, False: 10}
"""Limit for the characters, or words, of a claim in one slot: more are another statement, not other words for it."""


class WordSlot(NamedTuple):
    """A place at which claim and passage differ; one of the two may have nothing there.

    `left` and `right` are the tokens of the claim on which the two agree, before and after it. `refers_back`: the
    passage has a pronoun there.
    """

    claim: Sequence[Token]
    passage: Sequence[Token]
    left: Token | None
    right: Token | None
    refers_back: bool


class Clause(NamedTuple):
    """A part of a claim. `covered` is the part of its `weight` that one sentence of the passage covers at most, the one
    at `best`. `size`: the number of its content tokens."""

    tokens: Sequence[Token]
    size: int
    best: int
    weight: float
    covered: float


class _ComparedSentence(NamedTuple):
    keys: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    values: Sequence[Value]


class _AlignedBlock(NamedTuple):
    """Equal tokens in a row, by their first index in the claim and in the passage."""

    claim: int
    passage: int
    size: int


class Comparison:
    """`weights` are those of the tokens of the claim."""

    def __init__(self, claim: TokenizedText, passage: TokenizedText, weights: Sequence[float]) -> None:
        self.claim = claim
        self.passage = passage
        self.weights = weights
        self.total = sum(weights) or 1.0
        self._starts = [span.start for span in sentences(passage.text)] or [0]

    @cached_property
    def ordered_coverage(self) -> float:
        """The share of the claim that the passage has in the same order."""
        return sum(sum(self.weights[block.claim : block.claim + block.size]) for block in self._blocks) / self.total

    @cached_property
    def coverage(self) -> float:
        """The share of the claim that the passage has, in any order, but each clause in one sentence."""
        return sum(clause.covered for clause in self.clauses) / self.total

    @cached_property
    def word_coverage(self) -> float:
        """The share of the claim's words, without numbers, that the passage has."""
        words = [
            (weight, self._credit(at, self._whole_passage))
            for at, (token, weight) in enumerate(zip(self.claim.tokens, self.weights, strict=True))
            if token.value is None
        ]
        return sum(weight * credit for weight, credit in words) / (sum(weight for weight, _ in words) or 1.0)

    @cached_property
    def clauses(self) -> list[Clause]:
        return [self._cover_clause(start, end) for start, end in self._clause_bounds()]

    @cached_property
    def matched(self) -> list[bool]:
        """Which tokens of the claim the passage has."""
        return [self._credit(at, self._whole_passage) >= 0.5 for at in range(len(self.claim.tokens))]

    @cached_property
    def max_gap(self) -> float:
        """The longest run of words that the passage lacks, as a share of the claim."""
        return max((self.weight_of(run) for run in self._missing_runs()), default=0.0) / self.total

    @cached_property
    def max_missing_words(self) -> int:
        """The number of words in the longest such run."""
        return max(map(len, self._missing_runs()), default=0)

    def _missing_runs(self) -> list[list[Token]]:
        runs: list[list[Token]] = [[]]
        for token, found in zip(self.claim.tokens, self.matched, strict=True):
            if token.is_content and not found:
                runs[-1].append(token)
            elif token.is_content and runs[-1]:
                runs.append([])
        return runs

    def binds_elsewhere(self, names: Collection[int], passage_names: Collection[int]) -> bool:
        """Whether a name of a clause is in another sentence than the rest of the clause, and the sentence with the rest
        has other names and no pronoun. `names` and `passage_names` are the offsets of names in claim and passage."""
        return len(self._sentences) > 1 and any(
            self._is_bound_elsewhere(clause, names, passage_names) for clause in self.clauses
        )

    def _is_bound_elsewhere(self, clause: Clause, names: Collection[int], passage_names: Collection[int]) -> bool:
        elsewhere = self._whole_passage.keys - self._sentences[clause.best].keys
        if not any(token.start in names and token.key in elsewhere for token in clause.tokens):
            return False
        sentence = [token for token in self.passage.tokens if self._sentence_at(token.start) == clause.best]
        has_others = any(token.start in passage_names and token.key not in self.claim.keys for token in sentence)
        return has_others and not self._refers_back(sentence)

    def _refers_back(self, tokens: Sequence[Token]) -> bool:
        return any(fold(self.passage.text[token.start : token.end]) in PRONOUNS for token in tokens)

    def weight_of(self, tokens: Sequence[Token]) -> float:
        starts = {token.start for token in tokens}
        pairs = zip(self.claim.tokens, self.weights, strict=True)
        return sum(weight for token, weight in pairs if token.start in starts)

    def _clause_bounds(self) -> Iterator[tuple[int, int]]:
        """The clauses as ranges of tokens. A few words between commas are not a clause of their own."""
        tokens = self.claim.tokens
        remaining = sum(token.is_content for token in tokens)
        start = size = 0
        for at, (token, following) in enumerate(pairwise(tokens), 1):
            size += token.is_content
            remaining -= token.is_content
            between = self.claim.text[token.end : following.start]
            if size >= _MIN_CLAUSE_WORDS <= remaining and not CLAUSE_ENDS.isdisjoint(between):
                yield start, at
                start, size = at, 0
        yield start, len(tokens)

    def _cover_clause(self, start: int, end: int) -> Clause:
        size = sum(token.is_content for token in self.claim.tokens[start:end])
        elsewhere = [self._credit_elsewhere(at) for at in range(start, end)]
        covered = [
            sum(
                self.weights[at] * max(self._credit(at, sentence), other)
                for at, other in zip(range(start, end), elsewhere, strict=True)
            )
            for sentence in self._sentences
        ]
        tokens = self.claim.tokens[start:end]
        best = max(range(len(covered)), key=covered.__getitem__)
        return Clause(tokens, size, best, sum(self.weights[start:end]), covered[best])

    def _credit_elsewhere(self, at: int) -> float:
        token = self.claim.tokens[at]
        share = _NEARBY_NAME_CREDIT if token.is_capitalized or token.value else _NEARBY_WORD_CREDIT
        return share * self._credit(at, self._whole_passage)

    def _credit(self, at: int, sentence: _ComparedSentence) -> float:
        token = self.claim.tokens[at]
        if not token.is_content:
            return 0.0
        if token.value:
            return float(contains_value(sentence.values, token.value))
        if token.key not in sentence.keys:
            return 0.0
        if not token.is_syllable or token.is_capitalized:
            return 1.0
        return max(self._pair_credit(at - 1, sentence), self._pair_credit(at, sentence), _LONE_SYLLABLE_CREDIT)

    def _pair_credit(self, at: int, sentence: _ComparedSentence) -> float:
        tokens = self.claim.tokens
        if at < 0 or at + 1 >= len(tokens) or (tokens[at].key, tokens[at + 1].key) not in sentence.pairs:
            return 0.0
        return 1.0 if tokens[at].is_content and tokens[at + 1].is_content else _PARTIAL_PAIR_CREDIT

    @cached_property
    def _whole_passage(self) -> _ComparedSentence:
        return _sentence(self.passage.tokens, self.passage.values)

    @cached_property
    def _sentences(self) -> list[_ComparedSentence]:
        tokens: list[list[Token]] = [[] for _ in self._starts]
        values: list[list[Value]] = [[] for _ in self._starts]
        for token in self.passage.tokens:
            tokens[self._sentence_at(token.start)].append(token)
        for value in self.passage.values:
            values[self._sentence_at(value.start)].append(value)
        return [_sentence(*parts) for parts in zip(tokens, values, strict=True)]

    def _sentence_at(self, offset: int) -> int:
        return max(0, bisect_right(self._starts, offset) - 1)

    @cached_property
    def _blocks(self) -> list[_AlignedBlock]:
        claimed = [token.value for token in self.claim.tokens if token.value]
        claim_keys = [token.key for token in self.claim.tokens]
        passage_keys = [_shared_key(token, claimed) for token in self.passage.tokens]
        found = SequenceMatcher(None, claim_keys, passage_keys, autojunk=False).get_matching_blocks()
        return [_AlignedBlock(*block) for block in found if self._is_agreement(block.a, block.size)]

    def _is_agreement(self, start: int, size: int) -> bool:
        """Whether equal tokens are more than a lone `of`, or one character of a name."""
        content = [token for token in self.claim.tokens[start : start + size] if token.is_content]
        return size > 2 or (size == 2 and bool(content)) or any(_is_word(token) for token in content)

    @cached_property
    def slots(self) -> list[WordSlot]:
        beginning = _AlignedBlock(0, 0, 0)
        end = _AlignedBlock(len(self.claim.tokens), len(self.passage.tokens), 0)
        return [slot for pair in pairwise([beginning, *self._blocks, end]) for slot in self._slots_between(*pair)]

    def _slots_between(self, before: _AlignedBlock, after: _AlignedBlock) -> Iterator[WordSlot]:
        claim: Sequence[Token] = self.claim.tokens[before.claim + before.size : after.claim]
        passage: Sequence[Token] = self.passage.tokens[before.passage + before.size : after.passage]
        if not (claim or passage) or (claim and len(claim) > _MAX_SLOT_TOKENS[is_character(claim[0].key)]):
            return
        left = self.claim.tokens[before.claim + before.size - 1] if before.size else None
        right = self.claim.tokens[after.claim] if after.size else None
        if left is None or right is None:
            # Beyond the ends of the claim the passage may go on: only what is near, in the same sentence, counts.
            anchor = after.passage if left is None else before.passage + before.size - 1
            if anchor >= len(self.passage.tokens):
                return
            sentence = self._sentence_at(self.passage.tokens[anchor].start)
            passage = [token for token in passage if self._sentence_at(token.start) == sentence]
        refers_back = self._refers_back(passage)
        claim, passage = _strip_common(claim, passage)
        yield WordSlot(claim, _nearest_tokens(len(claim), passage, left, right), left, right, refers_back)


def _is_word(token: Token) -> bool:
    return not token.is_syllable or token.is_capitalized


def _sentence(tokens: Sequence[Token], values: Sequence[Value]) -> _ComparedSentence:
    keys = [token.key for token in tokens]
    return _ComparedSentence(frozenset(keys), frozenset(pairwise(keys)), values)


def _strip_common(claim: Sequence[Token], passage: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """Without the tokens that both begin and end with: too few to agree on, but no difference either."""
    start, shorter = 0, min(len(claim), len(passage))
    while start < shorter and claim[start].key == passage[start].key:
        start += 1
    end = 0
    while end < shorter - start and claim[-1 - end].key == passage[-1 - end].key:
        end += 1
    return claim[start : len(claim) - end], passage[start : len(passage) - end]


def _nearest_tokens(size: int, passage: Sequence[Token], left: Token | None, right: Token | None) -> Sequence[Token]:
    """The tokens of the passage in a slot that are near enough to correspond to those of the claim, which has `size` of
    them there."""
    reach = size + 4
    if left is None:
        return passage[-reach:]
    if right is None:
        return passage[:reach]
    return passage if len(passage) <= 2 * reach else ()


def _shared_key(token: Token, claimed: Sequence[Value]) -> str:
    """The key of a token; values that are equal have one key, however they are written."""
    if token.value:
        for value in claimed:
            if contains_value((token.value,), value):
                return value.key
    return token.key
