"""A text as its words, so that two texts can be laid side by side.

Words of spaced scripts are one token each, without their endings in English; of Chinese each character is one, and a
syllable in Vietnamese, so that there only two neighbours together say something. A number or date is one token too.
"""

import re
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.evidence.lexicon import FUNCTION_WORDS
from footnote.evidence.values import Value, extract_values
from footnote.text.terms import SUPERSCRIPTS, fold

Language: TypeAlias = Literal["zh", "vi", "en", "other"]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_UNSPACED = f"{_HAN}\u3040-\u30ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_NOT_A_LETTER = f"{SUPERSCRIPTS}{_UNSPACED}_"
_TOKEN = re.compile(
    rf"[{_UNSPACED}]|(?=\d*(?![{SUPERSCRIPTS}])[^\W\d_])(?:(?![{_NOT_A_LETTER}])\w)+(?:['’](?:(?![{_NOT_A_LETTER}\d])\w)+)*"
    r"|\d+(?:[.,]\d+)*"
)
_IS_HAN = re.compile(f"[{_HAN}]")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_VIETNAMESE = re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_ENGLISH = re.compile(
    r"\b(?:the|of|and|in|to|was|is|for|with|by|on|that|as|are|were|from|at|an?|it|has|its)\b", re.IGNORECASE
)
_POSSESSIVE = re.compile("['’]s?$")


class Token(Struct, frozen=True, gc=False):
    """`key` is what it is compared by. `content` is False for a word that says nothing by itself."""

    key: str
    start: int
    end: int
    is_content: bool
    value: Value | None = None
    is_capitalized: bool = False
    is_syllable: bool = False


def detect_language(text: str) -> Language:
    """By the share of letters, not by the presence of one: an English page may name a Vietnamese town."""
    letters = len(_LETTER.findall(text))
    if not letters:
        return "other"
    if len(_IS_HAN.findall(text)) > 0.3 * letters:
        return "zh"
    if len(_VIETNAMESE.findall(text)) > 0.08 * letters:
        return "vi"
    return "en" if len(_ENGLISH.findall(text)) > 0.018 * letters else "other"


class TokenizedText:
    """The tokens of a text. `language` is given where it is known better than the text alone can tell."""

    def __init__(self, text: str, language: Language | None = None) -> None:
        self.text = text
        self.language: Language = language or detect_language(text)
        self.values = extract_values(text)
        self.tokens = tuple(self._tokens())

    def _tokens(self) -> list[Token]:
        found: list[Token] = []
        position = 0
        for value in self.values:
            if value.is_certain:
                found += self._words(position, value.start)
                found.append(Token(value.key, value.start, value.end, is_content=True, value=value))
                position = value.end
        return found + self._words(position, len(self.text))

    def _words(self, start: int, end: int) -> list[Token]:
        return [self._token(word) for word in _TOKEN.finditer(self.text, start, end)]

    def _token(self, found: re.Match[str]) -> Token:
        word = found.group()
        if _IS_UNSPACED.match(word):
            return Token(word, found.start(), found.end(), word not in FUNCTION_WORDS["zh"], is_syllable=True)
        key = key_of(word, self.language)
        return Token(
            key,
            found.start(),
            found.end(),
            is_content=self._is_content(word, found.start()),
            is_capitalized=word[0].isupper(),
            is_syllable=self.language == "vi" and not (word.isascii() and len(word) > 6),
        )

    def _is_content(self, word: str, start: int) -> bool:
        if fold(word) not in FUNCTION_WORDS["vi" if self.language == "vi" else "en"]:
            return len(word) > 1 or word.isupper()
        # `Anh` is England, `anh` is he; an English title has capitals on any word.
        return self.language == "vi" and word[0].isupper() and not is_sentence_start(self.text, start)

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(token.key for token in self.tokens)


@lru_cache(maxsize=2_000)
def tokenize(text: str, language: Language) -> TokenizedText:
    """The statements of a report are held against the same few passages again and again."""
    return TokenizedText(text, language)


def is_character(key: str) -> bool:
    """Whether a token is one of a script that does not part words: Chinese and the like."""
    return _IS_UNSPACED.match(key) is not None


def is_sentence_start(text: str, start: int) -> bool:
    """Whether a word stands where any word has a capital letter."""
    before = text[max(0, start - 12) : start].rstrip(" \"'“‘«([*_—-")
    return not before or before[-1] in ".!?:;。！？：\n"


@lru_cache(maxsize=20_000)
def key_of(word: str, language: Language) -> str:
    """A word as it is compared: folded, and without its English ending; elsewhere a foreign name may have an `s`."""
    folded = _POSSESSIVE.sub("", fold(word))
    if not folded.isascii():
        return folded
    if language in ("vi", "zh"):
        return folded[:-1] if len(folded) > 4 and folded.endswith("s") else folded
    return _stem(folded)


_ENDINGS = (
    "ization", "isation", "ational", "ically", "ation", "ment", "ness", "edly", "ally",
    "ity", "ing", "ion", "ive", "ous", "ed", "er", "or", "ly", "al",
)  # fmt: skip


def _stem(word: str) -> str:
    """Without an English ending, if enough is left to know the word by."""
    if len(word) > 5:
        word = word.replace("our", "or")
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui":
        word = word[:-3] + "y" if word.endswith("ies") else word[:-1]
    for ending in _ENDINGS:
        left = len(word) - len(ending)
        if word.endswith(ending) and left >= (3 if ending in ("ed", "ing") else 4):
            word = word[:left]
            break
    if len(word) > 4 and word[-1] in "eyi":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
