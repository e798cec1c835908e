"""The report as DOCX in a process that starts from nothing, with no more than that loaded."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from documents.samples import long_report
from footnote.documents.docx import docx_of
from footnote.documents.markdown import document_of
from footnote.documents.tree import Document
from footnote.sandbox.jobs import Conversion

if __name__ == "__main__":
    markdown, images = long_report()
    conversion = Conversion(target="docx", markdown=markdown, filename="report.md", images=images)
    document = document_of(conversion)
    assert isinstance(document, Document), document
    docx_of(document, conversion)
