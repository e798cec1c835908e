import io
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest

from documents.office import (
    TYPES,
    cells,
    docx,
    make_zip,
    mark_encrypted,
    overlapping_zip,
    paragraph,
    pptx,
    shape,
    with_claimed_size,
    xlsx,
)
from footnote.documents.inspection import (
    DOCX,
    ODS,
    ODT,
    PPTX,
    UNKNOWN,
    XLSX,
    ZIP,
    InspectionResult,
    inspect,
)
from footnote.documents.inspection.archives import list_entries, unpack
from footnote.protocol.errors import UnprocessableFile, UsageError, WrongKind
from footnote.sandbox.jobs import ArchiveEntry

WORD = docx(paragraph("text"))
BOOK = xlsx({"One": cells(1, "a", 1)})
SLIDES = pptx(shape("text"))
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"
MZ = b"MZ\x90\0\3\0\0\0" + bytes(100)
LNK = bytes.fromhex("4c0000000114020000000000c000000000000046") + bytes(60)
PAGE = b"<!DOCTYPE html><html><script>alert(1)</script></html>"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
DAMAGED = "it is damaged"
LOCKED = "it is protected by a password; save it without one"
SHOWN = "Save what it shows as a PDF or a text."
RENAME = "Give it the name that fits, or save it again as what it is to be."


def ole_file(*names: str) -> bytes:
    """The beginning of an old Office document, with streams of these names."""
    return OLE + b"".join(f"{name}\0".encode("utf-16-le").ljust(128, b"\0") for name in names)


def open_document(kind: str) -> bytes:
    return make_zip({"mimetype": kind, "content.xml": "<x/>"}, packed=False)


