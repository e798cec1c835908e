"""Scores sentences by how likely they contain the answer.

A sentence is first matched with the question, then scored. Its features are the words of the question in it and, with
less weight, around it (in the sentence before, the section and the page), and anything of the type of answer that the
question asks for. The weights were learned from questions with known answers, and are the same for all three languages.

The library ranks by BM25 instead (`library/relevance`), because its index has terms and no text; a claim is compared
with its source word by word (`evidence/compare`).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import mul
from typing import NamedTuple

from msgspec import Struct

from footnote.text.question import AnalyzedQuestion, QuestionToken, has_date, has_number_word, tokenize
from footnote.text.sentences import Span
from footnote.text.terms import has_unspaced, normalize
from footnote.web_search.ranking.sections import RankedPage

NUMBER_WORD_SCORE = 0.6
"""The score of a number in words; a number in digits has 1."""


class MatchedPiece(Struct, frozen=True, gc=False):
    """A sentence or a part of one, with the matched features of the question as bits.

    `answer_type_score` says how surely it contains something of the wanted type of answer that is not already in the
    question.
    """

    span: Span
    matched_words: int
    stop_words: int
    pairs: int
    ngrams: int
    related_words: int
    answer_type_score: float
    word_count: int


class Matcher:
    """Matches pieces of text with one question, and caches the words."""

    def __init__(self, query: AnalyzedQuestion) -> None:
        self.query = query
        self._token_cache: dict[str, QuestionToken] = {}

    def match(self, page: RankedPage, span: Span) -> MatchedPiece:
        plain = page.normalized[span.start : span.end]
        tokens = self._tokens(plain)
        words = stop_words = related = pairs = 0
        previous = ""
        for token in tokens:
            words |= token.word_bit
            stop_words |= token.stop_word_bit
            related |= token.related_bit
            if token.is_pairable:
                pairs |= self.query.pairs.get((previous, token.key), 0)
                previous = token.key
        ngrams = sum(bit for gram, bit in self.query.ngrams.items() if gram in plain)
        answer_type = (
            self._answer_type_score(page.text[span.start : span.end], plain, tokens) if self.query.answer_type else 0.0
        )
        return MatchedPiece(span, words, stop_words, pairs, ngrams, related & ~words, answer_type, len(tokens))

    def match_words(self, text: str) -> int:
        """The bits of the words of the question in a text that is not normalized."""
        found = 0
        for token in self._tokens(normalize(text, keep_diacritics=self.query.keep_diacritics)):
            found |= token.word_bit
        return found

    def keys(self, page: RankedPage, span: Span) -> frozenset[str]:
        """The keys of all words of a text; of Chinese and similar scripts, characters in pairs."""
        plain = page.normalized[span.start : span.end]
        tokens = self._tokens(plain)
        if not has_unspaced(plain):
            return frozenset(token.key for token in tokens)
        return frozenset(one.key + other.key for one, other in pairwise(tokens))

    def _tokens(self, plain: str) -> list[QuestionToken]:
        cache = self._token_cache
        tokens: list[QuestionToken] = []
        for word in tokenize(plain):
            token = cache.get(word)
            if token is None:
                token = cache[word] = self.query.match(word)
            tokens.append(token)
        return tokens

    def _answer_type_score(self, text: str, plain: str, tokens: list[QuestionToken]) -> float:
        if self.query.answer_type == "person":
            return 1.0 if "·" in text or _has_name(text, tokens) else 0.0
        numbers = [token for token in tokens if token.key[0].isdigit()]
        new = any(not token.word_bit for token in numbers)
        if self.query.answer_type == "number":
            return 1.0 if new else NUMBER_WORD_SCORE if has_number_word(plain) else 0.0
        return 1.0 if (new or not numbers) and has_date(plain) else 0.0


def _has_name(text: str, tokens: list[QuestionToken]) -> bool:
    """Whether a word other than the first has a capital letter and is not in the question."""
    written = tokenize(text)
    if len(written) != len(tokens):
        # Normalization split or joined a word, so that the two lists do not correspond.
        return False
    return any(
        word[0].isupper() and not token.word_bit and token.is_pairable
        for word, token in zip(written[1:], tokens[1:], strict=True)
    )


# Scores --------------------------------------------------------------------------------------------------------------


def rarity(count: int) -> float:
    """The weight of a word that `count` texts contain. The number of all texts does not matter, because only the words
    of one question are compared with each other."""
    return 1 / (1 + math.log1p(count))


class SentenceFeatures(NamedTuple):
    """The features of a sentence. A share is relative to the words of the question in all sentences together; rare
    words count more."""

    words: float
    """The share of the words in the sentence."""
    stop_words: float
    """The same for stop words."""
    section_words: float
    section_pairs: float
    """The shares of the words, and of the pairs of neighbouring words, in its section."""
    section_names: float
    """The part of `section_words` that is names and numbers."""
    page_words: float
    previous_words: float
    """The share of the words that are only in the sentence before it: `It was built in 1889.` refers to that."""
    ngrams: float
    section_ngrams: float
    """The shares of the letter n-grams in it and in its section: other forms of the words, and parts of them."""
    related_words: float
    """The share of the words of the question to which it has related words."""
    answer_type: float
    """How surely it contains something of the wanted type of answer."""
    answer_type_before: float
    """The same, if the words of the question are in the next sentence: `… by Ada Lovelace. She wrote …`"""
    length: float
    """The logarithm of the number of words: a long sentence has more of everything."""


WEIGHTS = SentenceFeatures(
    words=7.5,
    stop_words=1.5,
    section_words=3.3,
    section_pairs=2.2,
    section_names=4.6,
    page_words=2.4,
    previous_words=2.3,
    ngrams=5.0,
    section_ngrams=5.0,
    related_words=3.2,
    answer_type=1.8,
    answer_type_before=2.6,
    length=-0.6,
)

PART_WORDS, PART_ANSWER_TYPE, PART_LENGTH = 2.4, 2.6, 0.2
"""The weights that compare the parts of one sentence with each other."""


class ScoredSentence(Struct, frozen=True, gc=False):
    """A matched sentence; `page` and `section` are indexes."""

    page: int
    section: int
    piece: MatchedPiece


def score_sentences(
    sentences: Sequence[ScoredSentence], heading_words: Sequence[int], query: AnalyzedQuestion
) -> list[float]:
    """The score of each sentence, in order. `heading_words`: the words of the question in the headings above each
    section."""
    return [sum(map(mul, WEIGHTS, row)) for row in extract_features(sentences, heading_words, query)]


def extract_features(
    sentences: Sequence[ScoredSentence], heading_words: Sequence[int], query: AnalyzedQuestion
) -> Iterator[SentenceFeatures]:
    words = _RarityScale(sentence.piece.matched_words for sentence in sentences)
    stop_words = _RarityScale(sentence.piece.stop_words for sentence in sentences)
    pairs = _RarityScale(sentence.piece.pairs for sentence in sentences)
    ngrams = _RarityScale(sentence.piece.ngrams for sentence in sentences)
    section_words, section_pairs, page_words = list(heading_words), [0] * len(heading_words), dict[int, int]()
    section_ngrams = [0] * len(heading_words)
    for sentence in sentences:
        section_words[sentence.section] |= sentence.piece.matched_words
        section_pairs[sentence.section] |= sentence.piece.pairs
        section_ngrams[sentence.section] |= sentence.piece.ngrams
        page_words[sentence.page] = page_words.get(sentence.page, 0) | sentence.piece.matched_words
    in_sections = _RarityScale(section_words)
    for at, sentence in enumerate(sentences):
        piece = sentence.piece
        beside_only = [
            other.piece.matched_words & ~piece.matched_words if other.section == sentence.section else 0
            for other in sentences[max(0, at - 1) : at + 2]
        ]
        yield SentenceFeatures(
            words=words.share(piece.matched_words),
            stop_words=stop_words.share(piece.stop_words),
            section_words=in_sections.share(section_words[sentence.section]),
            section_pairs=pairs.share(section_pairs[sentence.section]),
            section_names=in_sections.share(section_words[sentence.section] & query.names),
            page_words=words.share(page_words[sentence.page]),
            previous_words=words.share(beside_only[0]) if at else 0.0,
            ngrams=ngrams.share(piece.ngrams),
            section_ngrams=ngrams.share(section_ngrams[sentence.section]),
            related_words=piece.related_words.bit_count() / len(query.word_bits),
            answer_type=piece.answer_type_score,
            answer_type_before=piece.answer_type_score * words.share(beside_only[-1]),
            length=math.log1p(piece.word_count),
        )


def score_parts(parts: Sequence[MatchedPiece], query: AnalyzedQuestion) -> list[float]:
    """The score of each part of a sentence."""
    return [
        PART_WORDS * part.matched_words.bit_count() / len(query.word_bits)
        + PART_ANSWER_TYPE * part.answer_type_score
        + PART_LENGTH * math.log1p(part.word_count)
        for part in parts
    ]


def softmax(scores: Sequence[float]) -> list[float]:
    """Probabilities that add up to one."""
    highest = max(scores, default=0.0)
    exponentials = [math.exp(score - highest) for score in scores]
    total = sum(exponentials)
    return [value / total for value in exponentials]


class _RarityScale:
    """The weight of a set of bits as a share of all: each bit weighs by its rarity among the given sets."""

    def __init__(self, sets: Iterable[int]) -> None:
        counts = Counter(bit for found in sets for bit in _bits(found))
        self._weights = {bit: rarity(count) for bit, count in counts.items()}
        self._total = sum(self._weights.values()) or 1.0
        self._share_cache: dict[int, float] = {}

    def share(self, found: int) -> float:
        share = self._share_cache.get(found)
        if share is None:
            share = self._share_cache[found] = sum(self._weights.get(bit, 0.0) for bit in _bits(found)) / self._total
        return share


def _bits(found: int) -> Iterator[int]:
    while found:
        lowest = found & -found
        yield lowest
        found ^= lowest
