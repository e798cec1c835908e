"""Which characters of a PDF are raised.

A PDF says where each character stands, not what it means: "2027" with a small raised 3 behind it is the text 20273.
What stands higher than the letters beside it and is smaller than they are is written as a superscript.
"""

import re
from collections.abc import Sequence
from itertools import groupby

from footnote.documents.extract.pdf_glyphs import Glyph, Glyphs
from footnote.documents.extract.superscripts import RAISED_FIGURES, superscript

_BETWEEN = frozenset(",;-–−+")
"""What stands between two raised figures, or before the first."""

_RISE = 0.2
"""Of the size of the letters beside it. Word raises by 0.33, TeX by 0.36, browsers by a third."""
_SMALLER = 0.9
_LOW = 0.55
"""A figure is 0.7 of its size high. One of the font's own small figures has the size of the others, and is lower."""
_WINDOW = 8
"""Characters before a raised one among which an ordinary one is sought."""
_CANDIDATE = re.compile(r"[0-9](?![0-9])|(?<=[^\W\d_]|[,;])[abcdfghinx](?![^\W_])")
"""The last figure of a number, and the last letter of a word if it is one that notes and exponents have: the rest of a
page is not looked at."""
_LOOSE_END = re.compile(rf"(?<=[{RAISED_FIGURES}]) (?=[.,)])")
"""The library sees a space where the line steps down again to a full stop."""


def with_raised(glyphs: Glyphs, indexes: Sequence[int], text: str) -> tuple[str, int]:
    """A line with its raised figures as superscripts, and where in `indexes` its first ordinary character is. `text`
    has one character for each of `indexes`, which are those of the page, or -1 for a space that is not on it."""
    line = _Line(glyphs, indexes, text)
    raised: set[int] = set()
    for found in _CANDIDATE.finditer(text):
        if line.is_raised(found.start()):
            raised |= line.run(found.start())
    first = _first(text, raised)
    if not raised:
        return text, first
    pieces: list[str] = []
    for is_raised, run in groupby(range(len(text)), raised.__contains__):
        places = [*run]
        said = text[places[0] : places[-1] + 1]
        pieces.append(superscript(said, text[: places[0]]) if is_raised else said)
    return _LOOSE_END.sub("", "".join(pieces)), first


def _first(text: str, raised: set[int]) -> int:
    places = [at for at, letter in enumerate(text) if not letter.isspace()]
    return next((at for at in places if at not in raised), places[0] if places else 0)


class _Line:
    def __init__(self, glyphs: Glyphs, indexes: Sequence[int], text: str) -> None:
        self._glyphs = glyphs
        self._indexes = indexes
        self._text = text
        self._floor: float | None = None

    def is_raised(self, at: int) -> bool:
        bottom = self._glyphs.ink(self._indexes[at])[2]
        return bottom > self._lowest() and self._stands_above(at, bottom, at)

    def run(self, at: int) -> set[int]:
        """The raised characters that end at one that is."""
        begin = at
        while begin and self._goes_on(begin - 1, at):
            begin -= 1
        while self._text[begin] in ",;":
            begin += 1
        return {*range(begin, at + 1)}

    def _goes_on(self, at: int, ending: int) -> bool:
        letter, index = self._text[at], self._indexes[at]
        if index < 0 or not (letter.isalnum() or letter in _BETWEEN):
            return False
        # The ink of a dash is above the line in any case.
        bottom = self._glyphs[index].baseline if letter in _BETWEEN else self._glyphs[index].bottom
        return self._stands_above(at, bottom, ending)

    def _lowest(self) -> float:
        """No ink that begins below this is raised, whatever is beside it. It is measured at a few places of the line,
        of which some may be raised or lowered themselves."""
        if self._floor is None:
            shown = [index for index in self._indexes if index >= 0]
            places = {shown[len(shown) * part // 5] for part in range(5)}
            near = [self._glyphs[index] for index in places]
            self._floor = min(glyph.baseline + 0.1 * (glyph.size or 0.0) for glyph in near)
        return self._floor

    def _stands_above(self, at: int, bottom: float, ending: int) -> bool:
        """Above the foot of the letters beside it, and smaller than they are."""
        glyph = self._glyphs[self._indexes[at]]
        beside = self._beside(at, ending)
        if beside is None or beside.size is None or glyph.size is None:
            return False
        if bottom - beside.baseline < _RISE * beside.size or bottom - beside.baseline > 1.2 * beside.size:
            return False
        return glyph.size <= _SMALLER * beside.size or glyph.top - glyph.bottom <= _LOW * beside.size

    def _beside(self, first: int, last: int) -> Glyph | None:
        """The nearest large character before, or at the beginning of a line after it."""
        near = self._near(range(first - 1, max(first - 1 - _WINDOW, -1), -1))
        near = near or self._near(range(last + 1, min(last + 1 + _WINDOW, len(self._text))))
        largest = max((glyph.size or 0.0 for glyph in near), default=0.0)
        return next((glyph for glyph in near if glyph.size and glyph.size >= 0.95 * largest), None)

    def _near(self, places: range) -> list[Glyph]:
        return [
            self._glyphs[self._indexes[place]]
            for place in places
            if self._indexes[place] >= 0 and self._text[place].isalnum()
        ]
