"""The rows of characters of a page of a PDF, each in reading order."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double
from itertools import groupby
from typing import Any, NamedTuple

from pypdfium2 import raw as _raw  # pyright: ignore[reportMissingTypeStubs] - it has none

from footnote.documents.extract.notation import SUPERSCRIPT_DIGITS, superscript

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")

_NUMBER = re.compile(r"[+$€£#]?\d+(?:[.,:/\u066b\u066c]\d+)*%?")
_HEBREW_NUMBER = re.compile(r"[+$€£#]?\d+(?:[.,:/\u066b\u066c+-]\d+)*%?")
"""In Arabic text a hyphen separates two numbers, of which the first is shown on the right."""
_ARABIC = re.compile("[\u0600-\u07bf\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff]")
_MIRRORED = dict(zip("()[]{}«»‹›", ")(][}{»«›‹", strict=True))
_OPENING = frozenset("([{«‹")
_CLEAR = 0.15
"""A line has a direction if the share of its letters in that direction is so much above one half."""
_ENDING = frozenset(".!?؟۔:;؛,،")
"""Punctuation at the end of a line in reading order."""


def is_right_to_left_line(visual: str, *, default: bool) -> bool:
    """Whether a line is read from right to left; `visual` are its characters from left to right. With about as many
    letters of either direction, the side of its full stop decides, or letters of one direction at both ends. Without
    these, it is `default`: most often the direction of the line before it."""
    kinds = [*map(_direction, visual)]
    right, left = kinds.count("R"), kinds.count("L")
    share = right / (right + left or 1)
    if abs(share - 0.5) >= _CLEAR:
        return share > 0.5
    ends = visual.strip()
    on_left, on_right = ends[:1] in _ENDING, ends[-1:] in _ENDING
    if right and on_left is not on_right:
        return on_left
    letters = [kind for kind in kinds if kind in "LR"]
    return letters[0] == "R" if letters and letters[0] == letters[-1] else default


def reading_order(visual: str, *, is_rtl: bool) -> list[int]:
    """The indexes of the characters in reading order, for a line that begins on that side."""
    if is_rtl:
        return _reversed_order(visual, 0, len(visual))
    found: list[int] = []
    for is_turned, begin, end in _runs(visual):
        found += _reversed_order(visual, begin, end) if is_turned else range(begin, end)
    return found


def mirror_brackets(text: str) -> str:
    """A line in reading order with its brackets the right way round. They are mirrored in text from right to left, and
    producers of PDFs differ in which of the two they write. After a space a bracket opens, and before one it closes."""
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
    is_wrong = closes if bracket in _OPENING else opens
    return _MIRRORED[bracket] if is_wrong and opens is not closes else bracket


def _last_directions(kinds: list[str]) -> Iterator[str]:
    """For each character, the direction of the last letter up to it."""
    last = ""
    for kind in kinds:
        last = kind if kind in "LR" else last
        yield last


def _direction(letter: str) -> str:
    """`R` and `L` for letters by their direction, `D` for digits, `N` for characters without a direction."""
    found = unicodedata.bidirectional(letter)
    if found in ("R", "AL"):
        return "R"
    return "L" if found == "L" else "D" if found in ("EN", "AN") else "N"


def _runs(visual: str) -> Iterator[tuple[bool, int, int]]:
    """The runs of a line from left to right, each with whether it is read from right to left: such a run extends from
    its first letter of that direction to its last, with no letter of the other in between."""
    at = 0
    for found in re.finditer("R(?:[RDN]*R)?", "".join(map(_direction, visual))):
        if at < found.start():
            yield False, at, found.start()
        yield True, found.start(), found.end()
        at = found.end()
    if at < len(visual):
        yield False, at, len(visual)


def _reversed_order(visual: str, begin: int, end: int) -> list[int]:
    """The indexes from right to left, except in words of the other direction and in numbers."""
    kinds = "".join(map(_direction, visual[begin:end]))
    forward = [(begin + found.start(), begin + found.end()) for found in re.finditer("[LD](?:[LDN]*[LD])?", kinds)]
    number = _NUMBER if _ARABIC.search(visual) else _HEBREW_NUMBER
    spans: list[tuple[int, int]] = []
    for first, last in forward:
        if "L" in kinds[first - begin : last - begin]:
            spans.append((first, last))
        else:
            spans += [found.span() for found in number.finditer(visual, first, min(last + 1, end))]
    places: list[int] = []
    at = end
    for first, last in reversed(spans):
        places += range(at - 1, last - 1, -1)
        places += range(first, last)
        at = first
    return [*places, *range(at - 1, begin - 1, -1)]


raw: Any = _raw
"""The library's functions in C, which have no types."""


