"""A home folder for every test."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from footnote.config.load import Configuration, load
from footnote.config.validation import InvalidConfiguration

LoadConfig: TypeAlias = Callable[..., Configuration]
ConfigProblems: TypeAlias = Callable[..., list[str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def load_config(home: Path) -> LoadConfig:
    """Writes the two files, and loads the configuration."""

    def load_config(
        config: Any = None, *, agents: Any = None, environ: Mapping[str, str] | None = None
    ) -> Configuration:
        for name, value in (("config.json", config), ("agents.json", agents)):
            if value is not None:
                (home / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return load(home, environ=environ or {})

    return load_config


@pytest.fixture
def config_problems(load_config: LoadConfig, home: Path) -> ConfigProblems:
    """Loads an invalid configuration, and returns its problems, one line each, without the path of the folder."""

    def config_problems(*values: Any, **named: Any) -> list[str]:
        with pytest.raises(InvalidConfiguration) as caught:
            load_config(*values, **named)
        assert all(str(problem) in caught.value.message for problem in caught.value.problems)
        return [str(problem).replace(f"{home}/", "") for problem in caught.value.problems]

    return config_problems
