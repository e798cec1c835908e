"""Pictures of kinds that Word does not show (SVG, WebP), drawn as PNG by the typesetter."""

import tempfile
from pathlib import Path

import typst

from footnote.documents.fonts import load_fonts
from footnote.documents.images import Kind

_DENSITY = 192.0
"""Dots to the inch: twice what it is shown with, for screens and paper that are finer."""

_POINTS = 0.75
"""Of a pixel."""


def rasterize(content: bytes, kind: Kind, width: int, height: int) -> bytes | None:
    """A picture of this size in pixels; None: it could not be drawn."""
    source = (
        f"#set page(width: {width * _POINTS}pt, height: {height * _POINTS}pt, margin: 0pt)\n"
        f'#image("picture.{kind}", width: 100%, height: 100%, fit: "contain")'
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"picture.{kind}").write_bytes(content)
        compiler = typst.Compiler(source.encode(), root=folder, font_paths=load_fonts(), ignore_system_fonts=True)
        try:
            made = compiler.compile(format="png", ppi=_DENSITY)
        except RuntimeError:
            return None
    return made if isinstance(made, bytes) else None
