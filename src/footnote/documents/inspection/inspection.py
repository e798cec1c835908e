"""What an uploaded file really is, before any of it is kept: by its first bytes, and by the list of what is in it.

This runs in the sandbox. It reads little, unpacks less, and takes nothing apart.
"""

import re
from html import unescape
from typing import IO

from footnote.documents.inspection.archives import (
    MOST_BYTES,
    MOST_UNPACKED,
    Damaged,
    Directory,
    beginning,
    directory,
    names_in_pieces,
)
from footnote.documents.inspection.old_office import DOCUMENTS, MACROS, NEW, PROTECTED, streams_in
from footnote.documents.inspection.signatures import PROGRAMS, Seen, is_named_text, is_text, seen_in
from footnote.documents.media import DOCX, ODS, ODT, PPTX, XLSX
from footnote.protocol.errors import Unworkable, WrongKind
from footnote.sandbox.jobs import Inspected

__all__ = ["Inspected", "inspect"]

_ODT_OF_WEB = "application/vnd.oasis.opendocument.text-web"
"""What LibreOffice calls a text that it made of a web page. It is written like any other."""
ODP = "application/vnd.oasis.opendocument.presentation"
ZIP = "application/zip"
OLE = "application/x-ole-storage"
UNKNOWN = "application/octet-stream"

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
_RTF = b"{\\rtf"
_TEXTS = frozenset((*_TYPES, "txt", "text", "log"))

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
_OPENED_AS_PROGRAMS = {
    **dict.fromkeys(
        ("lnk", "pif", "scf", "library-ms", "search-ms", "appref-ms", "settingcontent-ms", "jnlp", "desktop"),
        "a shortcut, which can start programs",
    ),
    **dict.fromkeys(("url", "website", "webloc"), "a shortcut to an address"),
    **dict.fromkeys(("hta", "wsf", "wsh", "jse", "vbe", "scr", "sct", "msc", "chm"), "a script of the system"),
    **dict.fromkeys(("mht", "mhtml"), "a web archive, which can hold scripts"),
}
"""Suffixes that a system opens as a program, whatever the file holds."""
_MACROS = ("vbaproject.bin", "vbadata.xml", "xl/macrosheets/", "basic/script-lc.xml", "scripts/")
_MOST_TYPES = 4_000_000
"""Bytes of the list of what a package holds: hundreds of times what a large document needs."""
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
    **dict.fromkeys(("gz", "tgz"), ("application/gzip",)),
    **dict.fromkeys(("bz2", "tbz2"), ("application/x-bzip2",)),
    **dict.fromkeys(("xz", "txz"), ("application/x-xz",)),
    "zst": ("application/zstd",),
    "tar": ("application/x-tar",),
    "7z": ("application/x-7z-compressed",),
    "rar": ("application/vnd.rar",),
}
"""What the first bytes of a file with such a suffix must be."""

_RENAME = "Give it the name that fits, or save it again as what it is to be."
_A = {"pdf": "a PDF", "zip": "a zip file"}
_DAMAGED = "it is damaged"
_LOCKED = "it is protected by a password; save it without one"


def inspect(file: IO[bytes], filename: str) -> Inspected:
    """`WrongKind`: it is of a kind that is not taken, or not what its name says. `Unworkable`: a trap."""
    file.seek(0)
    head = file.read(_HEAD)
    suffix = _suffix(filename)
    if suffix in _WITH_MACROS:
        raise WrongKind(f"{filename} may hold macros, which are not taken: save it as .{_WITH_MACROS[suffix]}.")
    if suffix in _OPENED_AS_PROGRAMS:
        raise WrongKind(
            f"{filename} is {_OPENED_AS_PROGRAMS[suffix]}, and is not taken. Save what it shows as a PDF or a text."
        )
    if not head:
        return Inspected(_PACKAGES.get(suffix) or _TYPES.get(suffix, "text/plain"))
    seen = seen_in(head)
    if seen and seen.media_type in PROGRAMS:
        raise WrongKind(f"{filename} is {seen.name}, whatever it is called. Programs are not taken.")
    if suffix in _PACKAGES:
        return _package(file, filename, suffix, seen, head)
    if suffix in _NAMED:
        return _named(file, filename, suffix, seen, head)
    return _other(file, filename, suffix, seen, head)


def _suffix(filename: str) -> str:
    """Without what Windows drops at the end of a name: there, "a.lnk. " is opened as a shortcut."""
    _, dot, suffix = filename.lower().rstrip(". \t\u00a0").rpartition(".")
    return suffix.strip() if dot else ""


def _package(file: IO[bytes], filename: str, suffix: str, seen: Seen | None, head: bytes) -> Inspected:
    wanted = _PACKAGES[suffix]
    if seen is not None and seen.media_type == OLE:
        return _locked(file, filename, suffix, seen)
    if seen is None or seen.media_type != ZIP:
        raise WrongKind(f"{filename} is {_what(seen, head)}, not {_SAID[wanted]}. {_RENAME}")
    try:
        found = directory(file, filename, MOST_UNPACKED)
        # First: their names tell of them also where nothing else can be read.
        if _has_macros(file, filename, found):
            raise _with_macros(filename, suffix)
        if found.is_encrypted:
            return Inspected(wanted, _LOCKED)
        kind = _kind_of_package(file, filename, found)
    except Damaged:
        if names_in_pieces(file, _MACROS):
            raise _with_macros(filename, suffix) from None
        return Inspected(wanted, _DAMAGED)
    if kind != wanted:
        raise WrongKind(f"{filename} is {_SAID[kind]}, not {_SAID[wanted]}. {_RENAME}")
    return Inspected(wanted)


