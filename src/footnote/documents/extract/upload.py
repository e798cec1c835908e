"""Uploaded files: the text of a document, and the rows of a table. This runs in the sandbox."""

# ruff: noqa: PLC0415 - the reader of workbooks is loaded with the first of them, and may not be installed

import io
import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

from footnote.documents.charset import decode
from footnote.documents.extract import UnreadableDocument, extract
from footnote.documents.extract.office import OFFICE_READERS
from footnote.documents.extract.office.inlines import links_of, normalize_text
from footnote.documents.extract.office.package import ENTITIES_REASON, NotReadable, Package
from footnote.documents.extract.plain import detect_delimiter, read_rows
from footnote.documents.inspection import no_text_reason
from footnote.protocol.files import Cell
from footnote.sandbox.jobs import DocumentText, JobRefused, ReadTable, ReadText, TableRows

MAX_CHARACTERS = 2_000_000

_HALVES = re.compile("[\ud800-\udfff\0]")
_ENTITY = re.compile(r"<!ENTITY\s+(?:%\s+)?[^\s>]{1,200}\s+(?:(SYSTEM|PUBLIC)\b|\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_MAX_ENTITY_CHARS = 1_000
_XML = frozenset(("application/xml", "text/xml", "image/svg+xml"))


def read_text(job: ReadText) -> DocumentText | JobRefused:
    try:
        return _read_text(job)
    except NotReadable as error:
        return JobRefused(
            f"{job.filename} {error.reason}.",
            is_hostile=error.is_hostile,
            code="file_unreadable",
            params={"name": job.filename, "reason": error.reason},
        )


def _read_text(job: ReadText) -> DocumentText:
    media_type = job.media_type
    if not job.content:
        return DocumentText(text="")
    if reason := no_text_reason(media_type):
        return DocumentText(text=None, reason=reason)
    if media_type in OFFICE_READERS:
        return _read_office(job)
    if media_type in ("application/pdf", "text/html"):
        return _read_page(job)
    return _read_plain(job)


# Office documents -----------------------------------------------------------------------------------------------------


def _read_office(job: ReadText) -> DocumentText:
    line, facts = OFFICE_READERS[job.media_type](job.content)
    if not line.text:
        return DocumentText(text=None, reason="there is no text in it")
    text = line.text[:MAX_CHARACTERS]
    return DocumentText(
        text=text,
        title=normalize_text(facts.title),
        author=facts.author and normalize_text(facts.author),
        published=facts.published,
        links=links_of(line, len(text)),
        cut=len(text) < len(line.text),
    )


# Pages and texts ------------------------------------------------------------------------------------------------------


def _read_page(job: ReadText) -> DocumentText:
    is_pdf = job.media_type == "application/pdf"
    try:
        page = extract(job.content, job.media_type, "", max_characters=MAX_CHARACTERS)
    except UnreadableDocument as error:
        if not is_pdf:
            return _read_plain(job)
        if error.failure == "empty":
            return DocumentText(text=None, reason="it is a scan: its pages are pictures, without text")
        if error.failure == "media_type":
            raise ModuleNotFoundError(error.reason) from error
        raise NotReadable(f"cannot be read: {error.reason}") from error
    return DocumentText(
        text=page.text,
        title=page.title,
        author=page.author,
        published=page.published,
        language=page.language,
        links=page.links,
        pages=page.pages,
        cut=page.cut,
    )


def _read_plain(job: ReadText) -> DocumentText:
    """The unchanged text, decoded."""
    text = _HALVES.sub("", decode(job.content, ""))
    if job.media_type in _XML:
        _check_entities(text)
    return DocumentText(text=text[:MAX_CHARACTERS], cut=len(text) > MAX_CHARACTERS)


def _check_entities(text: str) -> None:
    """Old drawing programs declare entities for URLs. An entity that refers to others, or to a file, is hostile."""
    for external, double_quoted, single_quoted in _ENTITY.findall(text):
        value = double_quoted or single_quoted
        if external or "&" in value or "%" in value or len(value) > _MAX_ENTITY_CHARS:
            raise NotReadable(f"{ENTITIES_REASON}. Remove its DOCTYPE", is_hostile=True)


# Tables ---------------------------------------------------------------------------------------------------------------

MAX_COLUMNS = 500
MAX_CELL_CHARS = 2_000
"""Longer cells are cut."""
MAX_TABLE_CHARS = 10_000_000
"""Limit for all rows of one request."""
_ZIP = b"PK"
_ENCRYPTED_MARKER = "EncryptedPackage\0".encode("utf-16-le")
_MAX_EXACT_INTEGER = 1e15


def read_table(job: ReadTable) -> TableRows | JobRefused:
    try:
        table = _read_workbook(job) if job.form == "workbook" else _read_delimited(job)
    except NotReadable as error:
        return JobRefused(
            f"{job.filename} {error.reason}.",
            code="table_unreadable",
            params={"name": job.filename, "reason": error.reason},
        )
    if sum(len(cell) for row in table.rows for cell in row if isinstance(cell, str)) > MAX_TABLE_CHARS:
        return JobRefused(
            f"{job.filename} holds too much text to be shown as a table: download it.",
            code="table_too_long",
            params={"name": job.filename},
        )
    return table


def _read_delimited(job: ReadTable) -> TableRows:
    """Cells stay texts: a number with a leading zero may be a telephone number."""
    text = decode(job.content, "")
    delimiter = "\t" if job.form == "tsv" else detect_delimiter(text)
    end = job.offset + job.limit
    selected: list[tuple[Cell, ...]] = []
    columns = total = 0
    for row in read_rows(text, delimiter):
        columns = max(columns, len(row))
        if job.offset <= total < end:
            selected.append(_display_row(row))
        total += 1
    return _table((), "", columns, selected, total)


def _read_workbook(job: ReadTable) -> TableRows:
    from python_calamine import CalamineError, CalamineWorkbook

    from footnote.documents.extract.office.sheets import MAX_SPANNED_CELLS, cell_ranges

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
            # Rows and columns count from the first cell of the sheet, as in every program, unless there are too many.
            is_near = (bottom + 1) * (right + 1) <= MAX_SPANNED_CELLS
            rows = sheet.to_python(skip_empty_area=not is_near)
    except (CalamineError, OSError, ValueError) as error:
        raise NotReadable("is damaged: its sheets cannot be read") from error
    while rows and all(cell == "" for cell in rows[-1]):
        rows.pop()
    columns = max((len(_cells(row)) for row in rows), default=0)
    selected = [_display_row(row) for row in rows[job.offset : job.offset + job.limit]]
    return _table(names, name, columns, selected, len(rows))


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
    """Without empty cells at the end."""
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
    """All numbers of a workbook are floats; whole ones become integers. Numbers that JSON lacks become texts."""
    if not math.isfinite(value):
        return str(value)
    return int(value) if value.is_integer() and abs(value) < _MAX_EXACT_INTEGER else value
