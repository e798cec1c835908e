"""A document tree as PDF: headings with bookmarks, footnotes, page numbers, and tags for screen readers."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec.structs import replace

from footnote.documents.images import ImageInfo, inspect_image
from footnote.documents.markdown.parsing import MAX_TABLE_ROWS
from footnote.documents.out.pdf.arabic import has_arabic, restore_letters
from footnote.documents.out.pdf.inlines import (
    MATHS_MACROS,
    Parts,
    PlacedImage,
    convert_formulas,
    place_image,
    string_literal,
)
from footnote.documents.out.pdf.writer import move_notes_to_end, typst_source
from footnote.documents.out.typesetter import (
    CompiledPdf,
    TypesettingFailed,
    TypstCompiler,
    font_families,
    missing_fonts,
)
from footnote.documents.tree import Block, Document, Maths, MathsBlock, PlainText, Table, TreeImage, walk_document
from footnote.sandbox.jobs import ConvertDocument, ConvertedDocument, JobRefused

_MAX_NAMED = 10

_RIGHT_TO_LEFT: Final = b"/Direction/R2L"


def strip_direction(pdf: bytes) -> bytes:
    """The same file without the reading direction in its viewer preferences. That is meant for pages side by side, but
    Chromium applies it to words: an English sentence copied from an Arabic report would have its words reversed."""
    return pdf.replace(_RIGHT_TO_LEFT, b" " * len(_RIGHT_TO_LEFT))


def render_pdf(document: Document, job: ConvertDocument) -> ConvertedDocument | JobRefused:
    """The same document and conversion give the same bytes."""
    with tempfile.TemporaryDirectory(prefix="footnote-pdf-") as folder:
        return _PdfJob(document, job, Path(folder)).render()


class _PdfJob:
    def __init__(self, document: Document, job: ConvertDocument, folder: Path) -> None:
        self._document = document
        self._folder = folder
        self._warnings: list[str] = list(document.warnings)
        self._compiler = TypstCompiler(folder, job.made_at)
        self._stem = PurePosixPath(job.filename).stem
        self._filename = job.filename
        self._images = self._place_images(job.images)
        parts = list(walk_document(document))
        self._latex = tuple(dict.fromkeys(part.latex for part in parts if isinstance(part, Maths | MathsBlock)))
        self._formulas = convert_formulas(self._latex)
        self._has_arabic = any(has_arabic(part.text) for part in parts if isinstance(part, PlainText))
        absent = dict.fromkeys(
            part.name for part in parts if isinstance(part, TreeImage) and part.name not in job.images
        )
        self._warnings += [
            f"The picture {name} is not in the workspace; its description stands in its place." for name in absent
        ]
        rows = sum(part.left_out for part in parts if isinstance(part, Table))
        if rows:
            self._warnings.append(f"{rows:,} rows of tables are left out: a document shows {MAX_TABLE_ROWS:,} at most.")

    def render(self) -> ConvertedDocument | JobRefused:
        pdf = self._compiler.compile(self._source(self._document))
        for remedy in (self._drop_faulty, self._move_notes_to_end, self._drop_blocks):
            if isinstance(pdf, TypesettingFailed) and not pdf.is_too_large:
                remedy()
                pdf = self._compiler.compile(self._source(self._document))
        if isinstance(pdf, TypesettingFailed) and pdf.is_too_large:
            return JobRefused(
                f"{self._filename} is too large to be converted: split it into smaller files.",
                code="file_processing_too_large",
                params={"name": self._filename},
            )
        if isinstance(pdf, TypesettingFailed):
            return JobRefused(
                f"{self._filename} cannot be set as a PDF: try it as a Word file.",
                code="convert_pdf_failed",
                params={"name": self._filename},
            )
        self._warn_fonts(pdf)
        self._warn_formulas()
        content = strip_direction(pdf.content)
        content = restore_letters(content) if self._has_arabic else content
        return ConvertedDocument(content=content, notes=tuple(self._warnings))

    def _source(self, document: Document) -> str:
        return typst_source(document, Parts(self._images, self._formulas), font_families(), file_title=self._stem)

    def _place_images(self, images: Mapping[str, bytes]) -> dict[str, PlacedImage]:
        pictures: dict[str, PlacedImage] = {}
        for number, (name, content) in enumerate(images.items()):
            info = inspect_image(content)
            if not isinstance(info, ImageInfo):
                self._warnings.append(f"The picture {name} {info.reason}; its description stands in its place.")
                continue
            path = f"{number}.{'jpg' if info.kind == 'jpeg' else info.kind}"
            (self._folder / path).write_bytes(content)
            pictures[name] = place_image(path, info.width, info.height)
        return pictures

    def _drop_faulty(self) -> None:
        """Removes pictures and formulas that do not compile: a single one makes the whole document fail."""
        names = list(self._images)
        for name in self._compiler.find_faulty(
            names, lambda names: "\n".join(f"#image({string_literal(self._images[name].path)})" for name in names)
        ):
            del self._images[name]
            self._warnings.append(f"The picture {name} is damaged; its description stands in its place.")
        sources = list(self._formulas)
        for latex in self._compiler.find_faulty(
            sources,
            lambda group: "\n".join(
                (MATHS_MACROS, *(f"#maths({string_literal(self._formulas[latex])})" for latex in group))
            ),
        ):
            del self._formulas[latex]

    def _move_notes_to_end(self) -> None:
        if self._document.notes:
            self._document = move_notes_to_end(self._document)
            self._warnings.append("The notes stand at the end: they could not be set at the foot of the pages.")

    def _drop_blocks(self) -> None:
        """The last resort: removes the blocks that do not compile."""

        def source_of_some(group: Sequence[tuple[int, Block]]) -> str:
            return self._source(replace(self._document, blocks=tuple(block for _, block in group)))

        faulty = self._compiler.find_faulty(enumerate(self._document.blocks), source_of_some)
        places = {at for at, _ in faulty}
        blocks = tuple(block for at, block in enumerate(self._document.blocks) if at not in places)
        self._document = replace(self._document, blocks=blocks)
        if faulty:
            some = "One part" if len(faulty) == 1 else f"{len(faulty)} parts"
            self._warnings.append(f"{some} of the document could not be set, and had to be left out.")

    def _warn_formulas(self) -> None:
        plain = [latex for latex in self._latex if latex not in self._formulas]
        if plain:
            some = (
                "One formula could not be set and stands"
                if len(plain) == 1
                else f"{len(plain)} formulas could not be set and stand"
            )
            self._warnings.append(f"{some} as LaTeX: {_join_shortened(plain)}.")

    def _warn_fonts(self, pdf: CompiledPdf) -> None:
        if pdf.missing_glyphs:
            self._warnings.append(f"No font has these signs: {_join_shortened(pdf.missing_glyphs)}.")
        if missing_fonts():
            self._warnings.append(f"These fonts are not installed: {', '.join(missing_fonts())}.")


def _join_shortened(texts: "list[str] | tuple[str, ...]") -> str:
    joined = " ".join(text if len(text) < 40 else f"{text[:40]}…" for text in texts[:_MAX_NAMED])
    return joined if len(texts) <= _MAX_NAMED else f"{joined} and {len(texts) - _MAX_NAMED} more"
