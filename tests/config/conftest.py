"""A home folder of its own for every test."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from footnote.config.configuration import Configuration
from footnote.config.load import load
from footnote.config.validation import InvalidConfiguration

Load: TypeAlias = Callable[..., Configuration]
Complaints: TypeAlias = Callable[..., list[str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def loaded(home: Path) -> Load:
    """The configuration from values of the two files and variables."""

    def loaded(config: Any = None, *, agents: Any = None, environ: Mapping[str, str] | None = None) -> Configuration:
        for name, value in (("config.json", config), ("agents.json", agents)):
            if value is not None:
                (home / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return load(home, environ=environ or {})

    return loaded


@pytest.fixture
def complaints(loaded: Load, home: Path) -> Complaints:
    """All that is said about an invalid configuration, a line each, without the folder's path."""

    def complaints(*values: Any, **named: Any) -> list[str]:
        with pytest.raises(InvalidConfiguration) as caught:
            loaded(*values, **named)
        assert all(str(problem) in caught.value.message for problem in caught.value.problems)
        return [str(problem).replace(f"{home}/", "") for problem in caught.value.problems]

    return complaints
