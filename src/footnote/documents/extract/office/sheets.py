"""Spreadsheets: a table for each sheet, or CSV for a large one."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import TypeAlias

from msgspec import Struct
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from footnote.documents.extract.office.inlines import LinkedText, join_texts, markdown_table, normalize_text
from footnote.documents.extract.office.package import DocumentMetadata, NotReadable, Package, iter_elements

MAX_SPANNED_CELLS = 6_000_000
"""Limit for the cells between the first and the last used one. The library allocates all of them: two cells in opposite
corners of a sheet would be seventeen billion."""

MAX_TABLE_CELLS = 10_000
"""A larger sheet is written as CSV."""
MAX_SHEETS = 200

Value: TypeAlias = int | float | str | bool | time | date | datetime | timedelta

_CELL = re.compile(rb'<(?:\w{1,20}:)?(?:c|row)\s(?:[^<>]{0,200}?\s)?r\s*=\s*["\']([A-Z]{0,3})([0-9]{1,7})["\']')
_OVERLAP = 300
"""A tag may be split between two chunks."""


class CellRange(Struct):
    """The first and the last used row and column."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0

    @property
    def rows(self) -> int:
        return self.bottom - self.top + 1

    @property
    def columns(self) -> int:
        return self.right - self.left + 1

    @property
    def is_too_large(self) -> bool:
        return self.rows * self.columns > MAX_SPANNED_CELLS


def read(package: Package, content: bytes) -> tuple[LinkedText, DocumentMetadata]:
    package.reject_doctypes()
    spans = cell_ranges(package)
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
            lines = [_sheet(book, name, spans.get(name)) for name in book.sheet_names[:MAX_SHEETS]]
            left = len(book.sheet_names) - MAX_SHEETS
    except (CalamineError, OSError, ValueError) as error:
        raise NotReadable("is damaged: its sheets cannot be read") from error
    if left > 0:
        lines.append(LinkedText(f"({left} more sheets are left out.)"))
    return join_texts(lines, "\n\n"), package.metadata()


def cell_ranges(package: Package) -> dict[str, CellRange]:
    """The used range of each sheet, found without loading cells. Empty for OpenDocument, where it is not checked."""
    if "content.xml" in package.names:
        return {}
    main = package.main_part("xl/workbook.xml")
    relations = package.relations(main)
    spans: dict[str, CellRange] = {}
    for sheet in iter_elements(package.read_chunks(main), ("sheets",)):
        relation = relations.get(sheet.attributes.get("r:id", ""))
        if relation is not None:
            spans[sheet.attributes.get("name", "")] = _cell_range(package.read_chunks(relation.target))
    return spans


def _cell_range(pieces: Iterable[bytes]) -> CellRange:
    span = CellRange()
    rest = b""
    for piece in pieces:
        data = rest + piece
        for column, row in _CELL.findall(data):
            vertical = int(row)
            span.top = min(span.top or vertical, vertical)
            span.bottom = max(span.bottom, vertical)
            if column:
                horizontal = _column(column)
                span.left = min(span.left or horizontal, horizontal)
                span.right = max(span.right, horizontal)
        rest = data[-_OVERLAP:]
    return span


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _sheet(book: CalamineWorkbook, name: str, span: CellRange | None) -> LinkedText:
    head = LinkedText(f"## {' '.join(normalize_text(name).split())}")
    if span is not None and span.is_too_large:
        rows = f"{span.rows:,} rows and {span.columns:,} columns"
        wide = f"(Its cells lie over {rows}: too far apart to be read.)"
        return join_texts((head, LinkedText(wide)), "\n\n")
    rows = _rows(book.get_sheet_by_name(name))
    if not rows:
        return join_texts((head, LinkedText("(empty)")), "\n\n")
    width = max(map(len, rows))
    if len(rows) * width <= MAX_TABLE_CELLS:
        return join_texts((head, markdown_table([[LinkedText(cell) for cell in row] for row in rows])), "\n\n")
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return join_texts((head, LinkedText(written.getvalue().rstrip("\n"))), "\n\n")


def _rows(sheet: CalamineSheet) -> list[list[str]]:
    """Without empty rows at the end, and without empty cells at the end of each row."""
    rows = [_cells(row) for row in sheet.to_python(skip_empty_area=True)]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _cells(row: Sequence[Value]) -> list[str]:
    cells = [_cell(value) for value in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _cell(value: Value) -> str:
    match value:
        case str():
            return normalize_text(value)
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)
