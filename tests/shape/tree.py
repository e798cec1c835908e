"""The files of the repository, for the tests of its form."""

import ast
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "footnote"
MODULES = sorted(PACKAGE.rglob("*.py"))
CODE = sorted(path for folder in ("src", "tests", "bench", "scripts") for path in (ROOT / folder).rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def name_of(path: Path) -> str:
    """The path from the root of the repository, with forward slashes on every system."""
    return path.relative_to(ROOT).as_posix()


def syntax_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
