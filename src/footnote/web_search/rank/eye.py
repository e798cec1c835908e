"""Reads a piece of text for what is looked for."""

from itertools import pairwise

from msgspec import Struct

from footnote.language.letters import comparable
from footnote.language.questions import has_date, has_number_word
from footnote.language.sentences import Span
from footnote.language.terms import has_unspaced
from footnote.web_search.rank.query import Query, Token, words
from footnote.web_search.rank.skim import Page

WRITTEN_OUT = 0.6
"""A number in words, against one in digits."""


class Piece(Struct, frozen=True, gc=False):
    """A sentence or a part of one, and the bits of what it has of the query.

    `kind` is how surely it has something of the kind that is asked for, and not asked with. `count` are its words.
    """

    span: Span
    words: int
    frequent: int
    pairs: int
    grams: int
    kin: int
    kind: float
    count: int


class Eye:
    def __init__(self, query: Query) -> None:
        self.query = query
        self._known: dict[str, Token] = {}

    def read(self, page: Page, span: Span) -> Piece:
        plain = page.plain[span.start : span.end]
        tokens = self._tokens(plain)
        found = frequent = kin = pairs = 0
        before = ""
        for token in tokens:
            found |= token.word
            frequent |= token.frequent
            kin |= token.kin
            if token.links:
                pairs |= self.query.pairs.get((before, token.key), 0)
                before = token.key
        grams = sum(bit for gram, bit in self.query.grams.items() if gram in plain)
        kind = self._kind(page.text[span.start : span.end], plain, tokens) if self.query.wanted else 0.0
        return Piece(span, found, frequent, pairs, grams, kin & ~found, kind, len(tokens))

    def words(self, text: str) -> int:
        """The words alone, in a text as it is written."""
        found = 0
        for token in self._tokens(comparable(text, marked=self.query.marked)):
            found |= token.word
        return found

    def keys(self, page: Page, span: Span) -> frozenset[str]:
        """All words of a text, by what all their forms are known by; of Chinese and the like, characters in pairs."""
        plain = page.plain[span.start : span.end]
        tokens = self._tokens(plain)
        if not has_unspaced(plain):
            return frozenset(token.key for token in tokens)
        return frozenset(one.key + other.key for one, other in pairwise(tokens))

    def _tokens(self, plain: str) -> list[Token]:
        known = self._known
        tokens: list[Token] = []
        for word in words(plain):
            token = known.get(word)
            if token is None:
                token = known[word] = self.query.recognise(word)
            tokens.append(token)
        return tokens

    def _kind(self, text: str, plain: str, tokens: list[Token]) -> float:
        if self.query.wanted == "person":
            return 1.0 if "·" in text or _has_name(text, tokens) else 0.0
        numbers = [token for token in tokens if token.key[0].isdigit()]
        new = any(not token.word for token in numbers)
        if self.query.wanted == "number":
            return 1.0 if new else WRITTEN_OUT if has_number_word(plain) else 0.0
        return 1.0 if (new or not numbers) and has_date(plain) else 0.0


def _has_name(text: str, tokens: list[Token]) -> bool:
    """A capital letter, though not that of the first word, in a word that is not of the query."""
    written = words(text)
    if len(written) != len(tokens):
        # Folding took a letter apart, or put two together: which word is which cannot be told.
        return False
    return any(
        word[0].isupper() and not token.word and token.links
        for word, token in zip(written[1:], tokens[1:], strict=True)
    )
