"""Words without their endings, by rule: English, Russian, Arabic, Hindi, and other languages in their letters."""

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
"""Those of Arabic, which are seldom written, and the line that makes a word longer."""
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
    """What the regular forms of a folded word have in common; it need not be a word itself: `making` gives `mak`.

    Words in other letters, or too short to have an ending, stay as they are.
    """
    if not word.isascii():
        return _stem_other_script(word)
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) <= _MIN_STEM_LENGTH or not word.isalpha():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_LENGTH:
            if ending == "s" and word[-2] in "sui":
                break
            # Of `votes` and `cases` only the s goes, as `vote` and `case` are too short to lose their e.
            word = word[:-1] if _SHORT_PLURAL.fullmatch(word) else word.removesuffix(ending) + instead
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
