"""Which kind of document a body is: by what the server says, by its beginning where the two disagree."""

import re
from enum import Enum, auto
from urllib.parse import urlsplit

from footnote.documents.media import WHOLE_BODY_TYPES, media_type
from footnote.documents.wide_encodings import to_utf_8


class Kind(Enum):
    HTML = auto()
    XML = auto()
    PDF = auto()
    TEXT = auto()
    MARKDOWN = auto()
    JSON = auto()
    CSV = auto()
    TSV = auto()
    OFFICE = auto()


_KIND_BY_TYPE = {
    "text/html": Kind.HTML,
    "application/xhtml+xml": Kind.HTML,
    "application/pdf": Kind.PDF,
    "application/x-pdf": Kind.PDF,
    "text/markdown": Kind.MARKDOWN,
    "text/x-markdown": Kind.MARKDOWN,
    "text/csv": Kind.CSV,
    "text/tab-separated-values": Kind.TSV,
    "application/json": Kind.JSON,
    "text/json": Kind.JSON,
    "application/x-ndjson": Kind.JSON,
    "text/xml": Kind.XML,
    "application/xml": Kind.XML,
}
_KIND_BY_SUFFIX = {
    ".md": Kind.MARKDOWN,
    ".markdown": Kind.MARKDOWN,
    ".csv": Kind.CSV,
    ".tsv": Kind.TSV,
    ".json": Kind.JSON,
    ".jsonl": Kind.JSON,
    ".xml": Kind.XML,
    ".rss": Kind.XML,
    ".atom": Kind.XML,
}
_BINARY_SIGNATURES = (
    *(
        b"\x89PNG\r\n",
        b"\xff\xd8\xff",
        b"GIF87a",
        b"GIF89a",
        b"II*\0",
        b"MM\0*",
        b"\0\0\1\0",
        b"OggS",
        b"ID3\3",
        b"ID3\4",
        b"\0asm",
    ),
    *(b"PK\3\4", b"PK\5\6", b"\x1f\x8b", b"BZh9", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd"),
    *(b"\x7fELF", b"MZ\x90", b"\xd0\xcf\x11\xe0", b"\xca\xfe\xba\xbe", b"wOFF", b"wOF2"),
)
# A comment, once read, is not read in another way: a page of comments would be tried in all ways that there are.
_HTML = re.compile(rb"(?><!--.{0,2000}?-->\s*)*+<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_FEED = re.compile(rb"(?:<\?xml|<rss|<feed|<rdf:RDF)\b.{0,1000}", re.DOTALL)
_FEED_ROOT = re.compile(rb"<(?:rss|feed|rdf:RDF)\b")
_XHTML_ROOT = re.compile(
    rb"<\?xml\b[^>]*>\s*(?><!--.{0,2000}?-->\s*|<\?[^>]*>\s*)*+<(?:!doctype\s+)?html\b", re.IGNORECASE | re.DOTALL
)
_JSON = re.compile(rb'\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}\s*$)|\[\s*(?:[{"]|\[\s*[\[{"\d-]|-?[\d.]+\s*(?:,|\]\s*$))')
_CONTROL = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b"))
"""Hardly found in text, ten in a hundred bytes of anything that is compressed."""
_BEGINNING = 4096


def detect_kind(body: bytes, content_type: str, url: str) -> Kind | None:
    """None: no text of any kind."""
    declared = media_type(content_type)
    kind = _declared_kind(declared)
    if whole := _binary_kind(body, declared, kind):
        return whole
    if body.startswith(_BINARY_SIGNATURES) or declared.startswith(("image/", "audio/", "video/", "font/")):
        return None
    beginning = to_utf_8(body[:_BEGINNING], content_type).lstrip()
    if (len(beginning) - len(beginning.translate(None, _CONTROL)) - 1) * 50 > len(beginning):
        return None
    if kind in (None, Kind.TEXT, Kind.PDF):
        kind = _KIND_BY_SUFFIX.get(_ending(url)) if kind is not Kind.PDF else None
        return _sniff_kind(beginning) or kind or Kind.TEXT
    if kind in (Kind.HTML, Kind.XML):
        return _sniff_kind(beginning) or kind
    return kind


def _binary_kind(body: bytes, declared: str, kind: Kind | None) -> Kind | None:
    """Documents that are no text by themselves."""
    if body.startswith(b"%PDF-") or (kind in (None, Kind.PDF) and b"%PDF-" in body[:1024]):
        return Kind.PDF
    return Kind.OFFICE if body.startswith(b"PK\3\4") and declared in WHOLE_BODY_TYPES else None


def _declared_kind(media: str) -> Kind | None:
    if media in _KIND_BY_TYPE:
        return _KIND_BY_TYPE[media]
    if media.endswith("+xml"):
        return Kind.XML
    if media.endswith("+json"):
        return Kind.JSON
    return Kind.TEXT if media.startswith("text/") else None


def _sniff_kind(beginning: bytes) -> Kind | None:
    """Where a document begins as only one kind does, that is what it is, whatever the server says."""
    if _HTML.match(beginning) or _XHTML_ROOT.match(beginning):
        return Kind.HTML
    feed = _FEED.match(beginning)
    if feed and _FEED_ROOT.search(feed[0]):
        return Kind.XML
    if beginning.startswith(b"<?xml"):
        return Kind.XML
    if _JSON.match(beginning):
        return Kind.JSON
    return None


def _ending(url: str) -> str:
    try:
        name = urlsplit(url).path.rpartition("/")[2].lower()
    except ValueError:
        return ""
    dot = name.rfind(".")
    return name[dot:] if dot > 0 else ""
