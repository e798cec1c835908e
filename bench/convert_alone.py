"""Converts the report to DOCX in a cold process with only the imports that it needs."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from documents.samples import long_report
from footnote.documents.markdown import parse_document
from footnote.documents.out.docx import render_docx
from footnote.documents.tree import Document
from footnote.sandbox.jobs import ConvertDocument

if __name__ == "__main__":
    markdown, images = long_report()
    conversion = ConvertDocument(target="docx", markdown=markdown, filename="report.md", images=images)
    document = parse_document(conversion)
    assert isinstance(document, Document), document
    render_docx(document, conversion)
