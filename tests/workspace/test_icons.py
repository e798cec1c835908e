from typing import get_args

import pytest

from footnote.protocol.files import IconType
from footnote.workspace.stored import icon_of

EXAMPLES = {
    "report.md": "md",
    "paper.PDF": "pdf",
    "main.py": "code",
    "Makefile": "code",
    "photo.jpeg": "image",
    "table.csv": "csv",
    "book.xlsx": "xlsx",
    "letter.docx": "docx",
    "slides.pptx": "pptx",
    "data.json": "json",
    "notes.txt": "txt",
    "LICENSE": "txt",
    "all.tar.gz": "archive",
    "song.mp3": "audio",
    "film.mp4": "video",
    "unknown.xyz": "file",
    "md": "file",
    "": "file",
    "trailing.": "file",
}


@pytest.mark.parametrize(("filename", "icon"), EXAMPLES.items())
def test_the_icon_follows_from_the_name(filename: str, icon: IconType) -> None:
    assert icon_of(filename) == icon


def test_every_icon_of_the_contract_has_an_example() -> None:
    assert set(EXAMPLES.values()) == set(get_args(IconType))
