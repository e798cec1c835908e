"""Converts markdown to PDF, and reads the PDF with pdfium."""

import ctypes
import unicodedata
from collections.abc import Mapping

import pypdfium2
import pypdfium2.raw as raw

from footnote.documents.markdown import parse_document
from footnote.documents.out.pdf import render_pdf
from footnote.documents.tree import Document
from footnote.sandbox.jobs import ConvertDocument, ConvertedDocument, DocumentProof, SourceNote


def make_job(markdown: str, **options: object) -> ConvertDocument:
    return ConvertDocument(target="pdf", markdown=markdown, filename="report.md", made_at=1_700_000_000, **options)


def convert_to_pdf(
    markdown: str,
    *,
    images: Mapping[str, bytes] | None = None,
    sources: Mapping[int, SourceNote] | None = None,
    proof: DocumentProof | None = None,
) -> ConvertedDocument:
    work = make_job(markdown, images=images or {}, sources=sources or {}, proof=proof)
    document = parse_document(work)
    assert isinstance(document, Document)
    result = render_pdf(document, work)
    assert isinstance(result, ConvertedDocument), result
    return result


class ParsedPdf:
    """A PDF as pdfium reads it."""

    def __init__(self, content: bytes) -> None:
        self.file = pypdfium2.PdfDocument(content)

    def texts(self) -> list[str]:
        return [page.get_textpage().get_text_range() for page in self.file]

    def text(self) -> str:
        """The text of all pages in one line, without page numbers."""
        total = len(self.file)
        # In Arabic the two numbers of the footer are reversed.
        footers = [(f"{at} / {total}", f"{total} / {at}") for at in range(1, total + 1)]
        pages = [
            text.replace(one, " ").replace(other, " ") for text, (one, other) in zip(self.texts(), footers, strict=True)
        ]
        return " ".join(unicodedata.normalize("NFC", " ".join(pages)).replace("\ufffe", "").split())

    def bookmarks(self) -> list[tuple[int, str]]:
        return [(mark.level + 1, mark.get_title()) for mark in self.file.get_toc()]

    def addresses(self) -> list[str]:
        """The targets of the links, each once."""
        found: dict[str, None] = {}
        for page in self.file:
            place, link = ctypes.c_int(0), raw.FPDF_LINK()
            while raw.FPDFLink_Enumerate(page, place, link):
                action = raw.FPDFLink_GetAction(link)
                size = raw.FPDFAction_GetURIPath(self.file, action, None, 0) if action else 0
                if size:
                    buffer = ctypes.create_string_buffer(size)
                    raw.FPDFAction_GetURIPath(self.file, action, buffer, size)
                    found[buffer.value.decode()] = None
        return list(found)

    def metadata(self) -> dict[str, str]:
        return {key: value for key, value in self.file.get_metadata_dict().items() if value}

    def is_tagged(self) -> bool:
        return bool(raw.FPDFCatalog_IsTagged(self.file))
