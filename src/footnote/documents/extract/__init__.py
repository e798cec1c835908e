"""From the bytes of a page to its text: markdown, with the facts that the page tells about itself."""

# ruff: noqa: PLC0415 - each reader is loaded with the first document of its kind; most searches meet HTML alone

import re

from footnote.documents.extract.document import MAX_CHARACTERS, Extracted, Unreadable, composed
from footnote.documents.extract.kinds import Kind, kind_of

__all__ = ["Extracted", "Unreadable", "extract"]

_TAG = re.compile(r"<[a-zA-Z!/?]")


def extract(body: bytes, content_type: str, url: str, *, most: int = MAX_CHARACTERS) -> Extracted:
    """The text of a document of any kind that has one; raises `Unreadable` for all others. `most`: the characters that
    are kept of a PDF or an Office document, which may be a book."""
    return composed(_taken_apart(body, content_type, url, most))


def _taken_apart(body: bytes, content_type: str, url: str, most: int) -> Extracted:
    if not body.strip(b"\0\t\n\r "):
        raise Unreadable("empty", "there is nothing in it")
    kind = kind_of(body, content_type, url)
    if kind is None:
        raise Unreadable("media_type", "it is no text: an image, an archive or a program")
    if kind is Kind.PDF:
        try:
            from footnote.documents.extract import pdf
        except ImportError:
            raise Unreadable("media_type", 'reading PDF needs pip install "footnote[documents]"') from None
        return pdf.read(body, most)
    if kind is Kind.OFFICE:
        from footnote.documents.extract import office

        return office.read(body, most)
    from footnote.documents.extract.charset import decode

    return _read(kind, decode(body, content_type), url)


def _read(kind: Kind, text: str, url: str) -> Extracted:
    if kind is Kind.HTML and _TAG.search(text):
        from footnote.documents.extract import html

        return html.read(text, url)
    if kind is Kind.XML:
        from footnote.documents.extract import feeds

        return feeds.read(text, url)
    from footnote.documents.extract import plain

    return plain.read(kind, text)
