"""Kinds of files that are kept and hold no text, so that nobody tries to read them."""

from footnote.documents.inspection.inspection import ODP, UNKNOWN, ZIP

_REASON_BY_TYPE = {
    ZIP: "it is an archive; unpack it to read its files",
    **dict.fromkeys(
        (
            "application/gzip",
            "application/x-bzip2",
            "application/x-xz",
            "application/zstd",
            "application/x-tar",
            "application/x-7z-compressed",
            "application/vnd.rar",
        ),
        "it is an archive of a kind that is not unpacked here; pack its files as .zip",
    ),
    ODP: "OpenDocument presentations are not read; save it as .pptx",
    "application/rtf": "RTF is not read; save it as .docx",
    "application/vnd.sqlite3": "it is a database",
    UNKNOWN: "it is of a kind that is not known here",
}
_KINDS = {"image": "it is an image", "audio": "it is sound", "video": "it is a video", "font": "it is a font"}
_DRAWING = "image/svg+xml"
"""An image that is a text."""


def no_text_reason(media_type: str) -> str | None:
    """Half a sentence; None: there may be text in it."""
    if media_type == _DRAWING:
        return None
    return _REASON_BY_TYPE.get(media_type) or _KINDS.get(media_type.partition("/")[0])