class Glyph(NamedTuple):
    """Measures in points. `bottom` and `top` are those of the ink. `size` is None if the glyph is rotated."""

    baseline: float
    bottom: float
    top: float
    size: float | None


class Glyphs:
    """The measures of the characters of a page; each is requested once, and most never."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._known: dict[int, Glyph] = {}
        self._ends = tuple(c_double() for _ in range(4))
        self._matrix = raw.FS_MATRIX()

    def ink(self, index: int) -> tuple[float, float, float, float]:
        """Left, right, bottom, top."""
        left, right, bottom, top = self._ends
        raw.FPDFText_GetCharBox(self._page, index, byref(left), byref(right), byref(bottom), byref(top))
        return left.value, right.value, bottom.value, top.value

    def box(self, index: int) -> tuple[float, float, float, float]:
        """Left, right, bottom, top of the box of a character in its line, as wide as the distance to the next one."""
        box = raw.FS_RECTF()
        raw.FPDFText_GetLooseCharBox(self._page, index, byref(box))
        return box.left, box.right, box.bottom, box.top

    def origin(self, index: int) -> tuple[float, float]:
        x, y, *_ = self._ends
        raw.FPDFText_GetCharOrigin(self._page, index, byref(x), byref(y))
        return x.value, y.value

    def __getitem__(self, index: int) -> Glyph:
        if (known := self._known.get(index)) is not None:
            return known
        _, _, bottom, top = self.ink(index)
        _, baseline = self.origin(index)
        size: float | None = raw.FPDFText_GetFontSize(self._page, index)
        matrix = self._matrix
        if raw.FPDFText_GetMatrix(self._page, index, byref(matrix)):
            is_upright = abs(matrix.b) < 0.02 * abs(matrix.a)
            size = size * abs(matrix.d) if is_upright else None
        self._known[index] = found = Glyph(baseline, bottom, top, size or None)
        return found


BROKEN_WORD = "\ufffe"
_BREAK = 0x02
"""The library's character for a hyphen at the end of a line together with the line end."""
_LINE_ENDS = frozenset((0x0A, 0x0D, _BREAK))
_SPACES = frozenset((0x20, 0xA0))
_GAP = 0.15
"""The width of a gap that is a space, relative to the font size. A typed space is twice as wide."""
_LAM = "\u0644"


class GlyphRow(NamedTuple):
    """Code units, and the index of each on the page; -1 for an added space."""

    letters: list[int]
    indexes: list[int]
    is_rtl: bool = False

    @property
    def first(self) -> int | None:
        return next(self._visible_indexes(1), None)

    @property
    def last(self) -> int | None:
        return next(self._visible_indexes(-1), None)

    def extend(self, other: "GlyphRow", *, after_space: bool) -> None:
        if after_space and self.letters[-1] not in _SPACES and other.letters[0] not in _SPACES:
            self.letters.append(0x20)
            self.indexes.append(-1)
        self.letters.extend(other.letters)
        self.indexes.extend(other.indexes)

    def _visible_indexes(self, step: int) -> Iterator[int]:
        pairs = zip(self.letters[::step], self.indexes[::step], strict=True)
        return (index for letter, index in pairs if letter not in _SPACES)


def page_rows(glyphs: Glyphs, letters: list[int]) -> list[GlyphRow]:
    """The rows of a page with these code units."""
    found: list[GlyphRow] = []
    row = GlyphRow([], [])
    for index, letter in enumerate((*letters, 0x0A)):
        if letter not in _LINE_ENDS:
            row.letters.append(letter)
            row.indexes.append(index)
            continue
        if letter == _BREAK:
            row.letters.append(ord(BROKEN_WORD))
            row.indexes.append(index)
        if row.letters:
            space = _space_between(glyphs, found[-1], row) if found else None
            if space is None:
                found.append(row)
            else:
                found[-1].extend(row, after_space=space)
            row = GlyphRow([], [])
    return [*_in_reading_order(glyphs, found)]


