"""Macros are found however they are hidden; a file in which they cannot be ruled out is refused."""

import io
from pathlib import Path

import pytest

from documents.office import TYPES, make_zip
from footnote.documents.inspection import DOCX, InspectionResult, inspect
from footnote.protocol.errors import UnprocessableFile, WrongKind

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
ENABLED = '<Types ContentType="application/vnd.ms-word.document.macroEnabled.main+xml"/>'
CONTAINER = (
    "is a file of Windows that holds others, such as a message of Outlook or an installer, and can hide programs: save "
    "what it says as a PDF or a text."
)


def ole_file(*names: str) -> bytes:
    return OLE + b"".join(f"{name}\0".encode("utf-16-le").ljust(128, b"\0") for name in names)


def package(types: str | bytes, name: str = "[Content_Types].xml", **more: bytes) -> bytes:
    return make_zip({name: types, "word/document.xml": "<x/>", **more})


def inspect_bytes(_: Path, filename: str, content: bytes) -> InspectionResult:
    return inspect(io.BytesIO(content), filename)


@pytest.mark.parametrize(
    "content",
    [
        package(ENABLED.encode("utf-16")),
        package(ENABLED.encode("utf-16-be")),
        package(f"<!--{'x' * 70_000}-->{ENABLED}"),
        package(ENABLED.replace("macroE", "MACROE")),
        package(ENABLED.replace("Enabled", "&#69;nabled")),
        package(ENABLED, "[content_types].xml"),
        package(TYPES, **{"word/vbaProject.bin": OLE})[:-5],
        package(TYPES, **{"word/VBAPROJECT.BIN": OLE})[:-40],
        package(TYPES, **{"a": b"x" * 3, "word\\vbaProject.bin": OLE})[:-40],
        make_zip({"a": bytes((1 << 20) - 50), "word/vbaProject.bin": OLE}, packed=False)[:-5],
    ],
)
def test_macros_are_found_however_they_are_hidden(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(WrongKind, match=r"^a\.docx holds macros, which are not taken: save it without them, as \.docx"):
        inspect_bytes(tmp_path, "a.docx", content)
    with pytest.raises(WrongKind, match="holds macros"):
        inspect_bytes(tmp_path, "a", content)


def test_a_document_that_is_cut_off_and_has_none_is_kept(tmp_path: Path) -> None:
    assert inspect_bytes(tmp_path, "a.docx", package(TYPES)[:-5]) == InspectionResult(DOCX, "it is damaged")


def test_a_list_of_parts_that_is_too_long_to_be_searched_is_a_trap(tmp_path: Path) -> None:
    content = package(f"<!--{'x' * 4_000_000}-->{ENABLED}")
    with pytest.raises(UnprocessableFile, match="says more about its parts than any document does"):
        inspect_bytes(tmp_path, "a.docx", content)


def test_macros_beside_a_password_are_found(tmp_path: Path) -> None:
    with pytest.raises(WrongKind, match=r"a\.xlsx holds macros"):
        inspect_bytes(tmp_path, "a.xlsx", ole_file("EncryptedPackage", "_VBA_PROJECT"))


@pytest.mark.parametrize(
    ("filename", "content", "message"),
    [
        *(
            (f"a.{suffix}", content, f"is an old Office document, which can hide macros: save it as .{new}.")
            for suffix, new, content in (
                ("doc", "docx", ole_file("WordDocument")),
                ("doc", "docx", OLE),
                ("dot", "docx", ole_file("WordDocument", "_VBA_PROJECT")),
                ("xls", "xlsx", ole_file("Workbook")),
                ("xlt", "xlsx", ole_file("Book")),
                ("ppt", "pptx", ole_file("PowerPoint Document")),
                ("pps", "pptx", OLE),
                ("dat", "docx, .xlsx or .pptx", ole_file("Workbook")),
            )
        ),
        ("a.msg", ole_file("__properties_version1.0"), CONTAINER),
        ("setup.msi", OLE, CONTAINER),
    ],
)
def test_what_can_hide_macros_is_not_taken(tmp_path: Path, filename: str, content: bytes, message: str) -> None:
    with pytest.raises(WrongKind) as raised:
        inspect_bytes(tmp_path, filename, content)
    assert raised.value.message == f"{filename} {message}"
