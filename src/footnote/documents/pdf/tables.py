"""How wide the columns of a table are, so that words stay whole and long cells get the room."""

import re
from collections.abc import Sequence

from msgspec import Struct

from footnote.documents.markdown.inlines import plain
from footnote.documents.tree import Break, Inline, Table, Text

TEXT_WIDTH = 448.0
"""Points."""
SIZES = (9.2, 8.2, 7.2, 6.2)
"""Points: smaller letters for wider tables."""

_LETTER = 0.58
"""As wide as most letters and figures are, for their height."""
_INSET = 0.62
_SAMPLE = 200
"""Rows that are looked at."""
_WIDE = re.compile("[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\U0001f300-\U0003ffff]")
_WIDER = 0.75
"""Letters that a wide one takes more."""
_LONGEST_WORD = 20.0
_LONGEST_CELL = 110.0
_EVENNESS = 0.8
_MOST_LINES = 15
"""Of a row that stays on one page."""


class Columns(Struct, frozen=True):
    """`widths` are shares of the line, or None: as wide as their cells are. `size` and `inset` in points. `longest`:
    letters that a word of each may have before it needs a place to be broken at."""

    widths: tuple[float, ...] | None
    size: float
    inset: float
    longest: tuple[int, ...]


def columns_of(table: Table) -> Columns:
    """The columns of a table as they fit the page."""
    words, cells = _measured(table)
    least = [min(word, _LONGEST_WORD) for word in words]
    for size in SIZES:
        inset = round(size * _INSET, 1)
        room = (TEXT_WIDTH - 2 * inset * len(words)) / (size * _LETTER)
        if sum(cells) <= room and max(words) <= room / 2:
            return Columns(None, size, inset, tuple(int(max(cell, 1)) + 1 for cell in cells))
        if sum(least) <= room:
            widths = _shared(least, cells, room)
            margin = 2 * inset / (size * _LETTER)
            return Columns(
                tuple(round(width + margin, 1) for width in widths),
                size,
                inset,
                tuple(max(1, int(width)) for width in widths),
            )
    each = max(1, int((TEXT_WIDTH / len(words) - 2) / (SIZES[-1] * _LETTER)))
    return Columns(tuple(1.0 for _ in words), SIZES[-1], 1.0, tuple(each for _ in words))


def stays_whole(row: Sequence[tuple[Inline, ...]], columns: Columns) -> bool:
    """Whether a row is so low that it should stand on one page."""
    for cell, longest in zip(row, columns.longest, strict=True):
        breaks = sum(1 for part in cell if isinstance(part, Break))
        if len(cell) == 1 and isinstance(cell[0], Text) and len(cell[0].text) < longest:
            continue
        if breaks + _width(plain(cell))[1] / longest > _MOST_LINES:
            return False
    return True


def _shared(least: list[float], cells: list[float], room: float) -> list[float]:
    """What is left goes to those that have more to say, but a very long cell does not get all of it."""
    wish = [max(0.0, min(cell, _LONGEST_CELL) - own) ** _EVENNESS for cell, own in zip(cells, least, strict=True)]
    spare = (room - sum(least)) / (sum(wish) or 1.0)
    return [own + want * spare for own, want in zip(least, wish, strict=True)]


def _measured(table: Table) -> tuple[list[float], list[float]]:
    """The longest word and the longest cell of each column."""
    words, cells = [2.0] * len(table.head), [2.0] * len(table.head)
    for row in (table.head, *table.rows[:_SAMPLE]):
        for at, cell in enumerate(row):
            word, whole = _width(plain(cell))
            words[at], cells[at] = max(words[at], word), max(cells[at], whole)
    return words, cells


def _width(text: str) -> tuple[float, float]:
    if text.isascii():
        return max(map(len, text.split()), default=0), len(text)
    whole = len(text) + _WIDER * len(_WIDE.findall(text))
    # A Chinese word may be broken anywhere: a few letters of it are enough.
    word = max(map(len, _WIDE.sub(" ", text).split()), default=0)
    return max(word, min(whole, 6.0)), whole
