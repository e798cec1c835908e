"""The typesetter, run in a folder that holds copies of pictures and nothing else."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, TypeVar

import typst
from msgspec import Struct

from footnote.documents.fonts import fonts

_NOT_SHOWN = re.compile(r"the text `\"(.{1,40}?)\"` could not be displayed")
_READABLE: Final = "ua-1"
"""PDF/UA, the standard of documents that a screen reader can read."""
_RIGHT_TO_LEFT: Final = b"/Direction/R2L"

_Part = TypeVar("_Part")


class Printed(Struct, frozen=True):
    """`unshown`: letters that no font has."""

    content: bytes
    unshown: tuple[str, ...] = ()


class Failed(Struct, frozen=True):
    """`is_final`: nothing in the source is to blame, there is just too much of it."""

    is_final: bool = False


class Press:
    """Sets sources that may use the files of a folder. The time is that of the metadata."""

    def __init__(self, folder: Path, made_at: int) -> None:
        self._compiler = typst.Compiler(root=str(folder), font_paths=fonts(), ignore_system_fonts=True)
        self._made_at = made_at

    def printed(self, source: str) -> Printed | Failed:
        """As PDF/UA, or where that cannot be, as a PDF with tags nevertheless."""
        try:
            return self._printed(source)
        except typst.TypstError:
            return Failed()
        except BaseException as error:
            # So the typesetter fails when it gets no more memory; there is no class to catch it by.
            if type(error).__name__ != "PanicException":
                raise
            return Failed(is_final=True)

    def _printed(self, source: str) -> Printed:
        try:
            return Printed(self._pdf(source, _READABLE))
        except typst.TypstError as error:
            if "PDF/UA" not in error.message:
                raise
            unshown = tuple(dict.fromkeys(_NOT_SHOWN.findall(error.diagnostic)))
        return Printed(self._pdf(source), unshown)

    def _pdf(self, source: str, *standards: Literal["ua-1"]) -> bytes:
        content = self._compiler.compile(
            input=source.encode(), format="pdf", pdf_standards=list(standards), timestamp=self._made_at
        )
        return content if isinstance(content, bytes) else b""

    def faulty(self, parts: Iterable[_Part], source_of: Callable[[Sequence[_Part]], str]) -> list[_Part]:
        """Those of the parts that cannot be set, each tried in ever smaller groups. `source_of`: that of a group."""
        group = list(parts)
        if not group or self._is_settable(source_of(group)):
            return []
        if len(group) == 1:
            return group
        half = len(group) // 2
        return self.faulty(group[:half], source_of) + self.faulty(group[half:], source_of)

    def _is_settable(self, source: str) -> bool:
        try:
            self._compiler.compile(input=source.encode(), format="pdf", timestamp=0)
        except typst.TypstError:
            return False
        return True


def without_direction(pdf: bytes) -> bytes:
    """The same file without a preferred direction. It is meant for the order of pages side by side; Chromium's reader
    takes it for that of words, and whoever copies an English sentence from an Arabic report gets its words reversed."""
    return pdf.replace(_RIGHT_TO_LEFT, b" " * len(_RIGHT_TO_LEFT))
