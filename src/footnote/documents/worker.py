"""What a sandboxed process does for each kind of job. Only the fork server imports this, by name."""

# ruff: noqa: PLC0415 - what a job needs is loaded in the process that does it, and may not be installed

import contextlib
import importlib
from typing import IO

from footnote.protocol.errors import Unworkable, WrongKind
from footnote.sandbox.jobs import (
    Conversion,
    Extraction,
    ImageCheck,
    Inspection,
    Job,
    Listing,
    NotExtracted,
    Reading,
    Refused,
    Result,
    Tabling,
    Unpacking,
)

# A confined process may read the folders of packages that were loaded before; the fonts lie in one of them.
with contextlib.suppress(ImportError):
    importlib.import_module("footnote_fonts")

_PAGE_READERS = ("extract.html", "extract.feeds", "extract.plain", "extract.pdf")
_OFFICE_READERS = ("office.word", "office.slides", "office.sheets", "office.open_text")
_INSPECTION = ("inspection.inspection", "pictures")
_MODULES: dict[type[Job], tuple[str, ...]] = {
    Conversion: ("markdown", "pdf", "docx"),
    Reading: ("reading", *_PAGE_READERS, *_OFFICE_READERS),
    Tabling: ("reading.tables", "office.sheets"),
    Extraction: ("extract", *_PAGE_READERS),
    **dict.fromkeys((Inspection, Listing, Unpacking, ImageCheck), _INSPECTION),
}
_SAMPLE = (
    b"<!doctype html><title>A page</title><article><h1>A page</h1><p>It says <a href=/x>something</a>.</p></article>"
)


def preload(kind: type[Job]) -> None:
    """Loads the parsers of a kind of job, so that no job has to."""
    missing: ImportError | None = None
    for name in _MODULES[kind]:
        try:
            importlib.import_module(f"footnote.documents.{name}")
        except ImportError as error:  # an optional package: the others are still loaded
            missing = error
    if missing is not None:
        raise missing
    if kind is Conversion:
        from footnote.documents.docx import prepare
        from footnote.documents.fonts import fonts

        fonts()
        prepare()
    elif kind is Extraction:
        # What a first page builds, such as tables and compiled expressions, is then there for every other.
        from footnote.documents.extract import extract

        extract(_SAMPLE, "text/html", "https://page.example/")


def run(job: Job, file: IO[bytes] | None = None) -> Result:
    match job:
        case Extraction():
            return _extracted(job)
        case Reading():
            from footnote.documents.reading import text_of

            return text_of(job)
        case Tabling():
            from footnote.documents.reading.tables import table_of

            return table_of(job)
        case Conversion():
            return _converted(job)
        case ImageCheck():
            from footnote.documents.pictures import facts_of

            return facts_of(job.content)
        case Inspection() | Listing() | Unpacking():
            if file is None:
                raise ValueError("a job about a file comes with the file")
            return _inspected(job, file)


def _extracted(job: Extraction) -> Result:
    from footnote.documents.extract import Unreadable, extract

    try:
        return extract(job.content, job.content_type, job.url)
    except Unreadable as error:
        return NotExtracted(error.failure, error.reason)


def _converted(job: Conversion) -> Result:
    from footnote.documents.markdown import document_of

    document = document_of(job)
    if isinstance(document, Refused):
        return document
    if job.target == "pdf":
        from footnote.documents.pdf import pdf_of

        return pdf_of(document, job)
    from footnote.documents.docx import docx_of

    return docx_of(document, job)


def _inspected(job: Inspection | Listing | Unpacking, file: IO[bytes]) -> Result:
    from footnote.documents.inspection.archives import list_entries, unpack
    from footnote.documents.inspection.inspection import inspect

    try:
        match job:
            case Inspection():
                return inspect(file, job.filename)
            case Listing():
                return list_entries(file, job.filename)
            case Unpacking():
                return unpack(file, job.entry)
    except WrongKind as error:
        return Refused(error.message, is_wrong_kind=True)
    except Unworkable as error:
        return Refused(error.message, is_hostile=True)
