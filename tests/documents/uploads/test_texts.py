import pytest

from documents.extract.pdf_builder import lines, make_pdf
from documents.office import BILLION_LAUGHS, EXTERNAL_ENTITY
from documents.uploads.refusals import refusal
from footnote.documents.extract.upload import MAX_CHARACTERS, read_text
from footnote.documents.inspection import ZIP
from footnote.protocol.sources import Link
from footnote.sandbox.jobs import DocumentText, JobRefused, ReadText


def read(content: bytes | str, media_type: str = "text/plain") -> DocumentText | JobRefused:
    content = content.encode() if isinstance(content, str) else content
    return read_text(ReadText(content=content, filename="a file", media_type=media_type))


SAID = "Hà Nội là thủ đô của nước Việt Nam,\r\n\tmột thành phố lớn.\r\n\r\n\r\n\r\nHết  \r\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_a_text_is_kept_as_it_is_in_whatever_encoding_it_came(encoding: str) -> None:
    assert read(SAID.encode(encoding)) == DocumentText(text=SAID)


@pytest.mark.parametrize(
    "media_type", ["text/csv", "application/json", "text/markdown", "text/x-python", "application/xml"]
)
def test_tables_data_and_code_are_not_changed(media_type: str) -> None:
    content = 'a,"b\n c"\n  {"x": 1}\n<a>&amp;</a>\n'
    assert read(content, media_type) == DocumentText(text=content)


def test_what_is_no_character_is_left_out() -> None:
    assert read("letters\0 and more letters, and more than that", "text/x-python") == DocumentText(
        text="letters and more letters, and more than that"
    )


def test_an_empty_file_has_an_empty_text() -> None:
    assert read(b"", "application/pdf") == DocumentText(text="")


def test_a_long_text_is_cut() -> None:
    assert read("x" * (MAX_CHARACTERS + 1)) == DocumentText(text="x" * MAX_CHARACTERS, cut=True)
    assert read("x" * MAX_CHARACTERS) == DocumentText(text="x" * MAX_CHARACTERS)


def test_a_web_page_is_read_as_one() -> None:
    text = "Sông Hồng bắt nguồn từ Vân Nam, chảy qua Hà Nội rồi đổ ra biển, mang theo nhiều phù sa màu đỏ. " * 5
    page = f"<html lang=vi><title>Tên</title><h1>Tên</h1><p>{text}Xem <a href='https://a.test/'>trang</a>.</p>"
    at = len("# Tên\n\n" + text + "Xem ")
    assert read(page, "text/html") == DocumentText(
        text=f"# Tên\n\n{text}Xem trang.", title="Tên", language="vi", links=(Link("https://a.test/", at, at + 5),)
    )


def test_a_page_without_content_is_its_source() -> None:
    assert read("<html><body></body></html>", "text/html") == DocumentText(text="<html><body></body></html>")


def test_the_pages_of_a_pdf_are_known() -> None:
    content = make_pdf(
        lines("One page of text."), lines("Another page of text."), facts="/Title (Report) /Author (Anh)"
    )
    assert read(content, "application/pdf") == DocumentText(
        text="One page of text.\n\nAnother page of text.", title="Report", author="Anh", pages=(0, 19)
    )


def test_a_scan_says_that_it_is_one() -> None:
    assert read(make_pdf([]), "application/pdf") == DocumentText(
        text=None, reason="it is a scan: its pages are pictures, without text"
    )


@pytest.mark.parametrize("content", [b"%PDF-1.7\n", make_pdf(lines("x"))[:200], b"%PDF-1.7\n" + bytes(range(256)) * 50])
def test_a_damaged_pdf_is_refused(content: bytes) -> None:
    assert read(content, "application/pdf") == refusal(
        "a file", "cannot be read: it is broken: no PDF reader can open it"
    )


@pytest.mark.parametrize(
    ("media_type", "reason"),
    [
        ("image/png", "it is an image"),
        ("audio/mpeg", "it is sound"),
        ("video/mp4", "it is a video"),
        (ZIP, "it is an archive; unpack it to read its files"),
        ("application/rtf", "RTF is not read; save it as .docx"),
    ],
)
def test_what_has_no_text_says_why(media_type: str, reason: str) -> None:
    assert read(b"bytes", media_type) == DocumentText(text=None, reason=reason)


@pytest.mark.parametrize("media_type", ["image/svg+xml", "application/xml"])
@pytest.mark.parametrize(
    "prolog",
    [
        BILLION_LAUGHS,
        EXTERNAL_ENTITY,
        "<!DOCTYPE a [<!ENTITY % x SYSTEM 'http://127.0.0.1/x'> %x;]>",
        f"<!DOCTYPE a [<!ENTITY x '{'x' * 1_001}'>]>",
    ],
    ids=["laughs", "outside", "parameter", "long"],
)
def test_markup_that_declares_entities_to_do_harm_is_refused(media_type: str, prolog: str) -> None:
    assert read(f"{prolog}<svg>&x;</svg>", media_type) == refusal(
        "a file", "declares entities, which can be made to expand without end. Remove its DOCTYPE", is_hostile=True
    )


def test_a_drawing_whose_program_declares_short_names_is_read() -> None:
    drawing = (
        '<!DOCTYPE svg [<!ENTITY ns_svg "http://www.w3.org/2000/svg">]><svg xmlns="&ns_svg;"><text>Hi</text></svg>'
    )
    assert read(drawing, "image/svg+xml") == DocumentText(text=drawing)
