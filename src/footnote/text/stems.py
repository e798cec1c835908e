"""Stems: words without their endings, by rule and without dictionaries. One module for the three stemmers.

- `stem` takes off inflections in English, Russian, Arabic and Hindi: it ranks pages against a query.
- `base_form` takes off English inflections for the index of the library, whose databases contain its results.
- `derivational_stem` also takes off English derivations: a claim and its source often use different word classes.
"""

import re
from collections.abc import Iterable

_ENDINGS = (
    ("ies", "y"),
    ("ied", "y"),
    ("ments", "ment"),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
)
_MIN_STEM_LENGTH = 3
_SHORT_PLURAL = re.compile(r"(?!buses|gases|[a-z]{2}[hox])[a-z]{3}es")

_CYRILLIC = re.compile(r"[\u0400-\u04ff]+")
_CYRILLIC_ENDINGS = """
иями ьями ями ами ого его ому ему ыми ими ая яя ое ее ые ие ый ий ой ую юю ых их ым им ом ем ам ям ах ях ев ов ей ия
ию ии ье ья ью ть ти л ла ло ли лся лась лось лись ет ют ут ит ат ят ется ются утся ится атся ятся ся сь а я о
е ы и у ю ь й
"""
_ARABIC = re.compile(r"[\u0620-\u06d3]+")
_ARABIC_BEGINNINGS = ("وال", "بال", "فال", "كال", "ولل", "ال", "لل", "و")
_ARABIC_ENDINGS = ("تها", "تهم", "هما", "ات", "ان", "ين", "ون", "ها", "هم", "يه", "ته", "ه", "ي", "ا")
_SHORT_VOWELS = re.compile(r"[\u0640\u064b-\u065f\u0670]")
"""The short vowels of Arabic, which are seldom written, and the line that stretches a word."""
_DEVANAGARI = re.compile(r"[\u0900-\u0963\u0970-\u097f]+")
_DEVANAGARI_ENDINGS = (
    "ियों",
    "ियाँ",
    "ियां",
    "ाओं",
    "ाएँ",
    "ाएं",
    "ुओं",
    "ों",
    "ें",
    "ीं",
    "ओं",
    "ा",
    "ि",
    "ी",
    "ु",
    "ू",
    "े",
    "ै",
    "ो",
)


def _longest_first(endings: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(endings), key=len, reverse=True))


_OTHER_SCRIPTS = (
    (_CYRILLIC, (), _longest_first(_CYRILLIC_ENDINGS.split())),
    (_ARABIC, _ARABIC_BEGINNINGS, _longest_first(_ARABIC_ENDINGS)),
    (_DEVANAGARI, (), _longest_first(_DEVANAGARI_ENDINGS)),
)


def stem(word: str) -> str:
    """The common part of the inflected forms of a folded word. It need not be a word: `making` gives `mak`.

    Words of other scripts and words that are too short to have an ending stay as they are.
    """
    if not word.isascii():
        return _stem_other_script(word)
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) <= _MIN_STEM_LENGTH or not word.isalpha():
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_LENGTH:
            if ending == "s" and word[-2] in "sui":
                break
            # `votes` and `cases` lose only the s, because `vote` and `case` are too short to lose their e.
            word = word[:-1] if _SHORT_PLURAL.fullmatch(word) else word.removesuffix(ending) + replacement
            break
    if len(word) > _MIN_STEM_LENGTH and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > _MIN_STEM_LENGTH + 1 else word


def _stem_other_script(word: str) -> str:
    for letters, beginnings, endings in _OTHER_SCRIPTS:
        if letters.fullmatch(word):
            word = _SHORT_VOWELS.sub("", word) or word
            for beginning in beginnings:
                if word.startswith(beginning) and len(word) - len(beginning) >= _MIN_STEM_LENGTH:
                    word = word.removeprefix(beginning)
                    break
            for ending in endings:
                if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_LENGTH:
                    return word.removesuffix(ending)
            return word
    return word


_VOWELS = frozenset("aeiouy")
_DOUBLED = frozenset("bdfgmnprt")


def base_form(word: str) -> str:
    """The stem under which the index of the library stores an English word: `restored` and `restoring` give `restor`.

    Existing databases contain these stems, so that other rules need a new index. Words of other languages mostly stay
    as they are.
    """
    if len(word) < 4 or not (word.isascii() and word.replace("'", "").isalpha()):
        return word
    word = _to_singular(word.removesuffix("'s"))
    for suffix in ("ing", "ed"):
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= 3 and _VOWELS & set(rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] in _DOUBLED else rest
            break
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1] + "i" * (word[-1] == "y")
    return word


def _to_singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


_DERIVATIONAL_ENDINGS = (
    "ization", "isation", "ational", "ically", "ation", "ment", "ness", "edly", "ally",
    "ity", "ing", "ion", "ive", "ous", "ed", "er", "or", "ly", "al",
)  # fmt: skip


def derivational_stem(word: str) -> str:
    """The stem of an English word without derivational endings as well, so that a paraphrase meets its source:
    `invention`, `inventor` and `invented` give `invent`."""
    if len(word) > 5:
        word = word.replace("our", "or")
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui":
        word = word[:-3] + "y" if word.endswith("ies") else word[:-1]
    for ending in _DERIVATIONAL_ENDINGS:
        length = len(word) - len(ending)
        if word.endswith(ending) and length >= (3 if ending in ("ed", "ing") else 4):
            word = word[:length]
            break
    if len(word) > 4 and word[-1] in "eyi":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
