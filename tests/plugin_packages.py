"""Installs packages with plugins into a folder that is on the import path."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from footnote.config.environment import setting_keys
from footnote.models.adapters import model_apis
from footnote.tools.registry import plugin_tools
from footnote.web_search.providers import search_providers

_REGISTRIES = (plugin_tools, search_providers, model_apis, setting_keys)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path; `install` puts packages there."""
    monkeypatch.syspath_prepend(tmp_path)
    for registry in _REGISTRIES:
        registry.cache_clear()
    yield tmp_path
    for registry in _REGISTRIES:
        registry.cache_clear()
    for package in tmp_path.glob("*.py"):
        sys.modules.pop(package.stem, None)


def install(site: Path, package: str, code: str, entries: str, *, group: str = "footnote.tools") -> None:
    (site / f"{package}.py").write_text(dedent(code), encoding="utf-8")
    metadata = site / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{dedent(entries)}")
