"""From the bytes of a document to its text as markdown, and its metadata."""

# ruff: noqa: PLC0415 - each reader is loaded with the first document of its kind; most searches meet HTML alone

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from msgspec.structs import replace

from footnote.documents.media import Kind, detect_kind
from footnote.protocol.sources import Link, PageFailure
from footnote.sandbox.jobs import ExtractedPage

__all__ = ["MAX_CHARACTERS", "ExtractedPage", "UnreadableDocument", "extract", "normalize_nfc"]

MAX_CHARACTERS = 400_000
"""A long book: the limit for what is stored of a document, searched in it and shown of it."""
_TAG = re.compile(r"<[a-zA-Z!/?]")


class UnreadableDocument(Exception):
    """A document has no text that can be extracted. `reason` is half a sentence that goes on from its name."""

    def __init__(self, failure: PageFailure, reason: str) -> None:
        super().__init__(reason)
        self.failure: PageFailure = failure
        self.reason = reason


def extract(body: bytes, content_type: str, url: str, *, max_characters: int = MAX_CHARACTERS) -> ExtractedPage:
    """The text of a document of any supported kind; raises `UnreadableDocument`. `max_characters` limits the text of a
    PDF or an Office document, which may be a book."""
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
    from footnote.documents.charset import decode

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


def normalize_nfc(extracted: ExtractedPage) -> ExtractedPage:
    """The page in Unicode NFC, with all offsets shifted accordingly. A page may write letters and their diacritics as
    separate characters; a query has them composed, and would find nothing."""
    text = extracted.text
    facts = {name: _nfc(getattr(extracted, name)) for name in ("title", "author", "site_name")}
    if unicodedata.is_normalized("NFC", text):
        return replace(extracted, **facts)
    links, pages = extracted.links, extracted.pages
    shifted = _map_offsets(text, {*pages, *(end for link in links for end in (link.start, link.end))})
    return replace(
        extracted,
        **facts,
        text=_nfc(text),
        links=tuple(Link(link.url, shifted[link.start], shifted[link.end]) for link in links),
        pages=tuple(shifted[page] for page in pages),
    )


def _nfc(text: str | None) -> str | None:
    return text and unicodedata.normalize("NFC", text)


def _map_offsets(text: str, offsets: Iterable[int]) -> dict[int, int]:
    """Each offset before and after composing, counted from the beginning of its line: nothing composes across lines."""
    lines = text.split("\n")
    before = [0, *accumulate(len(line) + 1 for line in lines)]
    after = [0, *accumulate(len(unicodedata.normalize("NFC", line)) + 1 for line in lines)]
    shifted: dict[int, int] = {}
    last = at = composed = 0  # the line of the previous offset, that offset before, and after composing
    for offset in sorted(offsets):
        line = bisect_right(before, offset, hi=len(lines)) - 1
        if line != last:
            last, at, composed = line, before[line], after[line]
        end = offset
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        # Only the text since the previous offset, so that a long line with many links is read once.
        composed += len(unicodedata.normalize("NFC", text[at:end]))
        at = max(at, end)
        shifted[offset] = min(composed, after[line + 1] - 1)
    return shifted
