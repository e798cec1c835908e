"""Which kinds of documents are read."""

from footnote.documents.wide import narrowed, wide_encoding

ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.5"
PDF = "application/pdf"

_READABLE = frozenset(
    {
        *("text/html", "application/xhtml+xml", "text/xml", "application/xml"),
        *("text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/tab-separated-values"),
        *("application/json", "text/json", "application/x-ndjson", "application/pdf", "application/x-pdf"),
    }
)
_NOTHING_SAID = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-download", "unknown"})


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def is_readable(content_type: str) -> bool:
    """Whether it is worth reading the body: a document of letters, or of a kind that is yet to be seen."""
    kind = media_type(content_type)
    return kind in _READABLE | _NOTHING_SAID or (kind.endswith(("+xml", "+json")) and not kind.startswith("image/"))


def seen_type(content_type: str, beginning: bytes) -> str | None:
    """The content type, by the body's beginning where the server does not say it or is plainly wrong. None: a body
    that is no document, as far as can be seen."""
    if beginning.startswith(b"%PDF-"):
        return PDF
    if media_type(content_type) not in _NOTHING_SAID:
        return content_type
    if b"\0" in beginning and wide_encoding(beginning, content_type) is None:
        return None
    return "text/html" if narrowed(beginning, content_type).lstrip()[:1] == b"<" else "text/plain"
