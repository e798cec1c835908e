"""What an uploaded file really is, before any of it is kept: by its first bytes, and by the list of what is in it.

This runs in the server's own process. It reads a few kilobytes, unpacks less, and takes nothing apart.
"""

import re
from pathlib import Path

from msgspec import Struct

from footnote.documents.inspection.archives import (
    MOST_BYTES,
    MOST_UNPACKED,
    Directory,
    Entry,
    beginning,
    directory,
    read_entry,
    safe_entries,
)
from footnote.documents.inspection.signatures import PROGRAMS, Seen, is_text, seen_in
from footnote.protocol.errors import Unworkable, WrongKind

__all__ = ["Entry", "Inspected", "inspect", "read_entry", "safe_entries"]

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT = "application/vnd.oasis.opendocument.text"
_ODT_OF_WEB = "application/vnd.oasis.opendocument.text-web"
"""What LibreOffice calls a text that it made of a web page. It is written like any other."""
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
ZIP = "application/zip"
OLE = "application/x-ole-storage"

TAKEN = (
    "Taken are text, markdown, code, CSV, JSON, HTML, XML, PDF, Word (.docx), Excel (.xlsx), PowerPoint (.pptx), "
    "images, sound, video and zip files."
)

_HEAD = 8_192
_TYPES = {
    **dict.fromkeys(("md", "markdown", "mdx"), "text/markdown"),
    **dict.fromkeys(("csv",), "text/csv"),
    **dict.fromkeys(("tsv", "tab"), "text/tab-separated-values"),
    **dict.fromkeys(("json", "geojson"), "application/json"),
    **dict.fromkeys(("jsonl", "ndjson"), "application/x-ndjson"),
    **dict.fromkeys(("html", "htm", "xhtml"), "text/html"),
    **dict.fromkeys(("xml", "xsl", "xsd", "rss", "atom"), "application/xml"),
    "svg": "image/svg+xml",
    "css": "text/css",
    "rtf": "application/rtf",
}
"""What is a text, by its suffix. All other texts are plain."""

_PACKAGES = {"docx": DOCX, "xlsx": XLSX, "pptx": PPTX, "odt": ODT, "ods": ODS, "odp": ODP}
_MAIN = re.compile(r"(word/document|xl/workbook|ppt/presentation)[0-9]*\.xml")
_MAIN_OF = {"word/document": DOCX, "xl/workbook": XLSX, "ppt/presentation": PPTX}
_SAID = {
    DOCX: "a Word document",
    XLSX: "an Excel workbook",
    PPTX: "a PowerPoint presentation",
    ODT: "an OpenDocument text",
    ODS: "an OpenDocument spreadsheet",
    ODP: "an OpenDocument presentation",
    ZIP: "a zip file",
}
_WITH_MACROS = {
    **dict.fromkeys(("docm", "dotm"), "docx"),
    **dict.fromkeys(("xlsm", "xltm", "xlam", "xlsb"), "xlsx"),
    **dict.fromkeys(("pptm", "potm", "ppam", "ppsm"), "pptx"),
}
_OLD = {"doc": "docx", "dot": "docx", "xls": "xlsx", "xlt": "xlsx", "ppt": "pptx", "pps": "pptx"}
_MACROS = ("vbaproject.bin", "vbadata.xml", "xl/macrosheets/", "basic/script-lc.xml", "scripts/")
_NAMED = {
    "pdf": ("application/pdf",),
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "ico"), ("image/",)),
    **dict.fromkeys(("heic", "heif", "avif"), ("image/",)),
    **dict.fromkeys(("mp3", "wav", "flac", "aac", "aiff", "aif", "mid", "midi", "amr"), ("audio/",)),
    # The same containers hold either.
    **dict.fromkeys(("ogg", "oga", "opus", "m4a", "wma"), ("audio/", "video/")),
    **dict.fromkeys(
        ("mp4", "m4v", "mov", "mkv", "webm", "avi", "wmv", "mpg", "mpeg", "ogv", "3gp"), ("video/", "audio/")
    ),
    "zip": (ZIP,),
}
"""What the first bytes of a file with such a suffix must be."""

_RENAME = "Give it the name that fits, or save it again as what it is to be."
_A = {"pdf": "a PDF", "zip": "a zip file"}


class Inspected(Struct, frozen=True):
    """What a file is, whatever its name says; for a text, what kind of text its name says."""

    media_type: str


