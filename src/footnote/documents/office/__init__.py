"""Office documents as text, with their links: a reader for each media type."""

# ruff: noqa: PLC0415 - each reader is loaded with the first file of its kind

from collections.abc import Callable

from footnote.documents.media import DOCX, ODS, ODT, PPTX, XLSX
from footnote.documents.office.inlines import LinkedText
from footnote.documents.office.package import DocumentMetadata, Package


def _word(content: bytes) -> tuple[LinkedText, DocumentMetadata]:
    from footnote.documents.office import word

    return word.read(Package(content))


def _slides(content: bytes) -> tuple[LinkedText, DocumentMetadata]:
    from footnote.documents.office import slides

    return slides.read(Package(content))


def _sheets(content: bytes) -> tuple[LinkedText, DocumentMetadata]:
    from footnote.documents.office import sheets

    return sheets.read(Package(content), content)


def _open_text(content: bytes) -> tuple[LinkedText, DocumentMetadata]:
    from footnote.documents.office import opendocument

    return opendocument.read(Package(content))


OFFICE_READERS: dict[str, Callable[[bytes], tuple[LinkedText, DocumentMetadata]]] = {
    DOCX: _word,
    ODT: _open_text,
    PPTX: _slides,
    XLSX: _sheets,
    ODS: _sheets,
}