def _space_between(glyphs: Glyphs, row: GlyphRow, following: GlyphRow) -> bool | None:
    """Whether there is a space between two rows that are one line; None if they are two lines. The library takes the
    exponents of a formula for lines of their own."""
    end, begin = row.last, following.first
    if end is None or begin is None or row.letters[-1] == ord(BROKEN_WORD):
        return None
    _, right, *_ = glyphs.ink(end)
    left, *_ = glyphs.ink(begin)
    one, other = glyphs[end], glyphs[begin]
    size = max(one.size or 0.0, other.size or 0.0)
    gap, shift = left - right, abs(one.baseline - other.baseline)
    if not (-0.2 * size <= gap <= 0.6 * size and 0.05 * size < shift < size):
        return None
    return gap > 0.2 * size


class _Cell(NamedTuple):
    """A letter and the marks on it, with its left and right edge in points."""

    left: float
    right: float
    letters: list[int]
    indexes: list[int]


def _in_reading_order(glyphs: Glyphs, rows: list[GlyphRow]) -> Iterator[GlyphRow]:
    texts = ["".join(map(chr, row.letters)) for row in rows]
    if not any(map(RIGHT_TO_LEFT.search, texts)):
        yield from rows
        return
    from_right = is_right_to_left_line("".join(texts), default=True)
    for row, text in zip(rows, texts, strict=True):
        size = glyphs[row.indexes[0]].size
        if size is None or not RIGHT_TO_LEFT.search(text):
            from_right = is_right_to_left_line(text, default=from_right)
            yield row
        else:
            cells = [*_insert_spaces(_cells(glyphs, row), size)]
            visual = "".join(chr(cell.letters[0]) for cell in cells)
            from_right = is_right_to_left_line(visual, default=from_right)
            yield _reorder(cells, visual, is_rtl=from_right)


def _reorder(cells: list[_Cell], visual: str, *, is_rtl: bool) -> GlyphRow:
    ordered = [cells[at] for at in reading_order(visual, is_rtl=is_rtl)]
    text = mirror_brackets("".join(chr(letter) for cell in ordered for letter in cell.letters))
    return GlyphRow([*map(ord, text)], [index for cell in ordered for index in cell.indexes], is_rtl)


def _cells(glyphs: Glyphs, row: GlyphRow) -> list[_Cell]:
    """The cells from left to right. The letters of a ligature have the same edges: an alef is left of its lam."""
    cells: list[_Cell] = []
    marks: list[_Cell] = []
    for letter, index in zip(row.letters, row.indexes, strict=True):
        if index < 0 or letter in _SPACES:
            continue
        left, right, *_ = glyphs.box(index)
        left = min(left, glyphs.origin(index)[0])
        is_mark = unicodedata.combining(chr(letter)) and cells
        (marks if is_mark else cells).append(_Cell(left, right, [letter], [index]))
    cells.sort(key=lambda cell: (round(cell.left, 2), chr(cell.letters[0]) == _LAM))
    lefts = [cell.left for cell in cells]
    for mark in marks:
        # The last letter that begins before the middle of the mark.
        under = cells[max(bisect_right(lefts, (mark.left + mark.right) / 2) - 1, 0)]
        under.letters.extend(mark.letters)
        under.indexes.extend(mark.indexes)
    return cells


def _insert_spaces(cells: list[_Cell], size: float) -> Iterator[_Cell]:
    """The cells with a space in each gap: some producers write no spaces, and those of others have no reliable
    place."""
    for at, cell in enumerate(cells):
        before = cells[at - 1] if at else None
        if before and cell.left - before.right > _GAP * size:
            yield _Cell(before.right, cell.left, [0x20], [-1])
        yield cell


# Superscripts --------------------------------------------------------------------------------------------------------


_BETWEEN = frozenset(",;-–−+")
"""Characters that occur between two raised digits, or before the first."""

_RISE = 0.2
"""Relative to the font size of the letters beside it. Word raises by 0.33, TeX by 0.36, browsers by a third."""
_MAX_SIZE_RATIO = 0.9
_MAX_HEIGHT_RATIO = 0.55
"""A digit is 0.7 of its font size high. The font's own superscript digits have the full font size, and are lower."""
_WINDOW = 8
"""How many characters before a raised one are searched for an ordinary one."""
_CANDIDATE = re.compile(r"[0-9](?![0-9])|(?<=[^\W\d_]|[,;])[abcdfghinx](?![^\W_])")
"""The last digit of a number, and the last letter of a word if notes and exponents use it: other characters of a page
are not measured."""
_STRAY_SPACE = re.compile(rf"(?<=[{SUPERSCRIPT_DIGITS}]) (?=[.,)])")
"""The library adds a space where the line steps down again to a full stop."""


