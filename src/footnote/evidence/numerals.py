"""Numbers written in words: English, Vietnamese, Chinese."""

import re
from typing import Final

from msgspec import Struct

ONES: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19,
}  # fmt: skip
TENS: Final = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip
SCALES: Final = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mn": 1e6, "bn": 1e9, "k": 1e3,
    "trăm": 1e2, "nghìn": 1e3, "ngàn": 1e3, "vạn": 1e4, "triệu": 1e6, "tỷ": 1e9, "tỉ": 1e9,
    "十": 10.0, "百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8,
}  # fmt: skip
SYLLABLES: Final = {
    "một": 1, "mốt": 1, "hai": 2, "ba": 3, "bốn": 4, "tư": 4, "năm": 5, "lăm": 5, "sáu": 6, "bảy": 7, "bẩy": 7,
    "tám": 8, "chín": 9,
}  # fmt: skip
CHARACTERS: Final = {
    "〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}  # fmt: skip

SCALE_PATTERN: Final = (
    r"nghìn tỷ|nghìn tỉ|thousand|million|billion|trillion|mn\b|bn\b|k\b|nghìn\b|ngàn\b|vạn\b|triệu\b|tỷ\b|tỉ\b|"
    r"[十百千]?[万萬亿億]+|[百千](?!分)"
)
"""The source of a pattern: words that multiply the digits before them."""

_ENGLISH_SCALES = ("hundred", "thousand", "million", "billion", "trillion")
_VIETNAMESE_SCALES = ("trăm", "nghìn", "ngàn", "vạn", "triệu", "tỷ", "tỉ")
_AMBIGUOUS = frozenset(("một", "mốt", "năm", "lăm", "tư", *_VIETNAMESE_SCALES))


def _alternatives(*words: str) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_ENGLISH_WORD = _alternatives(*ONES, *TENS, *ORDINALS, *_ENGLISH_SCALES)
_VIETNAMESE_WORD = _alternatives(*SYLLABLES, *_VIETNAMESE_SCALES, "mười", "mươi", "linh", "lẻ", "rưỡi")
ENGLISH_PATTERN: Final = re.compile(
    rf"\b(?:half a )?(?:{_ENGLISH_WORD})(?:[\s-]+(?:and[\s-]+)?(?:{_ENGLISH_WORD}))*\b", re.IGNORECASE
)
VIETNAMESE_PATTERN: Final = re.compile(
    rf"(?<!phần )\b(?:nửa )?(?:{_VIETNAMESE_WORD})(?:\s+(?:{_VIETNAMESE_WORD}))*\b", re.IGNORECASE
)
CHINESE_PATTERN: Final = re.compile(
    rf"[{''.join(CHARACTERS)}十百千万萬亿億]{{1,20}}(?:点[{''.join(CHARACTERS)}]{{1,9}})?"
)


class Numeral(Struct, frozen=True, gc=False):
    """`end` is the offset in the text at which the number ends.

    `is_certain` is False for a word that is not always a number: `one`, `năm` (five, or year), `十` in `十分` (very).
    """

    number: float
    end: int
    is_certain: bool = True


def parse_english(text: str) -> Numeral | None:
    """`twenty-five`, `one hundred and five thousand`, `eleventh`, `half a million`."""
    words = [(word.group().casefold(), word.end()) for word in re.finditer(r"[a-zA-Z]+", text)]
    half = [word for word, _ in words[:2]] == ["half", "a"]
    total = current = 0.0
    end, last = 0, 100.0
    for word, word_end in words[2:] if half else words:
        if word == "and":
            continue
        if word in _ENGLISH_SCALES:
            scale = SCALES[word]
            current = (current or 1.0) * scale
            if scale > 100:
                total, current = total + current, 0.0
            last = scale
        else:
            number = float(ONES.get(word) or TENS.get(word) or ORDINALS.get(word, 0))
            if last < 20 or (last < 100 and number >= 10):
                break
            current += number
            last = number
        end = word_end
        if word in ORDINALS:
            break
    if not end:
        return None
    number = (total + current) * (0.5 if half else 1.0)
    first = words[0][0]
    alone = len(text[:end].split()) == 1
    return Numeral(
        number, end, is_certain=not (alone and first in ("one", "first", "second", "third", *_ENGLISH_SCALES))
    )


def parse_vietnamese(text: str) -> Numeral | None:
    """`hai mươi lăm`, `mười nghìn`, `nửa triệu`, `hai triệu rưỡi`; of `hai năm` (two years) the first word."""
    words = [(word.group().casefold(), word.end()) for word in re.finditer(r"\w+", text)]
    half = words[0][0] == "nửa"
    total = current = 0.0
    end, last, scale = 0, "", 0.0
    for word, word_end in words[1:] if half else words:
        if not _may_follow(word, last):
            break
        if word in _VIETNAMESE_SCALES:
            scale = SCALES[word]
            current = (current or 1.0) * scale
            if scale > 100:
                total, current = total + current, 0.0
        elif word == "mươi":
            current += 9 * (current % 10)
        elif word == "rưỡi":
            total += scale / 2
        else:
            current += 10 if word == "mười" else SYLLABLES.get(word, 0)
        end, last = word_end, word
    if not end:
        return None
    return Numeral((total + current) * (0.5 if half else 1.0), end, is_certain=text[:end].casefold() not in _AMBIGUOUS)


def _may_follow(word: str, last: str) -> bool:
    """Whether a word continues a number after the word `last`."""
    if word == "mươi":
        return last in SYLLABLES
    if word == "mười":
        return last not in SYLLABLES and last not in ("mười", "mươi")
    if word in ("linh", "lẻ", "rưỡi"):
        return bool(last)
    if word == "năm":
        return last in ("", "linh", "lẻ")
    return word in _VIETNAMESE_SCALES or last not in SYLLABLES


def parse_chinese(text: str) -> Numeral | None:
    """`二〇二四`, `三千九百亿`, `一点五`."""
    whole, _, decimals = text.partition("点")
    digits = [CHARACTERS.get(character) for character in whole]
    if all(digit is not None for digit in digits) and (len(digits) > 2 or "〇" in whole or "零" in whole):
        number = float("".join(str(digit) for digit in digits))
    elif all(digit is not None for digit in digits) and len(digits) == 2:
        return None  # `三四`: three or four
    elif not any(digits) and "十" not in whole:
        return None  # `百万` in `百万富翁` (millionaire)
    else:
        number = _parse_scaled(whole)
    if decimals:
        number = float(f"{number:.0f}." + "".join(str(CHARACTERS.get(digit, 0)) for digit in decimals))
    return Numeral(number, len(text), is_certain=len(text) > 1)


def _parse_scaled(text: str) -> float:
    total = section = digit = 0.0
    for character in text:
        if character in CHARACTERS:
            digit = float(CHARACTERS[character])
            continue
        scale = SCALES[character]
        if scale < 1e4:
            section += (digit or 1.0) * scale
        elif scale == 1e4 or not total:
            total += ((section + digit) or 1.0) * scale
            section = 0.0
        else:
            total = (total + section + digit) * scale
            section = 0.0
        digit = 0.0
    return total + section + digit