def _locked(file: IO[bytes], filename: str, suffix: str, seen: Seen) -> Inspected:
    """With a password, a document of today lies in an old one."""
    found, wanted = streams_in(file), _PACKAGES[suffix]
    if MACROS in found:
        raise _with_macros(filename, suffix)
    if PROTECTED in found:
        return Inspected(wanted, _LOCKED)
    raise WrongKind(f"{filename} is {seen.name}, not {_SAID[wanted]}. Save it as .{suffix}.")


def _with_macros(filename: str, suffix: str = "") -> WrongKind:
    as_what = f", as .{suffix}" if suffix else ""
    return WrongKind(f"{filename} holds macros, which are not taken: save it without them{as_what}.")


def _kind_of_package(file: IO[bytes], filename: str, found: Directory) -> str:
    if "[Content_Types].xml" in found.names:
        for name in found.names:
            if match := _MAIN.fullmatch(name):
                return _MAIN_OF[match[1]]
    said = beginning(file, filename, "mimetype", 100).decode("latin-1").strip()
    said = ODT if said == _ODT_OF_WEB else said
    return said if said in (ODT, ODS, ODP) and "content.xml" in found.names else ZIP


def _has_macros(file: IO[bytes], filename: str, found: Directory) -> bool:
    if any(part in name.lower() for name in found.names for part in _MACROS):
        return True
    if found.is_encrypted:
        return False
    types = beginning(file, filename, "[Content_Types].xml", _MOST_TYPES)
    if len(types) == _MOST_TYPES:
        raise Unworkable(f"{filename} says more about its parts than any document does: a trap.")
    # Of a list in UTF-16 every other byte is zero; any letter may be written as its number.
    letters = types.replace(b"\0", b"").decode("latin-1")
    return "macroenabled" in (unescape(letters) if "&" in letters else letters).lower()


def _named(file: IO[bytes], filename: str, suffix: str, seen: Seen | None, head: bytes) -> Inspected:
    if seen is None or not seen.media_type.startswith(_NAMED[suffix]):
        raise WrongKind(f"{filename} is {_what(seen, head)}, not {_A.get(suffix, f'a .{suffix} file')}. {_RENAME}")
    if seen.media_type != ZIP:
        return Inspected(seen.media_type)
    try:
        directory(file, filename, MOST_BYTES)
    except Damaged:
        return Inspected(ZIP, _DAMAGED)
    return Inspected(ZIP)


def _other(file: IO[bytes], filename: str, suffix: str, seen: Seen | None, head: bytes) -> Inspected:
    """A text, an old document, or a name that says nothing."""
    if seen is None:
        return _unseen(suffix, head)
    if seen.media_type == OLE:
        raise _old(file, filename, suffix)
    if suffix in _TEXTS:
        raise WrongKind(f"{filename} is {_what(seen, head)}, not a text. {_RENAME}")
    return _unnamed_zip(file, filename) if seen.media_type == ZIP else Inspected(seen.media_type)


def _unseen(suffix: str, head: bytes) -> Inspected:
    """A text, or bytes that nobody here knows: those are kept whatever they are called."""
    is_one = is_named_text if suffix in _TEXTS else is_text
    if not is_one(head):
        return Inspected(UNKNOWN)
    if head.startswith(_RTF) and suffix not in _TEXTS:
        return Inspected(_TYPES["rtf"])
    return Inspected(_TYPES.get(suffix, "text/plain"))


def _old(file: IO[bytes], filename: str, suffix: str) -> WrongKind:
    found = streams_in(file)
    if suffix in NEW or found & DOCUMENTS:
        new = NEW.get(suffix, "docx, .xlsx or .pptx")
        return WrongKind(f"{filename} is an old Office document, which can hide macros: save it as .{new}.")
    return WrongKind(
        f"{filename} is a file of Windows that holds others, such as a message of Outlook or an installer, and can "
        "hide programs: save what it says as a PDF or a text."
    )


def _unnamed_zip(file: IO[bytes], filename: str) -> Inspected:
    try:
        found = directory(file, filename, MOST_BYTES)
        if _has_macros(file, filename, found):
            raise _with_macros(filename)
        return Inspected(_kind_of_package(file, filename, found))
    except Damaged:
        if names_in_pieces(file, _MACROS):
            raise _with_macros(filename) from None
        return Inspected(ZIP, _DAMAGED)


def _what(seen: Seen | None, head: bytes) -> str:
    if seen is not None:
        return seen.name
    if not is_text(head):
        return "something unknown"
    return "a web page" if b"<html" in head.lower() or b"<!doctype html" in head.lower() else "a text"
