"""What is looked for: the words of a question, which of them belong together, and the kind of answer that it wants."""

import re
from itertools import pairwise

from msgspec import Struct

from footnote.language.endings import stem
from footnote.language.frequent import is_frequent
from footnote.language.letters import comparable
from footnote.language.questions import Wanted, wanted
from footnote.language.terms import UNSPACED, fold

MOST_WORDS = 48
"""Of a long prompt the first ones; what comes after them is seldom what it is about."""
KIN_LETTERS = 4
KIN_SHARE = 0.6
"""Words that begin with so much of a word are of its family: `pharmacist`, `pharmacy`."""

_LETTERS = rf"[^\W\d_{UNSPACED}](?:[^\W\d_{UNSPACED}]|[\u0300-\u036f])*+"
_WORD = re.compile(rf"[{UNSPACED}]|\d+(?:[.,:/]\d+)*+|{_LETTERS}(?:['’]{_LETTERS})?+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_BEYOND_ASCII = re.compile(rf"[^\W\d_\x00-\x7f{UNSPACED}]")


def words(text: str) -> list[str]:
    """The words of a text, one by one; of Chinese, the characters."""
    return _WORD.findall(text)


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

    `names`: the words that are names or numbers. `kin`: the beginnings of long words. `marked`: diacritics are told
    apart.
    """

    words: dict[str, int]
    frequent: dict[str, int]
    pairs: dict[tuple[str, str], int]
    names: int
    kin: dict[str, list[tuple[str, int]]]
    wanted: Wanted | None
    marked: bool

    def recognise(self, word: str) -> Token:
        """`word` as it stands in a comparable text."""
        key = _key(word)
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
    written = words(text)[: 2 * MOST_WORDS]
    plain = [comparable(word, marked=marked) for word in written]
    telling = [word for word in plain if not is_frequent(word)] or plain
    kept = {key: 1 << at for at, key in enumerate(dict.fromkeys(map(_key, telling[:MOST_WORDS])))}
    others = dict.fromkeys(key for word in plain if (key := _key(word)) not in kept)
    named = {
        _key(low) for at, (word, low) in enumerate(zip(written, plain, strict=True)) if _is_name(word, first=not at)
    }
    pairs = dict.fromkeys(
        (_key(first), _key(second))
        for first, second in pairwise([word for word in plain if _links(word)])
        if not (is_frequent(first) and is_frequent(second))
    )
    return Query(
        words=kept,
        frequent={key: 1 << at for at, key in enumerate(others)},
        pairs={pair: 1 << at for at, pair in enumerate(pairs)},
        names=sum(bit for key, bit in kept.items() if key in named),
        kin=_beginnings(kept),
        wanted=wanted(prompt) or wanted(query),
        marked=marked,
    )


def _key(word: str) -> str:
    return stem(word) if word.isascii() else fold(word)


def _is_name(word: str, *, first: bool) -> bool:
    """By a capital letter, which for the first word of a sentence says nothing, or by a digit."""
    return any(letter.isupper() for letter in (word[1:] if first else word)) or word[0].isdigit()


def _links(word: str) -> bool:
    """Between words that say something others are passed over; a Chinese character is only a part of a word."""
    return _UNSPACED.match(word) is not None or not is_frequent(word)


def _beginnings(keys: dict[str, int]) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for key, bit in keys.items():
        if len(key) > KIN_LETTERS and key.isascii() and key.isalpha():
            beginning = key[: max(KIN_LETTERS, round(len(key) * KIN_SHARE))]
            found.setdefault(beginning[:KIN_LETTERS], []).append((beginning, bit))
    return found
