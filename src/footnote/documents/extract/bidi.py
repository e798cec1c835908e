"""Lines of Arabic and Hebrew in the order in which they are read.

A PDF places glyphs; which of them comes first it does not say, and the library's guess turns the words of the other
direction around: "Stanford University" within Arabic becomes "University Stanford". So the glyphs are taken as they
stand from left to right, and the order of reading is derived from that: the reverse of what the Unicode bidirectional
algorithm (UAX #9) does to show a line.
"""

import re
import unicodedata
from collections.abc import Iterator

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")

_NUMBER = re.compile(r"[+$€£#]?\d+(?:[.,:/\u066b\u066c]\d+)*%?")
_HEBREW_NUMBER = re.compile(r"[+$€£#]?\d+(?:[.,:/\u066b\u066c+-]\d+)*%?")
"""In Arabic text a hyphen parts two numbers, of which the first is shown on the right."""
_ARABIC = re.compile("[\u0600-\u07bf\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff]")
_MIRRORED = dict(zip("()[]{}«»‹›", ")(][}{»«›‹", strict=True))
_OPENING = frozenset("([{«‹")
_CLEAR = 0.15
"""Of the letters: with so many more than half of one direction, the line has that direction."""
_ENDING = frozenset(".!?؟۔:;؛,،")
"""What a line ends with in the direction in which it is read."""


def is_right_to_left_line(shown: str, *, default: bool) -> bool:
    """Whether a line does of which `shown` are the characters from left to right. Of one that has about as many letters
    of either direction the side of its full stop tells, or letters of one direction at both ends; `otherwise` is said
    of one without: most often it reads as what stands before it."""
    kinds = [*map(_direction, shown)]
    right, left = kinds.count("R"), kinds.count("L")
    share = right / (right + left or 1)
    if abs(share - 0.5) >= _CLEAR:
        return share > 0.5
    ends = shown.strip()
    on_left, on_right = ends[:1] in _ENDING, ends[-1:] in _ENDING
    if right and on_left is not on_right:
        return on_left
    letters = [kind for kind in kinds if kind in "LR"]
    return letters[0] == "R" if letters and letters[0] == letters[-1] else default


def reading_order(shown: str, *, is_rtl: bool) -> list[int]:
    """The places of `shown` in the order in which they are read, by a line that begins on that side."""
    if is_rtl:
        return _reversed_order(shown, 0, len(shown))
    found: list[int] = []
    for is_turned, begin, end in _runs(shown):
        found += _reversed_order(shown, begin, end) if is_turned else range(begin, end)
    return found


def mirror_brackets(text: str) -> str:
    """A line in reading order with its brackets the right way round. They are mirrored in text from right to left,
    and makers of PDFs differ in which of the two they name. After a space one opens, and before one it closes."""
    if _MIRRORED.keys().isdisjoint(text):
        return text
    kinds = [*map(_direction, text)]
    before, after = [*_last_directions(kinds)], [*_last_directions(kinds[::-1])][::-1]
    return "".join(
        _fix_bracket(letter, text[at - 1 : at] if at else "", text[at + 1 : at + 2])
        if letter in _MIRRORED and "R" in (before[at], after[at])
        else letter
        for at, letter in enumerate(text)
    )


def _fix_bracket(bracket: str, before: str, after: str) -> str:
    opens = (not before or before.isspace() or before in _MIRRORED) and after.strip() != ""
    closes = before.strip() != "" and not after.isalnum()
    wrong = closes if bracket in _OPENING else opens
    return _MIRRORED[bracket] if wrong and opens is not closes else bracket


def _last_directions(kinds: list[str]) -> Iterator[str]:
    """For each place the direction of the last letter up to it."""
    last = ""
    for kind in kinds:
        last = kind if kind in "LR" else last
        yield last


def _direction(letter: str) -> str:
    """`R` and `L` are letters of a direction, `D` figures, `N` what has none."""
    found = unicodedata.bidirectional(letter)
    if found in ("R", "AL"):
        return "R"
    return "L" if found == "L" else "D" if found in ("EN", "AN") else "N"


def _runs(shown: str) -> Iterator[tuple[bool, int, int]]:
    """The runs of a line from left to right, and of each whether it is one from right to left: from its first letter
    of that direction to its last, with no letter of the other in between."""
    at = 0
    for found in re.finditer("R(?:[RDN]*R)?", "".join(map(_direction, shown))):
        if at < found.start():
            yield False, at, found.start()
        yield True, found.start(), found.end()
        at = found.end()
    if at < len(shown):
        yield False, at, len(shown)


def _reversed_order(shown: str, begin: int, end: int) -> list[int]:
    """From right to left, but for words of the other direction and numbers in it."""
    kinds = "".join(map(_direction, shown[begin:end]))
    forward = [(begin + found.start(), begin + found.end()) for found in re.finditer("[LD](?:[LDN]*[LD])?", kinds)]
    number = _NUMBER if _ARABIC.search(shown) else _HEBREW_NUMBER
    spans: list[tuple[int, int]] = []
    for first, last in forward:
        if "L" in kinds[first - begin : last - begin]:
            spans.append((first, last))
        else:
            spans += [found.span() for found in number.finditer(shown, first, min(last + 1, end))]
    places: list[int] = []
    at = end
    for first, last in reversed(spans):
        places += range(at - 1, last - 1, -1)
        places += range(first, last)
        at = first
    return [*places, *range(at - 1, begin - 1, -1)]
