"""Where the characters of a page of a PDF stand, and how large they are."""

from ctypes import byref, c_double
from typing import Any, NamedTuple

from pypdfium2 import raw as _raw  # pyright: ignore[reportMissingTypeStubs] - it has none

raw: Any = _raw
"""The library's functions in C, which have no types."""


class Glyph(NamedTuple):
    """Points. `baseline` is where it stands, `bottom` and `top` are its ink. `size` is None if it is turned."""

    baseline: float
    bottom: float
    top: float
    size: float | None


class Glyphs:
    """The places of the characters of a page; each is asked for once, and most never."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._known: dict[int, Glyph] = {}
        self._ends = tuple(c_double() for _ in range(4))
        self._matrix = raw.FS_MATRIX()

    def ink(self, index: int) -> tuple[float, float, float, float]:
        """Left, right, bottom, top."""
        left, right, bottom, top = self._ends
        raw.FPDFText_GetCharBox(self._page, index, byref(left), byref(right), byref(bottom), byref(top))
        return left.value, right.value, bottom.value, top.value

    def box(self, index: int) -> tuple[float, float, float, float]:
        """Left, right, bottom, top of the room that it takes in its line, as wide as the next one is away."""
        box = raw.FS_RECTF()
        raw.FPDFText_GetLooseCharBox(self._page, index, byref(box))
        return box.left, box.right, box.bottom, box.top

    def origin(self, index: int) -> tuple[float, float]:
        x, y, *_ = self._ends
        raw.FPDFText_GetCharOrigin(self._page, index, byref(x), byref(y))
        return x.value, y.value

    def __getitem__(self, index: int) -> Glyph:
        if (known := self._known.get(index)) is not None:
            return known
        _, _, bottom, top = self.ink(index)
        _, baseline = self.origin(index)
        size: float | None = raw.FPDFText_GetFontSize(self._page, index)
        matrix = self._matrix
        if raw.FPDFText_GetMatrix(self._page, index, byref(matrix)):
            is_upright = abs(matrix.b) < 0.02 * abs(matrix.a)
            size = size * abs(matrix.d) if is_upright else None
        self._known[index] = found = Glyph(baseline, bottom, top, size or None)
        return found
