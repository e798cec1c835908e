"""What is a text: logs with zero bytes in them, and binary samples that look like letters."""

import io
import random
import struct
from pathlib import Path

import pytest

from footnote.documents.extract.upload import read_text
from footnote.documents.inspection import UNKNOWN, InspectionResult, inspect
from footnote.protocol.errors import WrongKind
from footnote.sandbox.jobs import DocumentText, ReadText


def inspect_bytes(_: Path, filename: str, content: bytes) -> InspectionResult:
    return inspect(io.BytesIO(content), filename)


def numbers(form: str, lowest: int, highest: int) -> bytes:
    some = random.Random(1)
    return b"".join(struct.pack(form, some.randint(lowest, highest)) for _ in range(5_000))


@pytest.mark.parametrize(
    ("filename", "content"),
    [
        ("quiet.raw", numbers("<h", -90, 90)),
        ("depth.dat", numbers("<H", 1, 250)),
        ("adc.bin", numbers(">H", 5, 255)),
        ("ids.bin", numbers("<H", 256, 4_000)),
        ("ffff.bin", b"\xff\xfe" + bytes(range(1, 255)) * 20),
        ("ffff.txt", b"\xff\xfe" + bytes(range(1, 255)) * 20),
        ("nul.txt", bytes(100)),
        ("a.txt", bytes(range(256)) * 4),
        ("a.csv", numbers("<H", 1, 250)),
    ],
)
def test_bytes_that_nobody_knows_are_no_text_and_kept_whatever_they_are_called(
    tmp_path: Path, filename: str, content: bytes
) -> None:
    assert inspect_bytes(tmp_path, filename, content) == InspectionResult(UNKNOWN)


@pytest.mark.parametrize(
    ("filename", "content", "text"),
    [
        ("app.log", b"started\n" * 300 + b"\0" + b"again\n", "started\n" * 300 + "again\n"),
        ("crash.log", b"ok\n" * 50 + bytes(4_096), "ok\n" * 50),
        ("rotated.log", bytes(4_096) + b"ok\n" * 50, "ok\n" * 50),
        ("short.txt", b"one line\0", "one line"),
        ("code.py", b"print('\0')\n", "print('')\n"),
        ("vt.txt", b"page one\x0bline\x0c", "page one\x0bline\x0c"),
        ("wide.txt", "Xin chào, thế giới".encode("utf-16-le"), "Xin chào, thế giới"),
        ("russian.txt", "Война и мир, том первый".encode("utf-16-le"), "Война и мир, том первый"),
        ("chinese.txt", "\ufeff天地玄黄 宇宙洪荒".encode("utf-16-be"), "天地玄黄 宇宙洪荒"),
    ],
)
def test_a_text_with_a_few_odd_characters_is_one(tmp_path: Path, filename: str, content: bytes, text: str) -> None:
    assert inspect_bytes(tmp_path, filename, content) == InspectionResult("text/plain")
    result = read_text(ReadText(content=content, filename=filename, media_type="text/plain"))
    assert isinstance(result, DocumentText)
    assert result.text == text


@pytest.mark.parametrize("filename", ["a.rtf", "a.doc", "a"])
def test_rtf_is_not_read_as_it_stands(tmp_path: Path, filename: str) -> None:
    assert inspect_bytes(tmp_path, filename, b"{\\rtf1 words}") == InspectionResult("application/rtf")


def test_what_is_something_else_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(WrongKind, match="is a PNG image, not a text"):
        inspect_bytes(tmp_path, "a.txt", b"\x89PNG\r\n\x1a\n" + bytes(20))
