"""What kind of file something is: by the declared media type, by the suffix of its name, and by its first bytes."""

import re
from enum import Enum, auto
from urllib.parse import urlsplit

from msgspec import Struct

from footnote.documents.charset import detect_wide_encoding, to_utf_8

ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.5"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
PACKAGE = "application/zip"
"""The type of a body that may be any Office document: its parts tell which one."""
WHOLE_BODY_TYPES = frozenset((PDF, DOCX, XLSX, PPTX, ODT, ODS, PACKAGE))
"""Types that cannot be read from a truncated body."""

_OFFICE = {".docx": DOCX, ".xlsx": XLSX, ".pptx": PPTX, ".odt": ODT, ".ods": ODS}
_ZIP = b"PK\3\4"
_ZIPPED = frozenset((PACKAGE, "application/x-zip-compressed", "application/x-zip"))
_OFFICE_PARTS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"xl/", b"ppt/")

_READABLE = frozenset(
    {
        *("text/html", "application/xhtml+xml", "text/xml", "application/xml"),
        *("text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/tab-separated-values"),
        *("application/json", "text/json", "application/x-ndjson", "application/pdf", "application/x-pdf"),
    }
)
_UNSPECIFIED_TYPES = frozenset(
    {
        *("", "unknown", "application/octet-stream", "binary/octet-stream", "application/x-download"),
        *("application/download", "application/force-download", "application/x-force-download"),
    }
)
_OLD_OFFICE = frozenset(("application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"))
"""Formats before 2007, which are not read. Many servers send newer formats and HTML with these types."""


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def is_readable(content_type: str, url: str = "") -> bool:
    """Whether the body should be downloaded: its type is text, or unknown until its first bytes are there. A zip file
    only if its suffix is that of an Office document."""
    kind = media_type(content_type)
    if kind in _ZIPPED:
        return _type_by_suffix(url) is not None
    return (
        kind in _OFFICE.values()
        or kind in _READABLE | _UNSPECIFIED_TYPES | _OLD_OFFICE
        or (kind.endswith(("+xml", "+json")) and not kind.startswith("image/"))
    )


def sniff_type(content_type: str, beginning: bytes, url: str = "") -> str | None:
    """The content type, by the first bytes of the body where the server declares none or a wrong one. None: the body is
    not a document, as far as its beginning shows."""
    declared = media_type(content_type)
    if beginning.startswith(b"%PDF-"):
        return PDF
    if beginning.startswith(_ZIP):
        return _package_type(declared, beginning, url)
    if declared in _OLD_OFFICE:
        return "text/html" if beginning.lstrip().startswith(b"<") else None
    if declared not in _UNSPECIFIED_TYPES and declared not in _OFFICE.values() and declared not in _ZIPPED:
        return content_type
    if b"\0" in beginning and detect_wide_encoding(beginning, content_type) is None:
        return None
    return "text/html" if to_utf_8(beginning, content_type).lstrip()[:1] == b"<" else "text/plain"


def _package_type(declared: str, beginning: bytes, url: str) -> str | None:
    """The type of a zip file: by the declared type, by the suffix, by the name of its first part."""
    if declared in _OFFICE.values():
        return declared
    if named := _type_by_suffix(url):
        return named
    # The name of the first part begins at 30; OpenDocument puts its type there.
    content = beginning[30:].removeprefix(b"mimetype")
    open_document = next((kind for kind in (ODT, ODS) if content.startswith(kind.encode())), None)
    return open_document or (PACKAGE if beginning[30:].startswith(_OFFICE_PARTS) else None)


