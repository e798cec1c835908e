"""Typst, the typesetter: the fonts that it uses, PDF from its source, and PNG from drawings."""

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, TypeVar

import typst
from msgspec import Struct

from footnote.documents.images import Kind

FONT_PACKAGE = "footnote_fonts"
REQUIRED_FAMILIES = ("Inter", "JetBrains Mono", "Noto Sans CJK SC", "Noto Sans Arabic")
"""Families of the package without which a document looks different enough to warn about it."""

_MISSING_GLYPH = re.compile(r"the text `\"(.{1,40}?)\"` could not be displayed")
_ACCESSIBLE: Final = "ua-1"
"""PDF/UA, the standard for documents that a screen reader can read."""
_RASTER_PPI = 192.0
"""Twice the 96 pixels per inch at which a picture is shown, for high-resolution screens and for print."""
_POINTS_PER_PIXEL = 0.75

_Part = TypeVar("_Part")


@cache
def load_fonts() -> typst.Fonts:
    """The fonts of the package, loaded once. Those of the machine are ignored: a document looks the same everywhere."""
    return typst.Fonts(include_system_fonts=False, font_paths=[str(folder) for folder in font_folders()])


def font_folders() -> tuple[Path, ...]:
    """The folders of the font package; empty if it is not installed."""
    spec = find_spec(FONT_PACKAGE)
    return tuple(Path(folder) for folder in spec.submodule_search_locations or ()) if spec else ()


@cache
def font_families() -> frozenset[str]:
    return frozenset(load_fonts().families())


def missing_fonts() -> list[str]:
    """The required families that are not installed."""
    return [family for family in REQUIRED_FAMILIES if family not in font_families()]


class CompiledPdf(Struct, frozen=True):
    """`missing_glyphs`: characters that no font has."""

    content: bytes
    missing_glyphs: tuple[str, ...] = ()


class TypesettingFailed(Struct, frozen=True):
    """`is_too_large`: the typesetter ran out of memory, so that changing the source does not help."""

    is_too_large: bool = False


class TypstCompiler:
    """Compiles sources that may use the files of a folder. `made_at` becomes the creation time in the metadata."""

    def __init__(self, folder: Path, made_at: int) -> None:
        self._compiler = typst.Compiler(root=str(folder), font_paths=load_fonts(), ignore_system_fonts=True)
        self._made_at = made_at

    def compile(self, source: str) -> CompiledPdf | TypesettingFailed:
        """PDF/UA; if the document cannot satisfy that standard, an ordinary tagged PDF."""
        try:
            return self._compile_accessible(source)
        except typst.TypstError:
            return TypesettingFailed()
        except BaseException as error:
            # The typesetter panics when an allocation fails; the class of that exception cannot be imported.
            if type(error).__name__ != "PanicException":
                raise
            return TypesettingFailed(is_too_large=True)

    def _compile_accessible(self, source: str) -> CompiledPdf:
        try:
            return CompiledPdf(self._compile_pdf(source, _ACCESSIBLE))
        except typst.TypstError as error:
            if "PDF/UA" not in error.message:
                raise
            missing = tuple(dict.fromkeys(_MISSING_GLYPH.findall(error.diagnostic)))
        return CompiledPdf(self._compile_pdf(source), missing)

    def _compile_pdf(self, source: str, *standards: Literal["ua-1"]) -> bytes:
        content = self._compiler.compile(
            input=source.encode(), format="pdf", pdf_standards=list(standards), timestamp=self._made_at
        )
        return content if isinstance(content, bytes) else b""

    def find_faulty(self, parts: Iterable[_Part], make_source: Callable[[Sequence[_Part]], str]) -> list[_Part]:
        """The parts that do not compile, found by bisection. `make_source` makes the source of a group of them."""
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


def rasterize(content: bytes, kind: Kind, width: int, height: int) -> bytes | None:
    """A picture as PNG that is shown with this size in pixels; None: it could not be drawn."""
    source = (
        f"#set page(width: {width * _POINTS_PER_PIXEL}pt, height: {height * _POINTS_PER_PIXEL}pt, margin: 0pt)\n"
        f'#image("picture.{kind}", width: 100%, height: 100%, fit: "contain")'
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"picture.{kind}").write_bytes(content)
        compiler = typst.Compiler(source.encode(), root=folder, font_paths=load_fonts(), ignore_system_fonts=True)
        try:
            png = compiler.compile(format="png", ppi=_RASTER_PPI)
        except RuntimeError:
            return None
    return png if isinstance(png, bytes) else None
