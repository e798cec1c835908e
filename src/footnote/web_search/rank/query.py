"""What is looked for: the words of a question, which of them belong together, and the kind of answer that it wants."""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from footnote.language.endings import stem
from footnote.language.frequent import is_frequent
from footnote.language.guess import locale_of
from footnote.language.letters import comparable
from footnote.language.questions import Wanted, wanted
from footnote.language.terms import ALPHABETIC_UNSPACED, MARKS, RAISED, UNSPACED, fold

MOST_WORDS = 48
"""Of a long prompt the first ones; what comes after them is seldom what it is about."""
MOST_GRAMS = 200
GRAM = 3
"""Letters in a row that stand for a word where nothing tells where a word ends."""
KIN_LETTERS = 4
KIN_SHARE = 0.6
"""Words that begin with so much of a word are of its family: `pharmacist`, `pharmacy`."""

_LETTERS = rf"[^\W\d_{UNSPACED}{RAISED}](?:[^\W\d_{UNSPACED}{RAISED}]|[{MARKS}])*+"
_WORD = re.compile(rf"[{ALPHABETIC_UNSPACED}]++|[{UNSPACED}]|\d+(?:[.,:/]\d+)*+|{_LETTERS}(?:['’]{_LETTERS})?+")
_ALPHABETIC_UNSPACED = re.compile(f"[{ALPHABETIC_UNSPACED}]")
_OTHER_ALPHABETS = re.compile(r"[\u0370-\u0dff]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_BEYOND_ASCII = re.compile(rf"[^\W\d_\x00-\x7f{UNSPACED}]")


def words(text: str) -> list[str]:
    """The words of a text, one by one; of Chinese the characters, of Thai and the like each three letters in a row."""
    found = _WORD.findall(text)
    if not _ALPHABETIC_UNSPACED.search(text):
        return found
    return [part for word in found for part in _grams(word)]


def _grams(word: str) -> Sequence[str]:
    if len(word) <= GRAM or not _ALPHABETIC_UNSPACED.match(word):
        return (word,)
    return [word[at : at + GRAM] for at in range(len(word) - GRAM + 1)]


class Token(Struct, frozen=True, gc=False):
    """A word of a text as the query knows it: the bits of the words that it is, or is akin to.

    `key` is what all forms of a word are known by. `links`: whether it makes pairs with its neighbours.
    """

    key: str
    word: int = 0
    frequent: int = 0
    kin: int = 0
    links: bool = True


class Query(Struct, frozen=True):
    """Words and pairs by their keys, each with a bit of its own, so that a set of them is a number.

    `grams`: each three letters in a row, by which other forms of a word are known. `names`: the words that are names or
    numbers. `kin`: the beginnings of long words. `marked`: diacritics are told
    apart.
    """

    words: dict[str, int]
    frequent: dict[str, int]
    pairs: dict[tuple[str, str], int]
    grams: dict[str, int]
    names: int
    kin: dict[str, list[tuple[str, int]]]
    wanted: Wanted | None
    marked: bool

    def recognise(self, word: str) -> Token:
        """`word` as it stands in a comparable text."""
        key = key_of(word)
        bit = self.words.get(key, 0)
        kin = 0
        if not bit and len(key) >= KIN_LETTERS:
            for beginning, other in self.kin.get(key[:KIN_LETTERS], ()):
                if key.startswith(beginning):
                    kin |= other
        return Token(key, bit, self.frequent.get(key, 0), kin, _links(word))


def understand(query: str, prompt: str) -> Query:
    """`prompt` says what is wanted; `query` is how it was searched for, often the same."""
    text = prompt if query in prompt else f"{prompt}\n{query}"
    # Somebody who types no diacritics at all means them all the same.
    marked = _BEYOND_ASCII.search(text) is not None
    most = MOST_GRAMS if _ALPHABETIC_UNSPACED.search(text) else MOST_WORDS
    written = words(text)[: 2 * most]
    plain = [comparable(word, marked=marked) for word in written]
    telling = [word for word in plain if not is_frequent(word)] or plain
    kept = {key: 1 << at for at, key in enumerate(dict.fromkeys(map(key_of, telling[:most])))}
    others = dict.fromkeys(key for word in plain if (key := key_of(word)) not in kept)
    named = {
        key_of(low) for at, (word, low) in enumerate(zip(written, plain, strict=True)) if _is_name(word, first=not at)
    }
    pairs = dict.fromkeys(
        (key_of(first), key_of(second))
        for first, second in pairwise([word for word in plain if _links(word)])
        if not (is_frequent(first) and is_frequent(second))
    )
    return Query(
        words=kept,
        frequent={key: 1 << at for at, key in enumerate(others)},
        pairs={pair: 1 << at for at, pair in enumerate(pairs)},
        grams=_letters_in_a_row(plain[:MOST_WORDS]) if _has_forms(text) else {},
        names=sum(bit for key, bit in kept.items() if key in named),
        kin=_beginnings(kept),
        wanted=wanted(prompt) or wanted(query),
        marked=marked,
    )


def _has_forms(text: str) -> bool:
    """Whether words have different forms: not so in Vietnamese; of Chinese and Thai only parts of words are known."""
    return not _UNSPACED.search(text) and locale_of(text) != "vi"


def _letters_in_a_row(plain: Sequence[str]) -> dict[str, int]:
    text = f" {' '.join(plain)} "
    found = dict.fromkeys(text[at : at + GRAM] for at in range(len(text) - GRAM + 1))
    return {gram: 1 << at for at, gram in enumerate(found)}


def key_of(word: str) -> str:
    """What all forms of a word are known by; `word` as it stands in a comparable text."""
    return stem(word if word.isascii() else fold(word))


def _is_name(word: str, *, first: bool) -> bool:
    """By a capital letter, which for the first word of a sentence says nothing, or by a digit."""
    return any(letter.isupper() for letter in (word[1:] if first else word)) or word[0].isdigit()


def _links(word: str) -> bool:
    """Between words that say something others are passed over; a Chinese character is only a part of a word."""
    return _UNSPACED.match(word) is not None or not is_frequent(word)


def _beginnings(keys: dict[str, int]) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for key, bit in keys.items():
        if len(key) > KIN_LETTERS and ((key.isascii() and key.isalpha()) or _OTHER_ALPHABETS.match(key)):
            beginning = key[: max(KIN_LETTERS, round(len(key) * KIN_SHARE))]
            found.setdefault(beginning[:KIN_LETTERS], []).append((beginning, bit))
    return found
