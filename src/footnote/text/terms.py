"""Terms: what two texts of the same language are compared by.

A word is one term, folded: case, width and, in a second form, diacritics. Where words are not parted by spaces
(Chinese, Japanese, Thai), every two neighbouring characters are a term, and a lone one is one by itself.
"""

import re
import unicodedata
from collections.abc import Iterator

from msgspec import Struct

ALPHABETIC_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Those of `UNSPACED` that are letters of an alphabet: Thai, Lao, Burmese, Khmer. One of them says next to nothing."""
UNSPACED = f"{ALPHABETIC_UNSPACED}\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Characters of scripts without spaces between words, as the inside of a character class."""
COMBINING_MARKS = "".join(mark for mark in map(chr, range(0x300, 0xE00)) if unicodedata.category(mark) in ("Mn", "Mc"))
"""Marks that belong to the letter before them, as the inside of a character class: accents, the vowels of Hindi, the
short vowels of Arabic. To a regular expression they are no letters."""

SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074-\u2079"
"""Figures of reference marks and exponents, as the inside of a character class. They are no part of the word or number
that they stand behind."""

_LETTERS = rf"(?:[^\W\d_{UNSPACED}{SUPERSCRIPTS}]++[{COMBINING_MARKS}]*+)++"
_RUN = re.compile(rf"[{UNSPACED}]+|\d+(?:[.,:/]\d+)*|{_LETTERS}(?:['’\u00b7-]{_LETTERS})*")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")

_TONE_BEFORE = {
    old: new
    for first, second in ("oa", "oe", "uy")
    for tone in "\u0300\u0301\u0303\u0309\u0323"
    for old, new in [
        (unicodedata.normalize("NFC", f"{first}{second}{tone}"), unicodedata.normalize("NFC", f"{first}{tone}{second}"))
    ]
}
"""`hoà` is the older way to write `hòa`: the tone of these pairs, at a syllable's end, has two places."""


class Term(Struct, frozen=True, gc=False):
    """`text` is folded; the offsets are those of the word in the text that it came from."""

    text: str
    start: int
    end: int


def terms(text: str) -> Iterator[Term]:
    """The terms of a text, in order."""
    for run in _RUN.finditer(text):
        word, start = run.group(), run.start()
        if not _IS_UNSPACED.match(word):
            yield Term(fold(word), start, run.end())
        elif len(word) == 1:
            yield Term(word, start, run.end())
        else:
            for offset in range(len(word) - 1):
                yield Term(word[offset : offset + 2], start + offset, start + offset + 2)


def fold(word: str) -> str:
    """Upper and lower case, full and half width, composed and decomposed, both places of a Vietnamese tone are one."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold()
    new = _TONE_BEFORE.get(folded[-2:])
    return folded[:-2] + new if new and folded[-3:-2] != "q" else folded


def strip_diacritics(word: str) -> str:
    """Without diacritics, for people who type Vietnamese on a plain keyboard: `dien bien phu`."""
    plain = unicodedata.normalize("NFD", word.replace("đ", "d").replace("Đ", "D"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def is_unspaced(text: str) -> bool:
    """Written mostly without spaces between words: Chinese, Japanese, Thai."""
    return len(_IS_UNSPACED.findall(text)) * 2 > sum(map(len, text.split()))


def has_unspaced(text: str) -> bool:
    """Has at least a character of a script that is written without spaces."""
    return _IS_UNSPACED.search(text) is not None