def mark_superscripts(glyphs: Glyphs, indexes: Sequence[int], text: str) -> tuple[str, int]:
    """A line with its raised digits as superscripts, and the position in `indexes` of its first ordinary character.
    `text` has one character for each of `indexes`, which are those of the page, or -1 for an added space."""
    line = _GlyphLine(glyphs, indexes, text)
    raised: set[int] = set()
    for found in _CANDIDATE.finditer(text):
        if line.is_raised(found.start()):
            raised |= line.superscript_run(found.start())
    first = _first_regular(text, raised)
    if not raised:
        return text, first
    pieces: list[str] = []
    for is_raised, run in groupby(range(len(text)), raised.__contains__):
        places = [*run]
        piece = text[places[0] : places[-1] + 1]
        pieces.append(superscript(piece, text[: places[0]]) if is_raised else piece)
    return _STRAY_SPACE.sub("", "".join(pieces)), first


def _first_regular(text: str, raised: set[int]) -> int:
    places = [at for at, letter in enumerate(text) if not letter.isspace()]
    return next((at for at in places if at not in raised), places[0] if places else 0)


class _GlyphLine:
    def __init__(self, glyphs: Glyphs, indexes: Sequence[int], text: str) -> None:
        self._glyphs = glyphs
        self._indexes = indexes
        self._text = text
        self._floor: float | None = None

    def is_raised(self, at: int) -> bool:
        bottom = self._glyphs.ink(self._indexes[at])[2]
        return bottom > self._superscript_floor() and self._is_superscript(at, bottom, at)

    def superscript_run(self, at: int) -> set[int]:
        """The run of raised characters that ends at this one."""
        begin = at
        while begin and self._continues(begin - 1, at):
            begin -= 1
        while self._text[begin] in ",;":
            begin += 1
        return {*range(begin, at + 1)}

    def _continues(self, at: int, ending: int) -> bool:
        letter, index = self._text[at], self._indexes[at]
        if index < 0 or not (letter.isalnum() or letter in _BETWEEN):
            return False
        # The ink of a dash is above the baseline in any case.
        bottom = self._glyphs[index].baseline if letter in _BETWEEN else self._glyphs[index].bottom
        return self._is_superscript(at, bottom, ending)

    def _superscript_floor(self) -> float:
        """The height below which no character is raised, whatever is beside it. It is measured at a few characters of
        the line, of which some may be raised or lowered themselves."""
        if self._floor is None:
            on_page = [index for index in self._indexes if index >= 0]
            places = {on_page[len(on_page) * part // 5] for part in range(5)}
            near = [self._glyphs[index] for index in places]
            self._floor = min(glyph.baseline + 0.1 * (glyph.size or 0.0) for glyph in near)
        return self._floor

    def _is_superscript(self, at: int, bottom: float, ending: int) -> bool:
        """Whether a character is above the baseline of the letters beside it, and smaller than they are."""
        glyph = self._glyphs[self._indexes[at]]
        beside = self._reference_glyph(at, ending)
        if beside is None or beside.size is None or glyph.size is None:
            return False
        if bottom - beside.baseline < _RISE * beside.size or bottom - beside.baseline > 1.2 * beside.size:
            return False
        return (
            glyph.size <= _MAX_SIZE_RATIO * beside.size or glyph.top - glyph.bottom <= _MAX_HEIGHT_RATIO * beside.size
        )

    def _reference_glyph(self, first: int, last: int) -> Glyph | None:
        """The nearest large character before, or at the beginning of a line after it."""
        near = self._glyphs_at(range(first - 1, max(first - 1 - _WINDOW, -1), -1))
        near = near or self._glyphs_at(range(last + 1, min(last + 1 + _WINDOW, len(self._text))))
        largest = max((glyph.size or 0.0 for glyph in near), default=0.0)
        return next((glyph for glyph in near if glyph.size and glyph.size >= 0.95 * largest), None)

    def _glyphs_at(self, places: range) -> list[Glyph]:
        return [
            self._glyphs[self._indexes[place]]
            for place in places
            if self._indexes[place] >= 0 and self._text[place].isalnum()
        ]
