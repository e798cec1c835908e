"""The fonts that documents are set in. They come with Footnote, so that a machine without fonts does."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import typst

PACKAGE = "footnote_fonts"
REQUIRED_FAMILIES = ("Inter", "JetBrains Mono", "Noto Sans CJK SC", "Noto Sans Arabic")
"""Of the families in the package, those without which a document is told to look otherwise."""


@cache
def load_fonts() -> typst.Fonts:
    """All fonts, found once. Those of the machine are left out: a document looks the same everywhere."""
    return typst.Fonts(include_system_fonts=False, font_paths=[str(folder) for folder in font_folders()])


def font_folders() -> tuple[Path, ...]:
    """Where the package keeps its fonts; none if it is not installed."""
    spec = find_spec(PACKAGE)
    return tuple(Path(folder) for folder in spec.submodule_search_locations or ()) if spec else ()


@cache
def font_families() -> frozenset[str]:
    """The names of the families that are there."""
    return frozenset(load_fonts().families())


def missing_fonts() -> list[str]:
    """The families that documents are meant to be set in and that are not installed."""
    return [family for family in REQUIRED_FAMILIES if family not in font_families()]
