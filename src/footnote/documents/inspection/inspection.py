"""What an uploaded file really is, before any of it is kept: by its first bytes, and by the list of what is in it.

This runs in the sandbox. It reads little, unpacks less, and takes nothing apart.
"""

import re
from html import unescape
from typing import IO

from footnote.documents.inspection.archives import (
    MAX_ARCHIVE_BYTES,
    MAX_UNPACKED_BYTES,
    DamagedArchive,
    Directory,
    read_directory,
    read_entry_head,
    scan_for_names,
)
from footnote.documents.inspection.signatures import (
    EXECUTABLE_TYPES,
    FileSignature,
    detect_signature,
    is_named_text,
    is_text,
)
from footnote.documents.media import DOCX, ODS, ODT, PPTX, XLSX
from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.sandbox.jobs import InspectionResult

ENCRYPTED_STREAM = "encryptedpackage"
MACRO_STREAM = "_vba_project"
NEW_SUFFIXES = {"doc": "docx", "dot": "docx", "xls": "xlsx", "xlt": "xlsx", "ppt": "pptx", "pps": "pptx"}
"""The suffix of what took the place of the one with this suffix."""
DOCUMENT_STREAMS = frozenset(("worddocument", "book", "powerpoint document"))
"""What a document must hold to be one. A workbook is named `Book` or, since 1997, `Workbook`."""
_CHUNK_BYTES = 1 << 20
_NAMES = {name: f"{name}\0".encode("utf-16-le") for name in (ENCRYPTED_STREAM, MACRO_STREAM, *DOCUMENT_STREAMS)}
"""Each ends with a zero."""
_MAX_NAME_BYTES = max(map(len, _NAMES.values()))


def find_streams(file: IO[bytes]) -> frozenset[str]:
    """Which of the names that matter here stand in it, in whatever case. The list of its files may lie anywhere, and is
    not trusted: a name that merely stands somewhere counts as well."""
    found: set[str] = set()
    tail = b""
    file.seek(0)
    while piece := file.read(_CHUNK_BYTES):
        seen = tail + piece.lower()
        found.update(name for name, letters in _NAMES.items() if letters in seen)
        tail = seen[-_MAX_NAME_BYTES:]
    return frozenset(found)


