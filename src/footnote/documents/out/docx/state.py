"""What all parts of one document share while it is written: numbers that must be unique, links, pictures, remarks."""

from collections.abc import Mapping
from itertools import count

from footnote.documents.markdown.notes import number_notes
from footnote.documents.out.docx.images import Media
from footnote.documents.out.docx.lists import Lists
from footnote.documents.out.docx.relations import Relations
from footnote.documents.tree import Block, Document

_MAX_WARNINGS = 20


class DocxState:
    """`relations` are those of the part that is being written; `in_note`: it is the notes, where Word has no notes."""

    def __init__(self, document: Document, images: Mapping[str, bytes]) -> None:
        self.document = document
        self.media = Media(images)
        self.lists = Lists()
        self.relations = Relations()
        self.in_note = False
        self.note_numbers: dict[str, int] = {}
        self.note_labels = custom_note_labels(document.notes)
        self.nested_notes: dict[str, tuple[Block, ...]] = {}
        """Those that only the note being written refers to; they are printed below it."""
        self._warnings: dict[str, None] = {}
        self._bookmarks: dict[str, str] = {}
        self._ids = count(1)

    def next_id(self) -> int:
        return next(self._ids)

    def warn(self, sentence: str) -> None:
        """Something that is not shown as it was written; said once."""
        self._warnings[sentence] = None

    @property
    def warnings(self) -> tuple[str, ...]:
        said = tuple(self._warnings)
        if len(said) <= _MAX_WARNINGS:
            return said
        return *said[:_MAX_WARNINGS], f"{len(said) - _MAX_WARNINGS:,} more things are not shown as they were written."

    def bookmark_name(self, anchor: str) -> str:
        """The name of a heading's bookmark. An anchor may have signs that Word does not take, and be too long."""
        return self._bookmarks.setdefault(anchor, f"_Toc{len(self._bookmarks) + 1:06}")


def custom_note_labels(notes: Mapping[str, object]) -> Mapping[str, str]:
    """What the notes are called where Word's own count would not do: sources keep the numbers that they have in the
    session, since the text may list them by those. Empty: Word counts."""
    numbers = number_notes(notes)
    if list(numbers.values()) == [*range(1, len(notes) + 1)]:
        return {}
    return {key: str(number) for key, number in numbers.items()}
