"""The rows of characters of a page of a PDF, each in the order in which it is read."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from footnote.documents.extract import bidi
from footnote.documents.extract.pdf_glyphs import Glyphs

BROKEN_WORD = "\ufffe"
_BREAK = 0x02
"""What the library has for a hyphen at the end of a line, and for the end of that line."""
_LINE_ENDS = frozenset((0x0A, 0x0D, _BREAK))
_SPACES = frozenset((0x20, 0xA0))
_GAP = 0.15
"""Of the size of letters. Less is between letters of a word; a space is twice as wide."""
_LAM = "\u0644"


class Row(NamedTuple):
    """Code units, and where each of them is on the page; a space that is not there is nowhere, -1."""

    letters: list[int]
    indexes: list[int]
    from_right: bool = False

    @property
    def first(self) -> int | None:
        return next(self._shown(1), None)

    @property
    def last(self) -> int | None:
        return next(self._shown(-1), None)

    def extend(self, other: "Row", *, after_space: bool) -> None:
        if after_space and self.letters[-1] not in _SPACES and other.letters[0] not in _SPACES:
            self.letters.append(0x20)
            self.indexes.append(-1)
        self.letters.extend(other.letters)
        self.indexes.extend(other.indexes)

    def _shown(self, step: int) -> Iterator[int]:
        pairs = zip(self.letters[::step], self.indexes[::step], strict=True)
        return (index for letter, index in pairs if letter not in _SPACES)


def rows(glyphs: Glyphs, letters: list[int]) -> list[Row]:
    """Of a page with these letters."""
    found: list[Row] = []
    row = Row([], [])
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
            row = Row([], [])
    return [*_in_reading_order(glyphs, found)]


def _space_between(glyphs: Glyphs, row: Row, following: Row) -> bool | None:
    """Whether there is a space between two that are one line; None if they are two. The library takes the exponents of
    a formula for lines of their own."""
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
    """A letter and the marks on it, with their places. Points."""

    left: float
    right: float
    letters: list[int]
    indexes: list[int]


def _in_reading_order(glyphs: Glyphs, rows: list[Row]) -> Iterator[Row]:
    texts = ["".join(map(chr, row.letters)) for row in rows]
    if not any(map(bidi.RIGHT_TO_LEFT.search, texts)):
        yield from rows
        return
    from_right = bidi.reads_right_to_left("".join(texts), otherwise=True)
    for row, text in zip(rows, texts, strict=True):
        size = glyphs[row.indexes[0]].size
        if size is None or not bidi.RIGHT_TO_LEFT.search(text):
            from_right = bidi.reads_right_to_left(text, otherwise=from_right)
            yield row
        else:
            cells = [*_with_spaces(_cells(glyphs, row), size)]
            shown = "".join(chr(cell.letters[0]) for cell in cells)
            from_right = bidi.reads_right_to_left(shown, otherwise=from_right)
            yield _reordered(cells, shown, from_right=from_right)


def _reordered(cells: list[_Cell], shown: str, *, from_right: bool) -> Row:
    ordered = [cells[at] for at in bidi.order(shown, from_right=from_right)]
    said = bidi.with_brackets("".join(chr(letter) for cell in ordered for letter in cell.letters))
    return Row([*map(ord, said)], [index for cell in ordered for index in cell.indexes], from_right)


def _cells(glyphs: Glyphs, row: Row) -> list[_Cell]:
    """From left to right. Letters of a ligature have one place: an alef stands to the left of its lam."""
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


def _with_spaces(cells: list[_Cell], size: float) -> Iterator[_Cell]:
    """With a space where there is a gap: some makers write none, and those of others have no certain place."""
    for at, cell in enumerate(cells):
        before = cells[at - 1] if at else None
        if before and cell.left - before.right > _GAP * size:
            yield _Cell(before.right, cell.left, [0x20], [-1])
        yield cell
