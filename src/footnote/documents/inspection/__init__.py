"""The type of an uploaded file, before any of it is stored: by its first bytes and, of an archive, by its directory.

This runs in the sandbox. It reads as little as possible, and parses no content.
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
from footnote.documents.media import (
    DOCX,
    EXECUTABLE_TYPES,
    ODS,
    ODT,
    PPTX,
    XLSX,
    FileSignature,
    detect_signature,
    is_named_text,
    is_text,
)
from footnote.protocol.errors import UnprocessableFile, WrongKind
from footnote.sandbox.jobs import InspectionResult

ENCRYPTED_STREAM = "encryptedpackage"
MACRO_STREAM = "_vba_project"
NEW_SUFFIXES = {"doc": "docx", "dot": "docx", "xls": "xlsx", "xlt": "xlsx", "ppt": "pptx", "pps": "pptx"}
"""The suffix of the current format, by that of the old one."""
DOCUMENT_STREAMS = frozenset(("worddocument", "book", "powerpoint document"))
"""Streams that every old Office document has. That of a workbook is `Book` or, since 1997, `Workbook`."""
_CHUNK_BYTES = 1 << 20
_NAMES = {name: f"{name}\0".encode("utf-16-le") for name in (ENCRYPTED_STREAM, MACRO_STREAM, *DOCUMENT_STREAMS)}
"""As they are stored: UTF-16, terminated by a zero."""
_MAX_NAME_BYTES = max(map(len, _NAMES.values()))


def find_streams(file: IO[bytes]) -> frozenset[str]:
    """The known stream names that occur in the file, in any case of letters. Its directory may lie anywhere and is not
    trusted, so that a name counts wherever it occurs."""
    found: set[str] = set()
    tail = b""
    file.seek(0)
    while piece := file.read(_CHUNK_BYTES):
        window = tail + piece.lower()
        found.update(name for name, letters in _NAMES.items() if letters in window)
        tail = window[-_MAX_NAME_BYTES:]
    return frozenset(found)


__all__ = ["InspectionResult", "inspect"]

_ODT_OF_WEB = "application/vnd.oasis.opendocument.text-web"
"""The type that LibreOffice gives to a text made from a web page. Its format is that of any other text."""
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
"""Media types of texts by suffix. All other texts are plain."""
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
"""The types that the first bytes of a file with such a suffix must have."""

_RENAME = "Give it the name that fits, or save it again as what it is to be."
_KIND_NAMES = {"pdf": "a PDF", "zip": "a zip file"}
_DAMAGED = "it is damaged"
_LOCKED = "it is protected by a password; save it without one"


def inspect(file: IO[bytes], filename: str) -> InspectionResult:
    """`WrongKind`: the type is not accepted, or is not that of the suffix. `UnprocessableFile`: the file is hostile."""
    file.seek(0)
    head = file.read(_HEAD)
    suffix = _suffix(filename)
    if suffix in _MACRO_SUFFIXES:
        raise WrongKind(
            f"{filename} may hold macros, which are not taken: save it as .{_MACRO_SUFFIXES[suffix]}.",
            code="file_may_have_macros",
            name=filename,
            suffix=_MACRO_SUFFIXES[suffix],
        )
    if suffix in _EXECUTABLE_SUFFIXES:
        raise WrongKind(
            f"{filename} is {_EXECUTABLE_SUFFIXES[suffix]}, and is not taken. Save what it shows as a PDF or a text.",
            code="file_opens_as_program",
            name=filename,
        )
    if not head:
        return InspectionResult(_PACKAGES.get(suffix) or _TYPES.get(suffix, "text/plain"))
    signature = detect_signature(head)
    if signature and signature.media_type in EXECUTABLE_TYPES:
        raise WrongKind(
            f"{filename} is {signature.name}, whatever it is called. Programs are not taken.",
            code="file_is_program",
            name=filename,
        )
    if suffix in _PACKAGES:
        return _package(file, filename, suffix, signature, head)
    if suffix in _REQUIRED_TYPES:
        return _inspect_named(file, filename, suffix, signature, head)
    return _other(file, filename, suffix, signature, head)


def _suffix(filename: str) -> str:
    """Without the trailing dots and spaces that Windows ignores: it opens "a.lnk. " as a shortcut."""
    _, dot, suffix = filename.lower().rstrip(". \t\u00a0").rpartition(".")
    return suffix.strip() if dot else ""


def _package(
    file: IO[bytes], filename: str, suffix: str, signature: FileSignature | None, head: bytes
) -> InspectionResult:
    expected_type = _PACKAGES[suffix]
    if signature is not None and signature.media_type == OLE:
        return _inspect_locked(file, filename, suffix, signature)
    if signature is None or signature.media_type != ZIP:
        raise _kind_error(filename, signature or _guess(head), FileSignature(expected_type, _TYPE_NAMES[expected_type]))
    try:
        found = read_directory(file, filename, MAX_UNPACKED_BYTES)
        # First, since the names of macros can be listed also where nothing can be read.
        if _has_macros(file, filename, found):
            raise _macros_error(filename, suffix)
        if found.is_encrypted:
            return InspectionResult(expected_type, _LOCKED)
        kind = _package_type(file, filename, found)
    except DamagedArchive:
        if scan_for_names(file, _MACROS):
            raise _macros_error(filename, suffix) from None
        return InspectionResult(expected_type, _DAMAGED)
    if kind != expected_type:
        actual, expected = (FileSignature(each, _TYPE_NAMES[each]) for each in (kind, expected_type))
        raise _kind_error(filename, actual, expected)
    return InspectionResult(expected_type)


def _inspect_locked(file: IO[bytes], filename: str, suffix: str, signature: FileSignature) -> InspectionResult:
    """An encrypted Office document is an OLE container, as the old formats are."""
    found, expected_type = find_streams(file), _PACKAGES[suffix]
    if MACRO_STREAM in found:
        raise _macros_error(filename, suffix)
    if ENCRYPTED_STREAM in found:
        return InspectionResult(expected_type, _LOCKED)
    raise _kind_error(
        filename, signature, FileSignature(expected_type, _TYPE_NAMES[expected_type]), f"Save it as .{suffix}."
    )


def _kind_error(filename: str, actual: FileSignature, expected: FileSignature, remedy: str = _RENAME) -> WrongKind:
    return WrongKind(
        f"{filename} is {actual.name}, not {expected.name}. {remedy}",
        code="file_kind_differs",
        name=filename,
        actual=actual.media_type,
        expected=expected.media_type,
    )


def _macros_error(filename: str, suffix: str = "") -> WrongKind:
    as_what = f", as .{suffix}" if suffix else ""
    return WrongKind(
        f"{filename} holds macros, which are not taken: save it without them{as_what}.",
        code="file_has_macros",
        name=filename,
    )


def _package_type(file: IO[bytes], filename: str, found: Directory) -> str:
    if "[Content_Types].xml" in found.names:
        for name in found.names:
            if match := _MAIN.fullmatch(name):
                return _MAIN_OF[match[1]]
    declared = read_entry_head(file, filename, "mimetype", 100).decode("latin-1").strip()
    declared = ODT if declared == _ODT_OF_WEB else declared
    return declared if declared in (ODT, ODS, ODP) and "content.xml" in found.names else ZIP


def _has_macros(file: IO[bytes], filename: str, found: Directory) -> bool:
    if any(part in name.lower() for name in found.names for part in _MACROS):
        return True
    if found.is_encrypted:
        return False
    types = read_entry_head(file, filename, "[Content_Types].xml", _MAX_CONTENT_TYPES_BYTES)
    if len(types) == _MAX_CONTENT_TYPES_BYTES:
        raise UnprocessableFile(
            f"{filename} says more about its parts than any document does: a trap.", code="file_is_trap", name=filename
        )
    # In UTF-16 every other byte is zero; any letter may be a character reference.
    letters = types.replace(b"\0", b"").decode("latin-1")
    return "macroenabled" in (unescape(letters) if "&" in letters else letters).lower()


def _inspect_named(
    file: IO[bytes], filename: str, suffix: str, signature: FileSignature | None, head: bytes
) -> InspectionResult:
    if signature is None or not signature.media_type.startswith(_REQUIRED_TYPES[suffix]):
        expected = FileSignature(_REQUIRED_TYPES[suffix][0], _KIND_NAMES.get(suffix, f"a .{suffix} file"))
        raise _kind_error(filename, signature or _guess(head), expected)
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
    """A text, an old Office document, or a file without a known suffix."""
    if signature is None:
        return _inspect_unrecognized(suffix, head)
    if signature.media_type == OLE:
        raise _old_office_error(file, filename, suffix)
    if suffix in _TEXTS:
        raise _kind_error(filename, signature, FileSignature("text/plain", "a text"))
    return (
        _inspect_unnamed_zip(file, filename) if signature.media_type == ZIP else InspectionResult(signature.media_type)
    )


def _inspect_unrecognized(suffix: str, head: bytes) -> InspectionResult:
    """A text, or bytes of an unknown type, which are accepted under any name."""
    looks_like_text = is_named_text if suffix in _TEXTS else is_text
    if not looks_like_text(head):
        return InspectionResult(UNKNOWN)
    if head.startswith(_RTF) and suffix not in _TEXTS:
        return InspectionResult(_TYPES["rtf"])
    return InspectionResult(_TYPES.get(suffix, "text/plain"))


def _old_office_error(file: IO[bytes], filename: str, suffix: str) -> WrongKind:
    found = find_streams(file)
    if suffix in NEW_SUFFIXES or found & DOCUMENT_STREAMS:
        new = NEW_SUFFIXES.get(suffix, "docx, .xlsx or .pptx")
        return WrongKind(
            f"{filename} is an old Office document, which can hide macros: save it as .{new}.",
            code="file_old_office",
            name=filename,
            suffix=new,
        )
    return WrongKind(
        f"{filename} is a file of Windows that holds others, such as a message of Outlook or an installer, and can "
        "hide programs: save what it says as a PDF or a text.",
        code="file_is_container",
        name=filename,
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


def _guess(head: bytes) -> FileSignature:
    """What a file without a signature probably is."""
    if not is_text(head):
        return FileSignature(UNKNOWN, "something unknown")
    is_page = b"<html" in head.lower() or b"<!doctype html" in head.lower()
    return FileSignature("text/html", "a web page") if is_page else FileSignature("text/plain", "a text")


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
"""SVG is an image whose source is text."""


def no_text_reason(media_type: str) -> str | None:
    """Why a file of that type has no text, as half a sentence; None: it may have some."""
    if media_type == _DRAWING:
        return None
    return _REASON_BY_TYPE.get(media_type) or _KINDS.get(media_type.partition("/")[0])