__all__ = ["InspectionResult", "inspect"]

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
_TYPE_NAMES = {
    DOCX: "a Word document",
    XLSX: "an Excel workbook",
    PPTX: "a PowerPoint presentation",
    ODT: "an OpenDocument text",
    ODS: "an OpenDocument spreadsheet",
    ODP: "an OpenDocument presentation",
    ZIP: "a zip file",
}
_MACRO_SUFFIXES = {
    **dict.fromkeys(("docm", "dotm"), "docx"),
    **dict.fromkeys(("xlsm", "xltm", "xlam", "xlsb"), "xlsx"),
    **dict.fromkeys(("pptm", "potm", "ppam", "ppsm"), "pptx"),
}
_EXECUTABLE_SUFFIXES = {
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
_MAX_CONTENT_TYPES_BYTES = 4_000_000
"""Bytes of the list of what a package holds: hundreds of times what a large document needs."""
_REQUIRED_TYPES = {
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
_KIND_NAMES = {"pdf": "a PDF", "zip": "a zip file"}
_DAMAGED = "it is damaged"
_LOCKED = "it is protected by a password; save it without one"


def inspect(file: IO[bytes], filename: str) -> InspectionResult:
    """`WrongKind`: it is of a kind that is not taken, or not what its name says. `Unworkable`: a trap."""
    file.seek(0)
    head = file.read(_HEAD)
    suffix = _suffix(filename)
    if suffix in _MACRO_SUFFIXES:
        raise WrongKind(f"{filename} may hold macros, which are not taken: save it as .{_MACRO_SUFFIXES[suffix]}.")
    if suffix in _EXECUTABLE_SUFFIXES:
        raise WrongKind(
            f"{filename} is {_EXECUTABLE_SUFFIXES[suffix]}, and is not taken. Save what it shows as a PDF or a text."
        )
    if not head:
        return InspectionResult(_PACKAGES.get(suffix) or _TYPES.get(suffix, "text/plain"))
    seen = detect_signature(head)
    if seen and seen.media_type in EXECUTABLE_TYPES:
        raise WrongKind(f"{filename} is {seen.name}, whatever it is called. Programs are not taken.")
    if suffix in _PACKAGES:
        return _package(file, filename, suffix, seen, head)
    if suffix in _REQUIRED_TYPES:
        return _inspect_named(file, filename, suffix, seen, head)
    return _other(file, filename, suffix, seen, head)


def _suffix(filename: str) -> str:
    """Without what Windows drops at the end of a name: there, "a.lnk. " is opened as a shortcut."""
    _, dot, suffix = filename.lower().rstrip(". \t\u00a0").rpartition(".")
    return suffix.strip() if dot else ""


def _package(
    file: IO[bytes], filename: str, suffix: str, signature: FileSignature | None, head: bytes
) -> InspectionResult:
    wanted = _PACKAGES[suffix]
    if signature is not None and signature.media_type == OLE:
        return _inspect_locked(file, filename, suffix, signature)
    if signature is None or signature.media_type != ZIP:
        raise WrongKind(f"{filename} is {_describe(signature, head)}, not {_TYPE_NAMES[wanted]}. {_RENAME}")
    try:
        found = read_directory(file, filename, MAX_UNPACKED_BYTES)
        # First: their names tell of them also where nothing else can be read.
        if _has_macros(file, filename, found):
            raise _macros_error(filename, suffix)
        if found.is_encrypted:
            return InspectionResult(wanted, _LOCKED)
        kind = _package_type(file, filename, found)
    except DamagedArchive:
        if scan_for_names(file, _MACROS):
            raise _macros_error(filename, suffix) from None
        return InspectionResult(wanted, _DAMAGED)
    if kind != wanted:
        raise WrongKind(f"{filename} is {_TYPE_NAMES[kind]}, not {_TYPE_NAMES[wanted]}. {_RENAME}")
    return InspectionResult(wanted)


def _inspect_locked(file: IO[bytes], filename: str, suffix: str, signature: FileSignature) -> InspectionResult:
    """With a password, a document of today lies in an old one."""
    found, wanted = find_streams(file), _PACKAGES[suffix]
    if MACRO_STREAM in found:
        raise _macros_error(filename, suffix)
    if ENCRYPTED_STREAM in found:
        return InspectionResult(wanted, _LOCKED)
    raise WrongKind(f"{filename} is {signature.name}, not {_TYPE_NAMES[wanted]}. Save it as .{suffix}.")


def _macros_error(filename: str, suffix: str = "") -> WrongKind:
    as_what = f", as .{suffix}" if suffix else ""
    return WrongKind(f"{filename} holds macros, which are not taken: save it without them{as_what}.")


def _package_type(file: IO[bytes], filename: str, found: Directory) -> str:
    if "[Content_Types].xml" in found.names:
        for name in found.names:
            if match := _MAIN.fullmatch(name):
                return _MAIN_OF[match[1]]
    said = read_entry_head(file, filename, "mimetype", 100).decode("latin-1").strip()
    said = ODT if said == _ODT_OF_WEB else said
    return said if said in (ODT, ODS, ODP) and "content.xml" in found.names else ZIP


def _has_macros(file: IO[bytes], filename: str, found: Directory) -> bool:
    if any(part in name.lower() for name in found.names for part in _MACROS):
        return True
    if found.is_encrypted:
        return False
    types = read_entry_head(file, filename, "[Content_Types].xml", _MAX_CONTENT_TYPES_BYTES)
    if len(types) == _MAX_CONTENT_TYPES_BYTES:
        raise UnprocessableFile(f"{filename} says more about its parts than any document does: a trap.")
    # Of a list in UTF-16 every other byte is zero; any letter may be written as its number.
    letters = types.replace(b"\0", b"").decode("latin-1")
    return "macroenabled" in (unescape(letters) if "&" in letters else letters).lower()


def _inspect_named(
    file: IO[bytes], filename: str, suffix: str, signature: FileSignature | None, head: bytes
) -> InspectionResult:
    if signature is None or not signature.media_type.startswith(_REQUIRED_TYPES[suffix]):
        raise WrongKind(
            f"{filename} is {_describe(signature, head)}, not {_KIND_NAMES.get(suffix, f'a .{suffix} file')}. {_RENAME}"
        )
    if signature.media_type != ZIP:
        return InspectionResult(signature.media_type)
    try:
        read_directory(file, filename, MAX_ARCHIVE_BYTES)
    except DamagedArchive:
        return InspectionResult(ZIP, _DAMAGED)
    return InspectionResult(ZIP)


def _other(
    file: IO[bytes], filename: str, suffix: str, signature: FileSignature | None, head: bytes
) -> InspectionResult:
    """A text, an old document, or a name that says nothing."""
    if signature is None:
        return _inspect_unrecognized(suffix, head)
    if signature.media_type == OLE:
        raise _old_office_error(file, filename, suffix)
    if suffix in _TEXTS:
        raise WrongKind(f"{filename} is {_describe(signature, head)}, not a text. {_RENAME}")
    return (
        _inspect_unnamed_zip(file, filename) if signature.media_type == ZIP else InspectionResult(signature.media_type)
    )


def _inspect_unrecognized(suffix: str, head: bytes) -> InspectionResult:
    """A text, or bytes that nobody here knows: those are kept whatever they are called."""
    is_one = is_named_text if suffix in _TEXTS else is_text
    if not is_one(head):
        return InspectionResult(UNKNOWN)
    if head.startswith(_RTF) and suffix not in _TEXTS:
        return InspectionResult(_TYPES["rtf"])
    return InspectionResult(_TYPES.get(suffix, "text/plain"))


def _old_office_error(file: IO[bytes], filename: str, suffix: str) -> WrongKind:
    found = find_streams(file)
    if suffix in NEW_SUFFIXES or found & DOCUMENT_STREAMS:
        new = NEW_SUFFIXES.get(suffix, "docx, .xlsx or .pptx")
        return WrongKind(f"{filename} is an old Office document, which can hide macros: save it as .{new}.")
    return WrongKind(
        f"{filename} is a file of Windows that holds others, such as a message of Outlook or an installer, and can "
        "hide programs: save what it says as a PDF or a text."
    )


def _inspect_unnamed_zip(file: IO[bytes], filename: str) -> InspectionResult:
    try:
        found = read_directory(file, filename, MAX_ARCHIVE_BYTES)
        if _has_macros(file, filename, found):
            raise _macros_error(filename)
        return InspectionResult(_package_type(file, filename, found))
    except DamagedArchive:
        if scan_for_names(file, _MACROS):
            raise _macros_error(filename) from None
        return InspectionResult(ZIP, _DAMAGED)


def _describe(signature: FileSignature | None, head: bytes) -> str:
    if signature is not None:
        return signature.name
    if not is_text(head):
        return "something unknown"
    return "a web page" if b"<html" in head.lower() or b"<!doctype html" in head.lower() else "a text"
