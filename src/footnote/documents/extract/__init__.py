"""From the bytes of a page to its text: markdown, with the facts that the page tells about itself."""

# ruff: noqa: PLC0415 - each reader is loaded with the first document of its kind; most searches meet HTML alone

import re

from footnote.documents.extract.document import MAX_CHARACTERS, ExtractedPage, UnreadableDocument, normalize_nfc
from footnote.documents.extract.media_type import Kind, detect_kind

__all__ = ["ExtractedPage", "UnreadableDocument", "extract"]

_TAG = re.compile(r"<[a-zA-Z!/?]")


def extract(body: bytes, content_type: str, url: str, *, max_characters: int = MAX_CHARACTERS) -> ExtractedPage:
    """The text of a document of any kind that has one; raises `Unreadable` for all others. `most`: the characters that
    are kept of a PDF or an Office document, which may be a book."""
    return normalize_nfc(_extract_by_kind(body, content_type, url, max_characters))


def _extract_by_kind(body: bytes, content_type: str, url: str, max_characters: int) -> ExtractedPage:
    if not body.strip(b"\0\t\n\r "):
        raise UnreadableDocument("empty", "there is nothing in it")
    kind = detect_kind(body, content_type, url)
    if kind is None:
        raise UnreadableDocument("media_type", "it is no text: an image, an archive or a program")
    if kind is Kind.PDF:
        try:
            from footnote.documents.extract import pdf
        except ImportError:
            raise UnreadableDocument("media_type", 'reading PDF needs pip install "footnote[documents]"') from None
        return pdf.read(body, max_characters)
    if kind is Kind.OFFICE:
        from footnote.documents.extract import office

        return office.read(body, max_characters)
    from footnote.documents.extract.charset import decode

    return _read_text(kind, decode(body, content_type), url)


def _read_text(kind: Kind, text: str, url: str) -> ExtractedPage:
    if kind is Kind.HTML and _TAG.search(text):
        from footnote.documents.extract import html

        return html.read(text, url)
    if kind is Kind.XML:
        from footnote.documents.extract import feeds

        return feeds.read(text, url)
    from footnote.documents.extract import plain

    return plain.read(kind, text)