@pytest.mark.parametrize(
    ("filename", "content", "media_type"),
    [
        ("a.md", b"# Hi", "text/markdown"),
        ("A.MD", b"# Hi", "text/markdown"),
        ("a.txt", "Đỏ".encode(), "text/plain"),
        ("a.txt", "Đỏ".encode("utf-16"), "text/plain"),
        ("a.txt", "plain letters".encode("utf-16-le"), "text/plain"),
        ("a.txt", "\u65e5\u672c\u8a9e".encode("cp932"), "text/plain"),
        ("a.csv", b"a,b\n1,2", "text/csv"),
        ("a.tsv", b"a\tb", "text/tab-separated-values"),
        ("a.json", b"{}", "application/json"),
        ("a.jsonl", b"{}\n{}", "application/x-ndjson"),
        ("a.html", PAGE, "text/html"),
        ("a.xml", b"<a/>", "application/xml"),
        ("a.svg", b"<svg/>", "image/svg+xml"),
        ("a.py", b"#!/usr/bin/env python3\nprint()", "text/plain"),
        ("run.sh", b"#!/bin/sh\nrm -rf /", "text/plain"),
        ("Makefile", b"all:\n\tcc", "text/plain"),
        ("a.unheard", b"words", "text/plain"),
        ("MZ.txt", b"MZ is how programs begin", "text/plain"),
        ("BM.txt", b"BM is how pictures begin, those of Windows", "text/plain"),
        ("a.pdf", PDF, "application/pdf"),
        ("a.pdf", b"\n\n" + PDF, "application/pdf"),
        ("paper", PDF, "application/pdf"),
        ("a.docx", WORD, DOCX),
        ("a.docx", make_zip({"[Content_Types].xml": TYPES, "word/document2.xml": "<x/>"}), DOCX),
        ("a.xlsx", BOOK, XLSX),
        ("a.pptx", SLIDES, PPTX),
        ("a.odt", open_document(ODT), ODT),
        ("a.odt", open_document(f"{ODT}-web"), ODT),
        ("a.ods", open_document(ODS), ODS),
        ("a.bin", WORD, DOCX),
        ("a.zip", make_zip({"a.txt": "a"}), ZIP),
        ("a.zip", make_zip({}), ZIP),
        ("a.zip", WORD, ZIP),
        ("a.png", PNG, "image/png"),
        ("a.png", b"\xff\xd8\xff\xe0" + bytes(20), "image/jpeg"),
        ("a.jpg", b"\xff\xd8\xff\xe0" + bytes(20), "image/jpeg"),
        ("a.gif", b"GIF89a" + bytes(20), "image/gif"),
        ("a.webp", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        ("a.bmp", b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x28" + bytes(20), "image/bmp"),
        ("a.tiff", b"II*\0" + bytes(20), "image/tiff"),
        ("a.heic", b"\0\0\0\x18ftypheic" + bytes(20), "image/heic"),
        ("a.avif", b"\0\0\0\x18ftypavif" + bytes(20), "image/avif"),
        ("a.mp3", b"ID3\4" + bytes(20), "audio/mpeg"),
        ("a.mp3", b"\xff\xfb\x90\x44" + bytes(20), "audio/mpeg"),
        ("a.wav", b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
        ("a.m4a", b"\0\0\0\x18ftypM4A " + bytes(20), "audio/mp4"),
        ("a.mp4", b"\0\0\0\x18ftypisom" + bytes(20), "video/mp4"),
        ("a.mov", b"\0\0\0\x08wide\0\0\0\0mdat", "video/quicktime"),
        ("a.webm", b"\x1aE\xdf\xa3" + bytes(20), "video/webm"),
        ("a.tar.gz", b"\x1f\x8b\x08" + bytes(20), "application/gzip"),
        ("a.tgz", b"\x1f\x8b\x08" + bytes(20), "application/gzip"),
        ("a.bz2", b"BZh91AY&SY" + bytes(20), "application/x-bzip2"),
        ("a.xz", b"\xfd7zXZ\0" + bytes(20), "application/x-xz"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(20), "application/x-7z-compressed"),
        ("a.rar", b"Rar!\x1a\x07\0" + bytes(20), "application/vnd.rar"),
        ("a.tar", b"a.txt".ljust(257, b"\0") + b"ustar\0" + bytes(99), "application/x-tar"),
        ("a.bin", bytes(range(256)) * 4, UNKNOWN),
        ("model", bytes(range(256)) * 4, UNKNOWN),
        ("a.db", b"SQLite format 3\0" + bytes(99), "application/vnd.sqlite3"),
        ("empty.txt", b"", "text/plain"),
        ("empty.csv", b"", "text/csv"),
        ("empty.docx", b"", DOCX),
        ("empty", b"", "text/plain"),
    ],
)
def test_a_file_is_what_its_bytes_say(filename: str, content: bytes, media_type: str) -> None:
    assert inspect(io.BytesIO(content), filename) == InspectionResult(media_type)


@pytest.mark.parametrize(
    ("filename", "content", "message"),
    [
        ("a.pdf", PAGE, f"a.pdf is a web page, not a PDF. {RENAME}"),
        ("a.pdf", b"only words", f"a.pdf is a text, not a PDF. {RENAME}"),
        ("a.pdf", PNG, f"a.pdf is a PNG image, not a PDF. {RENAME}"),
        ("a.pdf", bytes(range(256)) * 4, f"a.pdf is something unknown, not a PDF. {RENAME}"),
        ("a.pdf", MZ, "a.pdf is a program for Windows, whatever it is called. Programs are not taken."),
        ("a.png", PAGE, f"a.png is a web page, not a .png file. {RENAME}"),
        ("a.jpg", b"<svg onload=alert(1)>", f"a.jpg is a text, not a .jpg file. {RENAME}"),
        ("a.png", PDF, f"a.png is a PDF, not a .png file. {RENAME}"),
        ("a.mp3", PNG, f"a.mp3 is a PNG image, not a .mp3 file. {RENAME}"),
        ("a.zip", PDF, f"a.zip is a PDF, not a zip file. {RENAME}"),
        ("a.docx", make_zip({"a.txt": "a"}), f"a.docx is a zip file, not a Word document. {RENAME}"),
        ("a.docx", SLIDES, f"a.docx is a PowerPoint presentation, not a Word document. {RENAME}"),
        ("a.docx", PDF, f"a.docx is a PDF, not a Word document. {RENAME}"),
        ("a.docx", b"words", f"a.docx is a text, not a Word document. {RENAME}"),
        (
            "a.docx",
            OLE,
            "a.docx is an old Office document, not a Word document. Save it as .docx.",
        ),
        ("a.ods", open_document(ODT), f"a.ods is an OpenDocument text, not an OpenDocument spreadsheet. {RENAME}"),
        ("a.txt", PNG, f"a.txt is a PNG image, not a text. {RENAME}"),
        ("a.md", WORD, f"a.md is a zip file, not a text. {RENAME}"),
        ("a.csv", BOOK, f"a.csv is a zip file, not a text. {RENAME}"),
        ("a.html", PDF, f"a.html is a PDF, not a text. {RENAME}"),
        (
            "a.lnk",
            LNK,
            f"a.lnk is a shortcut, which can start programs, and is not taken. {SHOWN}",
        ),
        (
            "a.url",
            b"[InternetShortcut]\nURL=file://x",
            f"a.url is a shortcut to an address, and is not taken. {SHOWN}",
        ),
        ("a.hta", PAGE, f"a.hta is a script of the system, and is not taken. {SHOWN}"),
        (
            "a.MHT",
            b"MIME-Version: 1.0\n",
            f"a.MHT is a web archive, which can hold scripts, and is not taken. {SHOWN}",
        ),
        ("a.hta. .", PAGE, f"a.hta. . is a script of the system, and is not taken. {SHOWN}"),
        ("a.LNK ", b"words", f"a.LNK  is a shortcut, which can start programs, and is not taken. {SHOWN}"),
        (
            "a.desktop",
            b"[Desktop Entry]",
            f"a.desktop is a shortcut, which can start programs, and is not taken. {SHOWN}",
        ),
        ("a.txt", LNK, "a.txt is a shortcut of Windows, whatever it is called. Programs are not taken."),
        ("a.exe", MZ, "a.exe is a program for Windows, whatever it is called. Programs are not taken."),
        (
            "tool",
            b"\x7fELF\2\1\1" + bytes(99),
            "tool is a program for Linux, whatever it is called. Programs are not taken.",
        ),
        (
            "tool.txt",
            b"\xcf\xfa\xed\xfe" + bytes(99),
            "tool.txt is a program for macOS, whatever it is called. Programs are not taken.",
        ),
        ("a.docm", WORD, "a.docm may hold macros, which are not taken: save it as .docx."),
        ("a.xlsm", BOOK, "a.xlsm may hold macros, which are not taken: save it as .xlsx."),
        ("a.pptm", SLIDES, "a.pptm may hold macros, which are not taken: save it as .pptx."),
        ("a.tar.gz", b"only words", f"a.tar.gz is a text, not a .gz file. {RENAME}"),
        ("a.rar", b"\x1f\x8b\x08" + bytes(20), f"a.rar is a gzip archive, not a .rar file. {RENAME}"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_not_taken(filename: str, content: bytes, message: str) -> None:
    with pytest.raises(WrongKind) as raised:
        inspect(io.BytesIO(content), filename)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("filename", "content"),
    [
        ("a.docx", {"[Content_Types].xml": TYPES, "word/document.xml": "<x/>", "word/vbaProject.bin": OLE}),
        ("a.xlsx", {"[Content_Types].xml": TYPES, "xl/workbook.xml": "<x/>", "xl/VBAPROJECT.BIN": OLE}),
        ("a.xlsx", {"[Content_Types].xml": TYPES, "xl/workbook.xml": "<x/>", "xl/macrosheets/sheet1.xml": "<x/>"}),
        (
            "a.docx",
            {
                "[Content_Types].xml": '<Types ContentType="application/vnd.ms-word.document.macroEnabled.main+xml"/>',
                "word/document.xml": "<x/>",
            },
        ),
        ("a.odt", {"mimetype": ODT, "content.xml": "<x/>", "Basic/script-lc.xml": "<x/>"}),
    ],
)
def test_macros_are_not_taken_whatever_the_name_says(filename: str, content: dict[str, str | bytes]) -> None:
    suffix = filename.rpartition(".")[2]
    with pytest.raises(WrongKind) as raised:
        inspect(io.BytesIO(make_zip(content)), filename)
    assert raised.value.message == f"{filename} holds macros, which are not taken: save it without them, as .{suffix}."
    with pytest.raises(WrongKind):
        inspect(io.BytesIO(make_zip(content)), "without-a-suffix")


def huge_directory() -> bytes:
    """A directory of 50 MB that claims three entries."""
    entry = make_zip({"a": b""})
    at, end = entry.find(b"PK\x01\x02"), entry.rfind(b"PK\x05\x06")
    listed = entry[at:end] * 1_000_000
    return entry[:at] + listed + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 3, 3, len(listed), at, 0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "bomb",
            lambda: make_zip({"word/document.xml": bytes(20_000_000)}),
            "holds a file that unpacks to over 100 times its size",
        ),
        ("2 GB", lambda: with_claimed_size(docx(paragraph("x")), 2_000_000_000), "would unpack to more than"),
        ("4 GB", lambda: with_claimed_size(docx(paragraph("x")), 0xFFFFFFFE), "would unpack to more than"),
        ("many", lambda: make_zip({f"{number}": b"" for number in range(5_001)}), "holds more than 5,000 files inside"),
        ("directory", huge_directory, "holds more than 5,000 files inside"),
        ("overlap", lambda: overlapping_zip(50), "holds files that lie over each other"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
@pytest.mark.parametrize("filename", ["a.docx", "a.zip"])
def test_traps_are_refused_without_being_unpacked(
    filename: str, name: str, content: Callable[[], bytes], message: str
) -> None:
    path = io.BytesIO(content())
    tracemalloc.start()
    try:
        with pytest.raises(UsageError) as raised:
            inspect(path, filename)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert raised.value.message.startswith(f"{filename} {message}")


@pytest.mark.parametrize(
    ("filename", "content", "media_type", "unreadable"),
    [
        ("a.docx", b"PK\x03\x04" + b"junk" * 50, DOCX, DAMAGED),
        ("a.docx", WORD[: len(WORD) // 2], DOCX, DAMAGED),
        ("a.docx", WORD[:10], DOCX, DAMAGED),
        ("a.xlsx", b"PK\x03\x04 junk", XLSX, DAMAGED),
        ("a.zip", b"PK\x03\x04 junk", ZIP, DAMAGED),
        ("a.bin", b"PK\x03\x04 junk", ZIP, DAMAGED),
        ("a.odt", open_document(ODT).replace(ODT.encode(), ODT.encode().upper()), ODT, DAMAGED),
        ("a.docx", mark_encrypted(WORD), DOCX, LOCKED),
        ("a.docx", ole_file("EncryptionInfo", "EncryptedPackage"), DOCX, LOCKED),
    ],
)
def test_what_cannot_be_read_is_known_without_reading_it(
    filename: str, content: bytes, media_type: str, unreadable: str
) -> None:
    assert inspect(io.BytesIO(content), filename) == InspectionResult(media_type, unreadable)


def test_macros_of_a_damaged_document_are_told_by_its_names() -> None:
    broken = make_zip(
        {"[Content_Types].xml": TYPES, "word/document.xml": "<x/>", "word/vbaProject.bin": OLE}, packed=False
    )
    with pytest.raises(WrongKind, match="holds macros"):
        inspect(io.BytesIO(broken.replace(TYPES.encode(), TYPES.encode().upper())), "a.docx")


def test_a_stream_that_lies_far_behind_is_found() -> None:
    far = OLE.ljust((1 << 20) - 13, b"\1") + ole_file("EncryptedPackage")[len(OLE) :]
    assert inspect(io.BytesIO(far), "a.docx") == InspectionResult(DOCX, LOCKED)


def test_a_damaged_document_is_an_error_of_the_user(subtests: pytest.Subtests) -> None:
    for at in range(0, len(WORD), 7):
        for broken in (WORD[:at], WORD[:at] + b"\xff\0\xff\0" + WORD[at + 4 :]):
            # Any other exception would be a bug of the reader.
            with subtests.test(at=at, length=len(broken)), suppress(UsageError):
                assert inspect(io.BytesIO(broken), "a.docx").media_type == DOCX


# Unpacking -----------------------------------------------------------------------------------------------------------


def test_the_files_of_an_archive_without_what_systems_leave() -> None:
    path = io.BytesIO(
        make_zip(
            {
                "a/": b"",
                "a/report.md": "# Đỏ",
                "b\\c.txt": b"windows",
                "nested.zip": make_zip({"x": "y"}),
                "../../etc/passwd": b"",
                "__MACOSX/a/._report.md": b"\0",
                ".DS_Store": b"\0",
                "a/Thumbs.db": b"\0",
                "tiếng việt.txt": "chữ",
            }
        )
    )
    entries = list_entries(path, "a.zip").entries
    assert [(entry.name, entry.size) for entry in entries] == [
        ("a/report.md", 7),
        ("b/c.txt", 7),
        ("nested.zip", len(make_zip({"x": "y"}))),
        ("../../etc/passwd", 0),
        ("tiếng việt.txt", 5),
    ]
    assert unpack(path, entries[0]).content == "# Đỏ".encode()
    assert zipfile.is_zipfile(io.BytesIO(unpack(path, entries[2]).content))
    assert unpack(path, entries[4]).content == "chữ".encode()


@pytest.mark.parametrize(("raw", "name"), [("chữ.txt".encode(), "chữ.txt"), (b"f\x81r.txt", "für.txt")])
def test_names_that_do_not_say_their_encoding_are_utf_8_or_that_of_dos(raw: bytes, name: str) -> None:
    archive = make_zip({"x" * len(raw): b""}).replace(b"x" * len(raw), raw)
    assert [entry.name for entry in list_entries(io.BytesIO(archive), "a.zip").entries] == [name]


def test_two_files_of_the_same_name_are_both_read() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", b"one")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a", b"two")
    path = io.BytesIO(file.getvalue())
    assert [unpack(path, entry).content for entry in list_entries(path, "a.zip").entries] == [b"one", b"two"]


def symlink_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        entry = zipfile.ZipInfo("evil")
        entry.create_system = 3
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    return file.getvalue()


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (symlink_zip(), "evil in the archive is a link to another place: pack the file itself."),
        (mark_encrypted(make_zip({"a": b"a"})), "a in the archive is protected by a password: pack it without one."),
        (
            make_zip({f"{number}": b"" for number in range(1_001)}),
            "The archive holds 1,001 files, and at most 1,000 are unpacked: split it.",
        ),
        (
            with_claimed_size(make_zip({"a": b"a"}), 501_000_000),
            "The archive would unpack to more than 500 MB: make it smaller.",
        ),
    ],
)
def test_archives_that_must_not_be_unpacked(archive: bytes, message: str) -> None:
    with pytest.raises(UnprocessableFile) as raised:
        list_entries(io.BytesIO(archive), "a.zip")
    assert raised.value.message == message


def test_what_is_no_zip_file_is_not_unpacked() -> None:
    with pytest.raises(WrongKind) as raised:
        list_entries(io.BytesIO(b"no zip file"), "a.zip")
    assert raised.value.message == "a.zip is not a zip file, so it cannot be unpacked."


def test_a_file_is_never_read_past_the_size_that_was_said() -> None:
    path = io.BytesIO(make_zip({"a": bytes(1_000_000)}))
    with pytest.raises(UnprocessableFile, match="is larger than the archive says"):
        unpack(path, ArchiveEntry("a", 100_000, 0))
    assert path.tell() < len(path.getvalue())


def test_a_file_that_is_shorter_or_damaged_is_refused() -> None:
    path = io.BytesIO(with_claimed_size(make_zip({"a": b"words" * 100}), 600))
    with pytest.raises(UnprocessableFile):
        unpack(path, list_entries(path, "a.zip").entries[0])
    good = make_zip({"a": b"words"}, packed=False)
    path = io.BytesIO(good.replace(b"words", b"wards"))
    with pytest.raises(UnprocessableFile, match="is damaged"):
        unpack(path, list_entries(path, "a.zip").entries[0])