def inspect(path: Path, filename: str) -> Inspected:
    """`WrongKind`: it is of a kind that is not taken, or not what its name says. `Unworkable`: a trap, or damaged."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    suffix = _suffix(filename)
    if suffix in _WITH_MACROS:
        raise WrongKind(f"{filename} may hold macros, which are not taken: save it as .{_WITH_MACROS[suffix]}.")
    if not head:
        return Inspected(_PACKAGES.get(suffix) or _TYPES.get(suffix, "text/plain"))
    seen = seen_in(head)
    if seen and seen.media_type in PROGRAMS:
        raise WrongKind(f"{filename} is {seen.name}, whatever it is called. Programs are not taken.")
    if suffix in _PACKAGES:
        return _package(path, filename, suffix, seen, head)
    if suffix in _NAMED:
        return _named(path, filename, suffix, seen, head)
    return _other(path, filename, suffix, seen, head)


def _suffix(filename: str) -> str:
    _, dot, suffix = filename.lower().rpartition(".")
    return suffix.strip() if dot else ""


def _package(path: Path, filename: str, suffix: str, seen: Seen | None, head: bytes) -> Inspected:
    wanted = _PACKAGES[suffix]
    if seen is None or seen.media_type != ZIP:
        old = seen is not None and seen.media_type == OLE
        advice = f"It may be protected by a password, or be an old one: save it as .{suffix} without." if old else ""
        raise WrongKind(f"{filename} is {_what(seen, head)}, not {_SAID[wanted]}. {advice or _RENAME}")
    found = directory(path, filename, MOST_UNPACKED)
    if found.is_encrypted:
        raise Unworkable(f"{filename} is protected by a password: save it without one.")
    kind = _kind_of_package(path, filename, found)
    if kind != wanted:
        raise WrongKind(f"{filename} is {_SAID[kind]}, not {_SAID[wanted]}. {_RENAME}")
    if _has_macros(path, filename, found):
        raise WrongKind(f"{filename} holds macros, which are not taken: save it without them, as .{suffix}.")
    return Inspected(wanted)


def _kind_of_package(path: Path, filename: str, found: Directory) -> str:
    if "[Content_Types].xml" in found.names:
        for name in found.names:
            if match := _MAIN.fullmatch(name):
                return _MAIN_OF[match[1]]
    said = beginning(path, filename, "mimetype", 100).decode("latin-1").strip()
    said = ODT if said == _ODT_OF_WEB else said
    return said if said in (ODT, ODS, ODP) and "content.xml" in found.names else ZIP


def _has_macros(path: Path, filename: str, found: Directory) -> bool:
    if any(part in name.lower() for name in found.names for part in _MACROS):
        return True
    return b"macroEnabled" in beginning(path, filename, "[Content_Types].xml", 1 << 16)


def _named(path: Path, filename: str, suffix: str, seen: Seen | None, head: bytes) -> Inspected:
    if seen is None or not seen.media_type.startswith(_NAMED[suffix]):
        raise WrongKind(f"{filename} is {_what(seen, head)}, not {_A.get(suffix, f'a .{suffix} file')}. {_RENAME}")
    if seen.media_type == ZIP:
        directory(path, filename, MOST_BYTES)
    return Inspected(seen.media_type)


def _other(path: Path, filename: str, suffix: str, seen: Seen | None, head: bytes) -> Inspected:
    """A text, or a name that says nothing."""
    if seen is None:
        if is_text(head):
            return Inspected(_TYPES.get(suffix, "text/plain"))
        raise WrongKind(f"{filename} is of a kind that is not known here. {TAKEN}")
    if seen.media_type == OLE:
        new = _OLD.get(suffix, "docx, .xlsx or .pptx")
        raise WrongKind(f"{filename} is an old Office document, which can hide macros: save it as .{new}.")
    if seen.is_refused:
        raise WrongKind(f"{filename} is {seen.name}, which is not taken. {TAKEN}")
    if suffix in _TYPES or suffix in ("txt", "text", "log"):
        raise WrongKind(f"{filename} is {seen.name}, not a text. {_RENAME}")
    if seen.media_type != ZIP:
        return Inspected(seen.media_type)
    kind = _kind_of_package(path, filename, found := directory(path, filename, MOST_BYTES))
    if _has_macros(path, filename, found):
        raise WrongKind(f"{filename} holds macros, which are not taken: save it without them.")
    return Inspected(kind)


def _what(seen: Seen | None, head: bytes) -> str:
    if seen is not None:
        return seen.name
    if not is_text(head):
        return "something unknown"
    return "a web page" if b"<html" in head.lower() or b"<!doctype html" in head.lower() else "a text"
