"""Rows of a table as they are shown: of a text with separated cells, or of a sheet. This runs where a hostile file can
do no harm: in the sandbox."""

# ruff: noqa: PLC0415 - the reader of workbooks is loaded with the first of them, and may not be installed

import io
import math
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

from footnote.documents.extract.charset import decode
from footnote.documents.extract.plain import detect_delimiter, read_rows
from footnote.documents.office.package import Package
from footnote.documents.office.xml import NotReadable
from footnote.protocol.files import Cell
from footnote.sandbox.jobs import JobRefused, ReadTable, TableRows

MAX_COLUMNS = 500
MAX_CELL_CHARS = 2_000
"""Characters of a cell that are shown; a cell is no page."""
MAX_CHARACTERS = 10_000_000
"""Of all rows that are asked for at once."""
_ZIP = b"PK"
_ENCRYPTED_MARKER = "EncryptedPackage\0".encode("utf-16-le")
_MAX_EXACT_INTEGER = 1e15


def read_table(job: ReadTable) -> TableRows | JobRefused:
    try:
        table = _read_workbook(job) if job.form == "workbook" else _read_delimited(job)
    except NotReadable as error:
        return JobRefused(f"{job.filename} {error.reason}.")
    if sum(len(cell) for row in table.rows for cell in row if isinstance(cell, str)) > MAX_CHARACTERS:
        return JobRefused(f"{job.filename} holds too much text to be shown as a table: download it.")
    return table


def _read_delimited(job: ReadTable) -> TableRows:
    """Cells stay texts: a number with a zero before it may be the number of a telephone."""
    text = decode(job.content, "")
    delimiter = "\t" if job.form == "tsv" else detect_delimiter(text)
    end = job.offset + job.limit
    kept: list[tuple[Cell, ...]] = []
    columns = total = 0
    for row in read_rows(text, delimiter):
        columns = max(columns, len(row))
        if job.offset <= total < end:
            kept.append(_display_row(row))
        total += 1
    return _table((), "", columns, kept, total)


def _read_workbook(job: ReadTable) -> TableRows:
    from python_calamine import CalamineError, CalamineWorkbook

    from footnote.documents.office.sheets import MAX_SPANNED_CELLS, cell_ranges

    if _ENCRYPTED_MARKER in job.content:
        raise NotReadable("is protected by a password: save it without one")
    spans = cell_ranges(_package(job.content)) if job.content.startswith(_ZIP) else {}
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(job.content)) as book:
            names = tuple(book.sheet_names)
            name = _choose_sheet(job.sheet, names)
            if name in spans and spans[name].is_too_large:
                raise NotReadable("has cells that lie too far apart to be shown")
            sheet = book.get_sheet_by_name(name)
            bottom, right = sheet.end or (0, 0)
            # Rows and columns are counted from the first cell, as every program does it, unless that would be too many.
            is_near = (bottom + 1) * (right + 1) <= MAX_SPANNED_CELLS
            rows = sheet.to_python(skip_empty_area=not is_near)
    except (CalamineError, OSError, ValueError) as error:
        raise NotReadable("is damaged: its sheets cannot be read") from error
    while rows and all(cell == "" for cell in rows[-1]):
        rows.pop()
    columns = max((len(_cells(row)) for row in rows), default=0)
    kept = [_display_row(row) for row in rows[job.offset : job.offset + job.limit]]
    return _table(names, name, columns, kept, len(rows))


def _choose_sheet(wanted: str | None, names: Sequence[str]) -> str:
    if not names:
        raise NotReadable("has no sheets")
    if wanted is not None and wanted not in names:
        raise NotReadable(f"has no sheet {wanted[:100]!r}")
    return names[0] if wanted is None else wanted


def _package(content: bytes) -> Package:
    package = Package(content)
    package.reject_doctypes()
    return package


def _table(
    sheets: tuple[str, ...], sheet: str, columns: int, rows: Sequence[tuple[Cell, ...]], total: int
) -> TableRows:
    return TableRows(
        sheets=sheets,
        sheet=sheet,
        columns=min(columns, MAX_COLUMNS),
        left_out=max(0, columns - MAX_COLUMNS),
        rows=tuple(rows),
        total=total,
    )


def _display_row(row: Sequence[Any]) -> tuple[Cell, ...]:
    return tuple(_cell(value) for value in _cells(row)[:MAX_COLUMNS])


def _cells(row: Sequence[Any]) -> Sequence[Any]:
    """Without those at the end that hold nothing."""
    end = len(row)
    while end and row[end - 1] == "":
        end -= 1
    return row[:end]


def _cell(value: Any) -> Cell:
    match value:
        case "" | None:
            return None
        case bool() | int():
            return value
        case float():
            return _number(value)
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
        case date() | time():
            return value.isoformat()
        case _:
            text = str(value)
            return text if len(text) <= MAX_CELL_CHARS else text[:MAX_CELL_CHARS] + "…"


def _number(value: float) -> Cell:
    """A workbook has only one kind of numbers; what counts something is shown without a point. What JSON has no number
    for is a text."""
    if not math.isfinite(value):
        return str(value)
    return int(value) if value.is_integer() and abs(value) < _MAX_EXACT_INTEGER else value
