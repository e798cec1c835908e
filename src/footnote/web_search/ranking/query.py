"""What is looked for: the words of a question, which of them belong together, and the kind of answer that it wants."""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from footnote.text.frequent import is_stop_word
from footnote.text.languages import detect_locale
from footnote.text.letters import normalize
from footnote.text.question import AnswerType, answer_type
from footnote.text.stems import stem
from footnote.text.terms import ALPHABETIC_UNSPACED, COMBINING_MARKS, SUPERSCRIPTS, UNSPACED, fold

MAX_WORDS = 48
"""Of a long prompt the first ones; what comes after them is seldom what it is about."""
MAX_NGRAMS = 200
NGRAM_LENGTH = 3
"""Letters in a row that stand for a word where nothing tells where a word ends."""
MIN_PREFIX_LENGTH = 4
PREFIX_SHARE = 0.6
"""Words that begin with so much of a word are of its family: `pharmacist`, `pharmacy`."""

_LETTERS = rf"[^\W\d_{UNSPACED}{SUPERSCRIPTS}](?:[^\W\d_{UNSPACED}{SUPERSCRIPTS}]|[{COMBINING_MARKS}])*+"
_WORD = re.compile(rf"[{ALPHABETIC_UNSPACED}]++|[{UNSPACED}]|\d+(?:[.,:/]\d+)*+|{_LETTERS}(?:['’]{_LETTERS})?+")
_ALPHABETIC_UNSPACED = re.compile(f"[{ALPHABETIC_UNSPACED}]")
_OTHER_ALPHABETS = re.compile(r"[\u0370-\u0dff]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_BEYOND_ASCII = re.compile(rf"[^\W\d_\x00-\x7f{UNSPACED}]")


def tokenize(text: str) -> list[str]:
    """The words of a text, one by one; of Chinese the characters, of Thai and the like each three letters in a row."""
    found = _WORD.findall(text)
    if not _ALPHABETIC_UNSPACED.search(text):
        return found
    return [part for word in found for part in _word_ngrams(word)]


def _word_ngrams(word: str) -> Sequence[str]:
    if len(word) <= NGRAM_LENGTH or not _ALPHABETIC_UNSPACED.match(word):
        return (word,)
    return [word[at : at + NGRAM_LENGTH] for at in range(len(word) - NGRAM_LENGTH + 1)]


class QueryToken(Struct, frozen=True, gc=False):
    """A word of a text as the query knows it: the bits of the words that it is, or is akin to.

    `key` is what all forms of a word are known by. `links`: whether it makes pairs with its neighbours.
    """

    key: str
    word_bit: int = 0
    stop_word_bit: int = 0
    related_bit: int = 0
    is_pairable: bool = True


class Query(Struct, frozen=True):
    """Words and pairs by their keys, each with a bit of its own, so that a set of them is a number.

    `grams`: each three letters in a row, by which other forms of a word are known. `names`: the words that are names or
    numbers. `kin`: the beginnings of long words. `marked`: diacritics are told
    apart.
    """

    word_bits: dict[str, int]
    stop_words: dict[str, int]
    pairs: dict[tuple[str, str], int]
    ngrams: dict[str, int]
    names: int
    prefixes: dict[str, list[tuple[str, int]]]
    answer_type: AnswerType | None
    keep_diacritics: bool

    def match(self, word: str) -> QueryToken:
        """`word` as it stands in a comparable text."""
        key = key_of(word)
        bit = self.word_bits.get(key, 0)
        kin = 0
        if not bit and len(key) >= MIN_PREFIX_LENGTH:
            for beginning, other in self.prefixes.get(key[:MIN_PREFIX_LENGTH], ()):
                if key.startswith(beginning):
                    kin |= other
        return QueryToken(key, bit, self.stop_words.get(key, 0), kin, _is_pairable(word))


def parse_query(query: str, prompt: str) -> Query:
    """`prompt` says what is wanted; `query` is how it was searched for, often the same."""
    text = prompt if query in prompt else f"{prompt}\n{query}"
    # Somebody who types no diacritics at all means them all the same.
    marked = _BEYOND_ASCII.search(text) is not None
    most = MAX_NGRAMS if _ALPHABETIC_UNSPACED.search(text) else MAX_WORDS
    written = tokenize(text)[: 2 * most]
    plain = [normalize(word, keep_diacritics=marked) for word in written]
    telling = [word for word in plain if not is_stop_word(word)] or plain
    kept = {key: 1 << at for at, key in enumerate(dict.fromkeys(map(key_of, telling[:most])))}
    others = dict.fromkeys(key for word in plain if (key := key_of(word)) not in kept)
    named = {
        key_of(low) for at, (word, low) in enumerate(zip(written, plain, strict=True)) if _is_name(word, first=not at)
    }
    pairs = dict.fromkeys(
        (key_of(first), key_of(second))
        for first, second in pairwise([word for word in plain if _is_pairable(word)])
        if not (is_stop_word(first) and is_stop_word(second))
    )
    return Query(
        word_bits=kept,
        stop_words={key: 1 << at for at, key in enumerate(others)},
        pairs={pair: 1 << at for at, pair in enumerate(pairs)},
        ngrams=_letter_ngrams(plain[:MAX_WORDS]) if _is_inflected(text) else {},
        names=sum(bit for key, bit in kept.items() if key in named),
        prefixes=_word_prefixes(kept),
        answer_type=answer_type(prompt) or answer_type(query),
        keep_diacritics=marked,
    )


def _is_inflected(text: str) -> bool:
    """Whether words have different forms: not so in Vietnamese; of Chinese and Thai only parts of words are known."""
    return not _UNSPACED.search(text) and detect_locale(text) != "vi"


def _letter_ngrams(plain: Sequence[str]) -> dict[str, int]:
    text = f" {' '.join(plain)} "
    found = dict.fromkeys(text[at : at + NGRAM_LENGTH] for at in range(len(text) - NGRAM_LENGTH + 1))
    return {gram: 1 << at for at, gram in enumerate(found)}


def key_of(word: str) -> str:
    """What all forms of a word are known by; `word` as it stands in a comparable text."""
    return stem(word if word.isascii() else fold(word))


def _is_name(word: str, *, first: bool) -> bool:
    """By a capital letter, which for the first word of a sentence says nothing, or by a digit."""
    return any(letter.isupper() for letter in (word[1:] if first else word)) or word[0].isdigit()


def _is_pairable(word: str) -> bool:
    """Between words that say something others are passed over; a Chinese character is only a part of a word."""
    return _UNSPACED.match(word) is not None or not is_stop_word(word)


def _word_prefixes(keys: dict[str, int]) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for key, bit in keys.items():
        if len(key) > MIN_PREFIX_LENGTH and ((key.isascii() and key.isalpha()) or _OTHER_ALPHABETS.match(key)):
            beginning = key[: max(MIN_PREFIX_LENGTH, round(len(key) * PREFIX_SHARE))]
            found.setdefault(beginning[:MIN_PREFIX_LENGTH], []).append((beginning, bit))
    return found
