"""The typesetter, run in a folder that holds copies of pictures and nothing else."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, TypeVar

import typst
from msgspec import Struct

from footnote.documents.fonts import load_fonts

_MISSING_GLYPH = re.compile(r"the text `\"(.{1,40}?)\"` could not be displayed")
_READABLE: Final = "ua-1"
"""PDF/UA, the standard of documents that a screen reader can read."""
_RIGHT_TO_LEFT: Final = b"/Direction/R2L"

_Part = TypeVar("_Part")


class CompiledPdf(Struct, frozen=True):
    """`unshown`: letters that no font has."""

    content: bytes
    missing_glyphs: tuple[str, ...] = ()


class TypesettingFailed(Struct, frozen=True):
    """`is_final`: nothing in the source is to blame, there is just too much of it."""

    is_too_large: bool = False


class TypstCompiler:
    """Sets sources that may use the files of a folder. The time is that of the metadata."""

    def __init__(self, folder: Path, made_at: int) -> None:
        self._compiler = typst.Compiler(root=str(folder), font_paths=load_fonts(), ignore_system_fonts=True)
        self._made_at = made_at

    def compile(self, source: str) -> CompiledPdf | TypesettingFailed:
        """As PDF/UA, or where that cannot be, as a PDF with tags nevertheless."""
        try:
            return self._compile(source)
        except typst.TypstError:
            return TypesettingFailed()
        except BaseException as error:
            # So the typesetter fails when it gets no more memory; there is no class to catch it by.
            if type(error).__name__ != "PanicException":
                raise
            return TypesettingFailed(is_too_large=True)

    def _compile(self, source: str) -> CompiledPdf:
        try:
            return CompiledPdf(self._compile_pdf(source, _READABLE))
        except typst.TypstError as error:
            if "PDF/UA" not in error.message:
                raise
            unshown = tuple(dict.fromkeys(_MISSING_GLYPH.findall(error.diagnostic)))
        return CompiledPdf(self._compile_pdf(source), unshown)

    def _compile_pdf(self, source: str, *standards: Literal["ua-1"]) -> bytes:
        content = self._compiler.compile(
            input=source.encode(), format="pdf", pdf_standards=list(standards), timestamp=self._made_at
        )
        return content if isinstance(content, bytes) else b""

    def find_faulty(self, parts: Iterable[_Part], make_source: Callable[[Sequence[_Part]], str]) -> list[_Part]:
        """Those of the parts that cannot be set, each tried in ever smaller groups. `source_of`: that of a group."""
        group = list(parts)
        if not group or self._compiles(make_source(group)):
            return []
        if len(group) == 1:
            return group
        half = len(group) // 2
        return self.find_faulty(group[:half], make_source) + self.find_faulty(group[half:], make_source)

    def _compiles(self, source: str) -> bool:
        try:
            self._compiler.compile(input=source.encode(), format="pdf", timestamp=0)
        except typst.TypstError:
            return False
        return True


def strip_direction(pdf: bytes) -> bytes:
    """The same file without a preferred direction. It is meant for the order of pages side by side; Chromium's reader
    takes it for that of words, and whoever copies an English sentence from an Arabic report gets its words reversed."""
    return pdf.replace(_RIGHT_TO_LEFT, b" " * len(_RIGHT_TO_LEFT))
