"""Office documents of the web are read like uploads, whatever content type the server declares."""

import pytest

from documents.office import BILLION_LAUGHS, cells, docx, make_zip, paragraph, pptx, shape, xlsx
from footnote.documents.extract import UnreadableDocument, extract
from footnote.documents.media import DOCX, ODT, PACKAGE, PPTX, XLSX, is_readable, sniff_type

SAID = "The bridge was opened in 1911."
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


def odt() -> bytes:
    body = f"<office:body><office:text><text:p>{SAID}</text:p></office:text></office:body>"
    root = f'<office:document-content xmlns:office="{OFFICE}" xmlns:text="{TEXT}">{body}</office:document-content>'
    return make_zip({"mimetype": ODT, "content.xml": root}, packed=False)


DOCUMENTS = {
    "docx": (DOCX, docx(paragraph(SAID))),
    "xlsx": (XLSX, xlsx({"Bridges": cells(1, SAID, 1911)})),
    "pptx": (PPTX, pptx(shape("Bridges", "title") + shape(SAID, "body"))),
    "odt": (ODT, odt()),
}


@pytest.mark.parametrize("suffix", DOCUMENTS)
@pytest.mark.parametrize(
    "declared",
    ["as it is", "application/octet-stream", "", PACKAGE, "application/msword", "application/force-download"],
)
def test_an_office_document_is_read(suffix: str, declared: str) -> None:
    kind, body = DOCUMENTS[suffix]
    content_type, url = kind if declared == "as it is" else declared, f"https://a.test/files/Report.{suffix}?download=1"
    assert is_readable(content_type, url)
    sniffed = sniff_type(content_type, body[:512], url)
    assert sniffed is not None
    found = extract(body, sniffed, url)
    assert SAID in found.text
    assert found.media_type == kind


@pytest.mark.parametrize("suffix", DOCUMENTS)
def test_without_a_name_its_beginning_tells(suffix: str) -> None:
    kind, body = DOCUMENTS[suffix]
    sniffed = sniff_type("application/octet-stream", body[:512], "https://a.test/download?id=7")
    assert sniffed in (kind, PACKAGE)
    assert extract(body, sniffed, "https://a.test/download?id=7").media_type == kind


def test_a_zip_file_that_is_no_document_is_not_read() -> None:
    archive = make_zip({"photos/1.jpg": "x"})
    assert not is_readable(PACKAGE, "https://a.test/photos.zip")
    assert sniff_type("application/octet-stream", archive[:512], "https://a.test/photos") is None
    with pytest.raises(UnreadableDocument, match="it is an archive, and no document"):
        extract(archive, DOCX, "https://a.test/a.docx")


def test_an_error_page_in_the_place_of_a_document_is_read_as_a_page() -> None:
    body = b"<!doctype html><p>Please log in to read this document.</p>"
    assert sniff_type(DOCX, body, "https://a.test/a.docx") == "text/html"


def test_an_old_office_document_is_not_read_and_a_page_that_is_called_one_is() -> None:
    old = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504)
    assert sniff_type("application/msword", old, "https://a.test/a.doc") is None
    assert sniff_type("application/msword", b"{\\rtf1 Text.}", "https://a.test/a.doc") is None
    assert sniff_type("application/msword", b"\n<html><p>Text.", "https://a.test/a.doc") == "text/html"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (docx(paragraph(SAID))[:400], "it is damaged"),
        (docx(paragraph("&j;"), prolog=BILLION_LAUGHS), "it declares entities"),
        (docx(""), "there is no text in it"),
    ],
)
def test_a_broken_or_hostile_document_says_why_it_is_not_read(body: bytes, reason: str) -> None:
    with pytest.raises(UnreadableDocument, match=reason):
        extract(body, DOCX, "https://a.test/a.docx")