def _type_by_suffix(url: str) -> str | None:
    try:
        path = urlsplit(url).path.lower()
    except ValueError:
        return None
    return next((kind for suffix, kind in _OFFICE.items() if path.endswith(suffix)), None)


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
# Atomic groups: without them, a page of comments would be matched again in every possible way.
_HTML = re.compile(rb"(?><!--.{0,2000}?-->\s*)*+<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_FEED = re.compile(rb"(?:<\?xml|<rss|<feed|<rdf:RDF)\b.{0,1000}", re.DOTALL)
_FEED_ROOT = re.compile(rb"<(?:rss|feed|rdf:RDF)\b")
_XHTML_ROOT = re.compile(
    rb"<\?xml\b[^>]*>\s*(?><!--.{0,2000}?-->\s*|<\?[^>]*>\s*)*+<(?:!doctype\s+)?html\b", re.IGNORECASE | re.DOTALL
)
_JSON = re.compile(rb'\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}\s*$)|\[\s*(?:[{"]|\[\s*[\[{"\d-]|-?[\d.]+\s*(?:,|\]\s*$))')
_CONTROL = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b"))
"""Hardly found in text; a tenth of all bytes in compressed data."""
_BEGINNING = 4096


def detect_kind(body: bytes, content_type: str, url: str) -> Kind | None:
    """The kind of a document; None: it has no text."""
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
    """PDF and Office documents, which are not text themselves."""
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
    """The kind by an unmistakable beginning, which overrides the declared type."""
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


# Signatures: the type of a file by its first bytes --------------------------------------------------------------------

EXECUTABLE_TYPES = frozenset(
    (
        "application/x-msdownload",
        "application/x-elf",
        "application/x-mach-binary",
        "application/wasm",
        "application/x-ms-shortcut",
    )
)
"""Types that run, or start another program, when they are opened."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "a PNG image"),
    (b"\xff\xd8\xff", "image/jpeg", "a JPEG image"),
    (b"GIF87a", "image/gif", "a GIF image"),
    (b"GIF89a", "image/gif", "a GIF image"),
    (b"II*\0", "image/tiff", "a TIFF image"),
    (b"MM\0*", "image/tiff", "a TIFF image"),
    (b"\0\0\1\0", "image/x-icon", "an icon"),
    (b"PK\x03\x04", "application/zip", "a zip file"),
    (b"PK\x05\x06", "application/zip", "a zip file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage", "an old Office document"),
    (b"ID3", "audio/mpeg", "sound"),
    (b"fLaC", "audio/flac", "sound"),
    (b"OggS", "audio/ogg", "sound"),
    (b"MThd", "audio/midi", "sound"),
    (b"#!AMR", "audio/amr", "sound"),
    (b"\xff\xf1", "audio/aac", "sound"),
    (b"\xff\xf9", "audio/aac", "sound"),
    (b"\x1aE\xdf\xa3", "video/webm", "a video"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf", "a video"),
    (b"\0\0\1\xba", "video/mpeg", "a video"),
    (b"\0\0\1\xb3", "video/mpeg", "a video"),
    (b"\x7fELF", "application/x-elf", "a program for Linux"),
    (b"\0asm", "application/wasm", "a program"),
    # The size of the header, and the class id of a shell link.
    (b"L\0\0\0\x01\x14\x02\0\0\0\0\0\xc0\0\0\0\0\0\0F", "application/x-ms-shortcut", "a shortcut of Windows"),
    *(
        (start, "application/x-mach-binary", "a program for macOS")
        for start in (
            b"\xfe\xed\xfa\xce",
            b"\xfe\xed\xfa\xcf",
            b"\xce\xfa\xed\xfe",
            b"\xcf\xfa\xed\xfe",
            b"\xca\xfe\xba\xbe",
        )
    ),
    (b"\x1f\x8b", "application/gzip", "a gzip archive"),
    (b"BZh", "application/x-bzip2", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "application/x-xz", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "application/zstd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "a 7z archive"),
    (b"Rar!\x1a\x07", "application/vnd.rar", "a RAR archive"),
    (b"SQLite format 3\0", "application/vnd.sqlite3", "a database"),
    (b"wOFF", "font/woff", "a font"),
    (b"wOF2", "font/woff2", "a font"),
    (b"OTTO", "font/otf", "a font"),
    (b"\0\1\0\0\0", "font/ttf", "a font"),
)
_CHUNKS = {
    b"WEBP": ("image/webp", "a WebP image"),
    b"WAVE": ("audio/wav", "sound"),
    b"AVI ": ("video/x-msvideo", "a video"),
}
_BRANDS = {
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"hevx", b"mif1", b"msf1"), ("image/heic", "a HEIC image")),
    **dict.fromkeys((b"avif", b"avis"), ("image/avif", "an AVIF image")),
    **dict.fromkeys((b"M4A ", b"M4B "), ("audio/mp4", "sound")),
    b"qt  ": ("video/quicktime", "a video"),
}
_TEXT_CONTROLS = b"\t\n\v\f\r\b\x1b"
_CONTROLS = bytes(byte for byte in range(32) if byte not in _TEXT_CONTROLS) + b"\x7f"
_WIDE_CONTROLS = re.compile("[\0-\x07\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
"""As the above, and the C1 controls. A zero also replaces a character that no text has (`to_utf_8`)."""
_SHORT = 10
"""From this length on, a single control character is tolerated."""
_UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")


class FileSignature(Struct, frozen=True):
    """`name` has its article, for use in a sentence."""

    media_type: str
    name: str


def detect_signature(head: bytes) -> FileSignature | None:
    """None: a text, or something unknown."""
    for start, media_type, name in _BEGINNINGS:
        if head.startswith(start):
            return FileSignature(media_type, name)
    return _container_signature(head) or _layout_signature(head)


def _container_signature(head: bytes) -> FileSignature | None:
    """Container formats, which declare their content after the first bytes."""
    kind = None
    if head[:4] == b"RIFF":
        kind = _CHUNKS.get(head[8:12])
    elif head[:4] == b"FORM" and head[8:11] == b"AIF":
        kind = ("audio/aiff", "sound")
    elif head[4:8] == b"ftyp":
        kind = _BRANDS.get(head[8:12], ("video/mp4", "a video"))
    elif head[4:8] in (b"moov", b"mdat", b"wide"):
        kind = ("video/quicktime", "a video")
    return FileSignature(*kind) if kind else None


def _layout_signature(head: bytes) -> FileSignature | None:
    """Formats whose first bytes could also begin a text, so that more of them is checked."""
    if head[:2] == b"MZ" and b"\0" in head[:128]:
        return FileSignature("application/x-msdownload", "a program for Windows")
    if b"%PDF-" in head[:1024]:
        return FileSignature("application/pdf", "a PDF")
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0" and len(head) >= 26:
        return FileSignature("image/bmp", "a BMP image")
    if head[257:262] == b"ustar":
        return FileSignature("application/x-tar", "a tar archive")
    # An MP3 frame: a sync word of eleven bits, then a valid version, layer and bit rate.
    first = int.from_bytes(head[:2], "big")
    if first & 0xFFE0 == 0xFFE0 and first & 0x06 and head[:2] not in _UTF_16_BOMS and head[2:3] and head[2] >> 4 < 15:
        return FileSignature("audio/mpeg", "sound")
    return None


def is_text(head: bytes) -> bool:
    """Whether the bytes are text in any encoding; a stray control character is tolerated."""
    odd_ones, all_of_them = _count_odd(head)
    return odd_ones * 100 <= all_of_them or (odd_ones == 1 and all_of_them >= _SHORT)


def is_named_text(head: bytes) -> bool:
    """The same for a file with the suffix of a text: it may have more control characters, and be padded with zeros, as
    logs are after a crash."""
    bare = head.strip(b"\0")
    odd_ones, all_of_them = _count_odd(bare)
    return is_text(head) or (bool(bare) and odd_ones * 20 <= all_of_them)


def _count_odd(head: bytes) -> tuple[int, int]:
    """The number of control characters, and of all characters."""
    if detect_wide_encoding(head, "") is None:
        return len(head) - len(head.translate(None, _CONTROLS)), len(head)
    text = to_utf_8(head, "").decode()
    return len(_WIDE_CONTROLS.findall(text)), len(text)
