"""The fonts that documents are set in. They come with Footnote, so that a machine without fonts does."""

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import typst

_PACKAGES: Mapping[str, str] = {
    "fontpkg_inter": "Inter",
    "fontpkg_jetbrains_mono": "JetBrains Mono",
    "manimgx_fonts_cjk": "Noto Sans CJK SC",
    "manimgx_fonts": "Noto Sans Arabic",
}
"""Each with a family that it must bring."""


@cache
def fonts() -> typst.Fonts:
    """All fonts, found once. Those of the machine are left out: a document looks the same everywhere."""
    return typst.Fonts(include_system_fonts=False, font_paths=[str(folder) for folder in folders()])


def folders() -> tuple[Path, ...]:
    """Where the packages keep their fonts."""
    specs = (find_spec(package) for package in _PACKAGES)
    return tuple(Path(folder) for spec in specs if spec for folder in spec.submodule_search_locations or ())


@cache
def families() -> frozenset[str]:
    """The names of the families that are there."""
    return frozenset(fonts().families())


def missing_fonts() -> list[str]:
    """The families that documents are meant to be set in and that are not installed."""
    return [family for family in _PACKAGES.values() if family not in families()]
