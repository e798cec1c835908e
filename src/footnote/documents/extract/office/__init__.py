"""Office documents as text, with their links: a reader for each media type."""

# ruff: noqa: PLC0415 - each reader is loaded with the first file of its kind

from collections.abc import Callable

from footnote.documents.extract import ExtractedPage, UnreadableDocument
from footnote.documents.extract.office.inlines import LinkedText, links_of, normalize_text
from footnote.documents.extract.office.package import DocumentMetadata, NotReadable, Package
from footnote.documents.media import DOCX, ODS, ODT, PPTX, XLSX


def _word(content: bytes) -> tuple[LinkedText, DocumentMetadata]:
    from footnote.documents.extract.office import word

    return word.read(Package(content))


def _slides(content: bytes) -> tuple[LinkedText, DocumentMetadata]:
    from footnote.documents.extract.office import slides

    return slides.read(Package(content))


def _sheets(content: bytes) -> tuple[LinkedText, DocumentMetadata]:
    from footnote.documents.extract.office import sheets

    return sheets.read(Package(content), content)


def _open_text(content: bytes) -> tuple[LinkedText, DocumentMetadata]:
    from footnote.documents.extract.office import opendocument

    return opendocument.read(Package(content))


OFFICE_READERS: dict[str, Callable[[bytes], tuple[LinkedText, DocumentMetadata]]] = {
    DOCX: _word,
    ODT: _open_text,
    PPTX: _slides,
    XLSX: _sheets,
    ODS: _sheets,
}


_MAIN_PARTS = {"word/document": DOCX, "xl/workbook": XLSX, "ppt/presentation": PPTX}
_MAX_MIMETYPE = 200


def read(body: bytes, max_characters: int) -> ExtractedPage:
    try:
        kind = _kind(Package(body))
        if kind is None:
            raise UnreadableDocument("media_type", "it is an archive, and no document")
        line, facts = OFFICE_READERS[kind](body)
    except NotReadable as error:
        raise UnreadableDocument("unreadable", f"it {error.reason}") from error
    except ImportError:
        raise UnreadableDocument(
            "media_type", 'reading Office documents needs pip install "footnote[documents]"'
        ) from None
    if not line.text.strip():
        raise UnreadableDocument("empty", "there is no text in it")
    text = line.text[:max_characters]
    return ExtractedPage(
        text=text,
        title=normalize_text(facts.title),
        author=facts.author and normalize_text(facts.author),
        published=facts.published,
        media_type=kind,
        links=links_of(line, len(text)),
        cut=len(text) < len(line.text),
    )


def _kind(package: Package) -> str | None:
    for main, kind in _MAIN_PARTS.items():
        if any(name.startswith(main) and name.endswith(".xml") for name in package.names):
            return kind
    declared = b"".join(package.read_chunks("mimetype"))[:_MAX_MIMETYPE].decode("ascii", "replace").strip()
    # The type that LibreOffice gives to a text made from a web page is `text-web`.
    return next((kind for kind in (ODT, ODS) if declared in (kind, f"{kind}-web")), None)
