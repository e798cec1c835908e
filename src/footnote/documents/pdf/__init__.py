"""A document as PDF: real headings and bookmarks, footnotes, page numbers, and tags for those who listen to it."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from footnote.documents.fonts import families, missing_fonts
from footnote.documents.markdown.parsing import MOST_TABLE_ROWS
from footnote.documents.pdf.arabic import has_arabic, said_plainly
from footnote.documents.pdf.endnotes import with_notes_at_the_end
from footnote.documents.pdf.formulas import MATHS, formulas_of
from footnote.documents.pdf.lines import Parts, Placed, literal, placed
from footnote.documents.pdf.typesetting import Failed, Press, Printed, without_direction
from footnote.documents.pdf.writer import source_of
from footnote.documents.pictures import Seen, look_at
from footnote.documents.tree import Block, Document, Maths, MathsBlock, Picture, Table, Text
from footnote.documents.walk import parts_of
from footnote.sandbox.jobs import Conversion, Converted, Refused

_MOST_NAMED = 10


def pdf_of(document: Document, conversion: Conversion) -> Converted | Refused:
    """The same document and conversion give the same bytes."""
    with tempfile.TemporaryDirectory(prefix="footnote-pdf-") as folder:
        return _Work(document, conversion, Path(folder)).done()


class _Work:
    def __init__(self, document: Document, conversion: Conversion, folder: Path) -> None:
        self._document = document
        self._folder = folder
        self._notes: list[str] = list(document.remarks)
        self._press = Press(folder, conversion.made_at)
        self._stem = PurePosixPath(conversion.filename).stem
        self._filename = conversion.filename
        self._pictures = self._placed(conversion.images)
        parts = list(parts_of(document))
        self._latex = tuple(dict.fromkeys(part.latex for part in parts if isinstance(part, Maths | MathsBlock)))
        self._formulas = formulas_of(self._latex)
        self._has_arabic = any(has_arabic(part.text) for part in parts if isinstance(part, Text))
        absent = dict.fromkeys(
            part.name for part in parts if isinstance(part, Picture) and part.name not in conversion.images
        )
        self._notes += [
            f"The picture {name} is not in the workspace; its description stands in its place." for name in absent
        ]
        rows = sum(part.left_out for part in parts if isinstance(part, Table))
        if rows:
            self._notes.append(f"{rows:,} rows of tables are left out: a document shows {MOST_TABLE_ROWS:,} at most.")

    def done(self) -> Converted | Refused:
        printed = self._press.printed(self._source(self._document))
        for remedy in (self._drop_faulty, self._list_notes, self._drop_blocks):
            if isinstance(printed, Failed) and not printed.is_final:
                remedy()
                printed = self._press.printed(self._source(self._document))
        if isinstance(printed, Failed) and printed.is_final:
            return Refused(f"{self._filename} is too large to be converted: split it into smaller files.")
        if isinstance(printed, Failed):
            return Refused(f"{self._filename} cannot be set as a PDF: try it as a Word file.")
        self._note_fonts(printed)
        self._note_formulas()
        content = without_direction(printed.content)
        content = said_plainly(content) if self._has_arabic else content
        return Converted(content=content, notes=tuple(self._notes))

    def _source(self, document: Document) -> str:
        return source_of(document, Parts(self._pictures, self._formulas), families(), named=self._stem)

    def _placed(self, images: Mapping[str, bytes]) -> dict[str, Placed]:
        pictures: dict[str, Placed] = {}
        for number, (name, content) in enumerate(images.items()):
            seen = look_at(content)
            if not isinstance(seen, Seen):
                self._notes.append(f"The picture {name} {seen.reason}; its description stands in its place.")
                continue
            path = f"{number}.{'jpg' if seen.kind == 'jpeg' else seen.kind}"
            (self._folder / path).write_bytes(content)
            pictures[name] = placed(path, seen.width, seen.height)
        return pictures

    def _drop_faulty(self) -> None:
        """One picture or formula that cannot be set would stop all the rest."""
        names = list(self._pictures)
        for name in self._press.faulty(
            names, lambda names: "\n".join(f"#image({literal(self._pictures[name].path)})" for name in names)
        ):
            del self._pictures[name]
            self._notes.append(f"The picture {name} is damaged; its description stands in its place.")
        sources = list(self._formulas)
        for latex in self._press.faulty(
            sources,
            lambda group: "\n".join((MATHS, *(f"#maths({literal(self._formulas[latex])})" for latex in group))),
        ):
            del self._formulas[latex]

    def _list_notes(self) -> None:
        if self._document.notes:
            self._document = with_notes_at_the_end(self._document)
            self._notes.append("The notes stand at the end: they could not be set at the foot of the pages.")

    def _drop_blocks(self) -> None:
        """The last resort: all but what cannot be set."""

        def source_of_some(group: Sequence[tuple[int, Block]]) -> str:
            return self._source(replace(self._document, blocks=tuple(block for _, block in group)))

        faulty = self._press.faulty(enumerate(self._document.blocks), source_of_some)
        places = {at for at, _ in faulty}
        kept = tuple(block for at, block in enumerate(self._document.blocks) if at not in places)
        self._document = replace(self._document, blocks=kept)
        if faulty:
            some = "One part" if len(faulty) == 1 else f"{len(faulty)} parts"
            self._notes.append(f"{some} of the document could not be set, and had to be left out.")

    def _note_formulas(self) -> None:
        plain = [latex for latex in self._latex if latex not in self._formulas]
        if plain:
            some = (
                "One formula could not be set and stands"
                if len(plain) == 1
                else f"{len(plain)} formulas could not be set and stand"
            )
            self._notes.append(f"{some} as LaTeX: {_named(plain)}.")

    def _note_fonts(self, printed: Printed) -> None:
        if printed.unshown:
            self._notes.append(f"No font has these signs: {_named(printed.unshown)}.")
        if missing_fonts():
            self._notes.append(f"These fonts are not installed: {', '.join(missing_fonts())}.")


def _named(texts: "list[str] | tuple[str, ...]") -> str:
    shown = " ".join(text if len(text) < 40 else f"{text[:40]}…" for text in texts[:_MOST_NAMED])
    return shown if len(texts) <= _MOST_NAMED else f"{shown} and {len(texts) - _MOST_NAMED} more"
