"""What the fork server imports before the first job of a kind."""

import sys
from typing import get_args

import pytest

from footnote.documents import worker
from footnote.sandbox.jobs import ConvertDocument, ExtractPage, Job, ReadTable, ReadText

READERS = {"word", "slides", "sheets", "opendocument"}


@pytest.mark.parametrize("kind", get_args(Job))
def test_all_parsers_of_a_kind_of_job_are_loaded_before_its_first_job(kind: type[Job]) -> None:
    worker.preload(kind)  # an `ImportError` counts as a missing package, and each job would repeat the import
    loaded = {name.removeprefix("footnote.documents.") for name in sys.modules}
    wanted = {
        ConvertDocument: {"markdown", "out.pdf", "out.docx"},
        ReadText: {
            "extract.upload",
            "extract.html",
            "extract.pdf",
            *(f"extract.office.{reader}" for reader in READERS),
        },
        ReadTable: {"extract.upload", "extract.office.sheets"},
        ExtractPage: {"extract.html", "extract.feeds", "extract.plain", "extract.pdf"},
    }
    assert wanted.get(kind, {"inspection", "images"}) <= loaded
