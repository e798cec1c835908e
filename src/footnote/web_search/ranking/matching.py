"""Reads a piece of text for what is looked for."""

from itertools import pairwise

from msgspec import Struct

from footnote.text.letters import normalize
from footnote.text.question import has_date, has_number_word
from footnote.text.sentences import Span
from footnote.text.terms import has_unspaced
from footnote.web_search.ranking.prefilter import RankedPage
from footnote.web_search.ranking.query import Query, QueryToken, tokenize

NUMBER_WORD_SCORE = 0.6
"""A number in words, against one in digits."""


class MatchedPiece(Struct, frozen=True, gc=False):
    """A sentence or a part of one, and the bits of what it has of the query.

    `kind` is how surely it has something of the kind that is asked for, and not asked with. `count` are its words.
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
    def __init__(self, query: Query) -> None:
        self.query = query
        self._token_cache: dict[str, QueryToken] = {}

    def match(self, page: RankedPage, span: Span) -> MatchedPiece:
        plain = page.normalized[span.start : span.end]
        tokens = self._tokens(plain)
        found = frequent = kin = pairs = 0
        before = ""
        for token in tokens:
            found |= token.word_bit
            frequent |= token.stop_word_bit
            kin |= token.related_bit
            if token.is_pairable:
                pairs |= self.query.pairs.get((before, token.key), 0)
                before = token.key
        grams = sum(bit for gram, bit in self.query.ngrams.items() if gram in plain)
        kind = (
            self._answer_type_score(page.text[span.start : span.end], plain, tokens) if self.query.answer_type else 0.0
        )
        return MatchedPiece(span, found, frequent, pairs, grams, kin & ~found, kind, len(tokens))

    def match_words(self, text: str) -> int:
        """The words alone, in a text as it is written."""
        found = 0
        for token in self._tokens(normalize(text, keep_diacritics=self.query.keep_diacritics)):
            found |= token.word_bit
        return found

    def keys(self, page: RankedPage, span: Span) -> frozenset[str]:
        """All words of a text, by what all their forms are known by; of Chinese and the like, characters in pairs."""
        plain = page.normalized[span.start : span.end]
        tokens = self._tokens(plain)
        if not has_unspaced(plain):
            return frozenset(token.key for token in tokens)
        return frozenset(one.key + other.key for one, other in pairwise(tokens))

    def _tokens(self, plain: str) -> list[QueryToken]:
        known = self._token_cache
        tokens: list[QueryToken] = []
        for word in tokenize(plain):
            token = known.get(word)
            if token is None:
                token = known[word] = self.query.match(word)
            tokens.append(token)
        return tokens

    def _answer_type_score(self, text: str, plain: str, tokens: list[QueryToken]) -> float:
        if self.query.answer_type == "person":
            return 1.0 if "·" in text or _has_name(text, tokens) else 0.0
        numbers = [token for token in tokens if token.key[0].isdigit()]
        new = any(not token.word_bit for token in numbers)
        if self.query.answer_type == "number":
            return 1.0 if new else NUMBER_WORD_SCORE if has_number_word(plain) else 0.0
        return 1.0 if (new or not numbers) and has_date(plain) else 0.0


def _has_name(text: str, tokens: list[QueryToken]) -> bool:
    """A capital letter, though not that of the first word, in a word that is not of the query."""
    written = tokenize(text)
    if len(written) != len(tokens):
        # Folding took a letter apart, or put two together: which word is which cannot be told.
        return False
    return any(
        word[0].isupper() and not token.word_bit and token.is_pairable
        for word, token in zip(written[1:], tokens[1:], strict=True)
    )
