"""Tables: a head that is repeated on each page, columns as wide as their content asks for."""

import re
import unicodedata
from collections.abc import Sequence

from footnote.documents.markdown.inlines import plain_text
from footnote.documents.out.docx.inlines import write_inlines
from footnote.documents.out.docx.state import DocxState
from footnote.documents.scripts import is_right_to_left
from footnote.documents.tree import Alignment, Inline, Table

_MAX_COLUMNS = 63
"""Word takes no table with more."""

_SAMPLE = 200
"""Rows that the widths are judged by."""

_MARGINS = 230
_MIN_CELL_WIDTH = 200
"""Of a cell, in twips: both sides, and as a whole."""

_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_MIN_WORD_CHARS = 4
_SHORT_WORD = 9
_MAX_WORD_CHARS = 28
_MAX_LINE_CHARS = 60
"""Letters."""

_WORD_AFTER = {"left": "right", "right": "left", "center": "center"}
_STYLES = ((12, "TableTextSmallest", 84), (7, "TableTextSmaller", 100), (0, "TableText", 110))
"""By the number of columns, with the width of a letter in twips."""


def write_table(table: Table, state: DocxState, *, left: int, width: int) -> str:
    """`left`: how far it stands in, and `width`: the space that is left for it, both in twips."""
    columns = max(len(table.head), *(len(row) for row in table.rows), 0) if table.rows else len(table.head)
    return "".join(
        _part(table, range(start, min(start + _MAX_COLUMNS, columns)), state, left=left, width=width)
        for start in range(0, columns, _MAX_COLUMNS)
    )


def _part(table: Table, columns: range, state: DocxState, *, left: int, width: int) -> str:
    style, letter = next((name, letter) for many, name, letter in _STYLES if len(columns) >= many)
    widths = _column_widths(table, columns, width, letter)
    alignments: list[Alignment] = [
        table.alignments[column] if column < len(table.alignments) else None for column in columns
    ]
    openings = [
        f'<w:tc><w:tcPr><w:tcW w:w="{wide}" w:type="dxa"/></w:tcPr><w:p><w:pPr><w:pStyle w:val="{style}"/>'
        for wide in widths
    ]
    cells = tuple(zip(openings, alignments, columns, widths, strict=True))

    def row(content: Sequence[tuple[Inline, ...]]) -> str:
        return "".join(
            opening + _cell(content[column] if column < len(content) else (), alignment, state, wide - _MARGINS)
            for opening, alignment, column, wide in cells
        )

    grid = "".join(f'<w:gridCol w:w="{width}"/>' for width in widths)
    rows = "".join(f"<w:tr><w:trPr><w:cantSplit/></w:trPr>{row(content)}</w:tr>" for content in table.rows)
    return (
        f'<w:tbl><w:tblPr><w:tblStyle w:val="ReportTable"/>{"<w:bidiVisual/>" if _is_rtl_table(table) else ""}'
        f'<w:tblW w:w="{sum(widths)}" w:type="dxa"/><w:tblInd w:w="{left}" w:type="dxa"/><w:tblLayout w:type="fixed"/>'
        '<w:tblLook w:val="0420" w:firstRow="1" w:lastRow="0" w:firstColumn="0" w:lastColumn="0" w:noHBand="0" '
        f'w:noVBand="1"/></w:tblPr><w:tblGrid>{grid}</w:tblGrid>'
        f"<w:tr><w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>{row(table.head)}</w:tr>{rows}</w:tbl>"
    )


def _is_rtl_table(table: Table) -> bool:
    """Whether its first column is the rightmost: as its head is written."""
    return is_right_to_left(" ".join(map(plain_text, table.head)))


def _cell(content: tuple[Inline, ...], alignment: Alignment, state: DocxState, width: int) -> str:
    """What follows the opening of a cell, of its paragraph and of the paragraph's properties."""
    rtl = bool(content) and is_right_to_left(plain_text(content))
    # In a paragraph from right to left, Word's left is where a line begins.
    side = _WORD_AFTER[alignment] if alignment and rtl else alignment
    properties = ("<w:bidi/>" if rtl else "") + (f'<w:jc w:val="{side}"/>' if side else "")
    return f"{properties}</w:pPr>{write_inlines(content, state, rtl=rtl, width=max(width, 300))}</w:p></w:tc>"


def _column_widths(table: Table, columns: range, available: int, letter: int) -> list[int]:
    """As a browser does it: all on one line if there is room; else each column at least its longest word. Long words
    are broken before short ones are, and before there is no room left for those columns that have much to say."""
    rows = (table.head, *table.rows[:_SAMPLE])
    words: list[int] = []
    lines: list[int] = []
    for column in columns:
        said = [plain_text(row[column]) for row in rows if column < len(row)]
        words.append(
            max(
                max((_unbreakable_width(word) for text in said for word in text.split()), default=0) + 1,
                _MIN_WORD_CHARS,
            )
        )
        lines.append(min(max(map(_text_width, said), default=0) + 1, _MAX_LINE_CHARS))
    longest = _MAX_WORD_CHARS
    while (
        longest > _MIN_WORD_CHARS and sum(min(word, longest) * letter + _MARGINS for word in words) > available * 3 // 4
    ):
        longest -= 1
    least = [min(word, longest) * letter + _MARGINS for word in words]
    most = [max(low, line * letter + _MARGINS) for low, line in zip(least, lines, strict=True)]
    if sum(most) <= available:
        return most
    if sum(least) >= available:
        return [max(_MIN_CELL_WIDTH, width * available // sum(least)) for width in least]
    spare, wanted = available - sum(least), sum(most) - sum(least)
    return [low + (high - low) * spare // wanted for low, high in zip(least, most, strict=True)]


def _unbreakable_width(word: str) -> int:
    """What Chinese and Thai write without spaces may be broken nearly anywhere."""
    return min(_text_width(word), _SHORT_WORD) if _WITHOUT_SPACES.search(word) else _text_width(word)


def _text_width(text: str) -> int:
    """How wide a text is, in letters of Latin."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
