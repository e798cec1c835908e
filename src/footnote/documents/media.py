"""Which kinds of documents are read."""

from urllib.parse import urlsplit

from footnote.documents.wide_encodings import detect_wide_encoding, to_utf_8

ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.5"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
PACKAGE = "application/zip"
"""What a body is called that may be an Office document of any kind: which, says the list of what is in it."""
WHOLE_BODY_TYPES = frozenset((PDF, DOCX, XLSX, PPTX, ODT, ODS, PACKAGE))
"""Of which a part is of no use."""

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
"""Formats before 2007, which are not read. Many servers give these types to the newer formats, and to HTML."""


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def is_readable(content_type: str, url: str = "") -> bool:
    """Whether it is worth reading the body: a document of letters, or of a kind that is yet to be seen. A zip file is
    if its name says that it is an Office document."""
    kind = media_type(content_type)
    if kind in _ZIPPED:
        return _type_by_suffix(url) is not None
    return (
        kind in _OFFICE.values()
        or kind in _READABLE | _UNSPECIFIED_TYPES | _OLD_OFFICE
        or (kind.endswith(("+xml", "+json")) and not kind.startswith("image/"))
    )


def sniff_type(content_type: str, beginning: bytes, url: str = "") -> str | None:
    """The content type, by the body's beginning where the server does not say it or is plainly wrong. None: a body
    that is no document, as far as can be seen."""
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
    """Of a zip file: by what the server says, by its name, by how such documents begin."""
    if declared in _OFFICE.values():
        return declared
    if named := _type_by_suffix(url):
        return named
    # The name of the first part begins at 30; OpenDocument puts its type there.
    said = beginning[30:].removeprefix(b"mimetype")
    opened = next((kind for kind in (ODT, ODS) if said.startswith(kind.encode())), None)
    return opened or (PACKAGE if beginning[30:].startswith(_OFFICE_PARTS) else None)


def _type_by_suffix(url: str) -> str | None:
    try:
        path = urlsplit(url).path.lower()
    except ValueError:
        return None
    return next((kind for suffix, kind in _OFFICE.items() if path.endswith(suffix)), None)
