"""What a sandboxed process does for each kind of job. Only the fork server imports this, by name."""

# ruff: noqa: PLC0415 - what a job needs is loaded in the process that does it, and may not be installed

import contextlib
import importlib
from typing import IO

from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.sandbox.jobs import (
    ConvertDocument,
    ExtractionFailed,
    ExtractPage,
    ImageCheck,
    Inspection,
    Job,
    JobRefused,
    ListArchive,
    ReadTable,
    ReadText,
    Result,
    UnpackArchive,
)

# A confined process may read the folders of packages that are already imported; the fonts are in this one.
with contextlib.suppress(ImportError):
    importlib.import_module("footnote_fonts")

_PAGE_READERS = ("extract.html", "extract.feeds", "extract.plain", "extract.pdf")
_OFFICE_READERS = tuple(f"extract.office.{name}" for name in ("word", "slides", "sheets", "opendocument"))
_INSPECTION = ("inspection", "inspection.archives", "images")
_MODULES: dict[type[Job], tuple[str, ...]] = {
    ConvertDocument: ("markdown", "out.pdf", "out.docx"),
    ReadText: ("extract.upload", *_PAGE_READERS, *_OFFICE_READERS),
    ReadTable: ("extract.upload", "extract.office.sheets"),
    ExtractPage: ("extract", *_PAGE_READERS),
    **dict.fromkeys((Inspection, ListArchive, UnpackArchive, ImageCheck), _INSPECTION),
}
_SAMPLE = (
    b"<!doctype html><title>A page</title><article><h1>A page</h1><p>It says <a href=/x>something</a>.</p></article>"
)


def preload(kind: type[Job]) -> None:
    """Imports the parsers of a kind of job in the fork server, so that its children need not."""
    missing: ImportError | None = None
    for name in _MODULES[kind]:
        try:
            importlib.import_module(f"footnote.documents.{name}")
        except ImportError as error:  # an optional package: the others are still loaded
            missing = error
    if missing is not None:
        raise missing
    if kind is ConvertDocument:
        from footnote.documents.out.docx import prepare
        from footnote.documents.out.typesetter import load_fonts

        load_fonts()
        prepare()
    elif kind is ExtractPage:
        # Builds tables and compiled expressions once for all forked processes.
        from footnote.documents.extract import extract

        extract(_SAMPLE, "text/html", "https://page.example/")


def run(job: Job, file: IO[bytes] | None = None) -> Result:
    match job:
        case ExtractPage():
            return _extract(job)
        case ReadText():
            from footnote.documents.extract.upload import read_text

            return read_text(job)
        case ReadTable():
            from footnote.documents.extract.upload import read_table

            return read_table(job)
        case ConvertDocument():
            return _convert(job)
        case ImageCheck():
            from footnote.documents.images import image_facts

            return image_facts(job.content)
        case Inspection() | ListArchive() | UnpackArchive():
            if file is None:
                raise ValueError("a job about a file comes with the file")
            return _inspect(job, file)


def _extract(job: ExtractPage) -> Result:
    from footnote.documents.extract import UnreadableDocument, extract

    try:
        return extract(job.content, job.content_type, job.url)
    except UnreadableDocument as error:
        return ExtractionFailed(error.failure, error.reason)


def _convert(job: ConvertDocument) -> Result:
    from footnote.documents.markdown import parse_document

    document = parse_document(job)
    if isinstance(document, JobRefused):
        return document
    if job.target == "pdf":
        from footnote.documents.out.pdf import render_pdf

        return render_pdf(document, job)
    from footnote.documents.out.docx import render_docx

    return render_docx(document, job)


def _inspect(job: Inspection | ListArchive | UnpackArchive, file: IO[bytes]) -> Result:
    from footnote.documents.inspection import inspect
    from footnote.documents.inspection.archives import list_entries, unpack

    try:
        match job:
            case Inspection():
                return inspect(file, job.filename)
            case ListArchive():
                return list_entries(file, job.filename)
            case UnpackArchive():
                return unpack(file, job.entry)
    except WrongKind as error:
        return JobRefused(error.message, is_wrong_kind=True, code=error.code, params=error.params)
    except UnprocessableFile as error:
        return JobRefused(error.message, is_hostile=True, code=error.code, params=error.params)
