"""The Makefile, which newcomers run first."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shape.tree import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
STAMPS = (".venv/.created", ".venv/.runtime", ".venv/.dev", ".venv/.realmodel", "web/node_modules/.installed")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with only the files by which make decides what to do."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    for name in ("Makefile", "pyproject.toml", *(lock.name for lock in ROOT.glob("requirements*.lock"))):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("web/package-lock.json", "fonts/pyproject.toml"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_make_alone_lists_every_target_with_its_purpose(copy: Path) -> None:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    listed = re.findall(r"^  make (\w+) +\S", _make(copy).stdout, re.MULTILINE)
    assert listed == phony.split()


def test_without_a_suitable_python_it_says_what_to_do_and_leaves_nothing_behind(copy: Path) -> None:
    done = _make(copy, "setup", "PYTHON=")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Python 3.11 or newer" in done.stderr
    assert "make PYTHON=/path/to/python3.11 setup" in done.stderr
    assert not (copy / ".venv").exists()


def test_what_is_installed_is_not_installed_again(copy: Path) -> None:
    _pretend_installed(copy)
    planned = _make(copy, "--dry-run", "setup", "check", "page", "browser", "test")
    assert planned.returncode == 0
    assert " -m venv " not in planned.stdout
    assert " pip " not in planned.stdout
    assert " npm " not in planned.stdout


def test_the_benchmarks_find_what_the_page_is_built_with(copy: Path) -> None:
    planned = _make(copy, "--dry-run", "bench")
    assert "npm ci" in planned.stdout.partition("for bench in")[0]


def test_a_changed_lock_is_installed(copy: Path) -> None:
    _pretend_installed(copy)
    planned = _make(copy, "--dry-run", "--what-if=requirements-dev.lock", "check")
    assert re.findall(r"-r (\S+)", planned.stdout) == ["requirements-dev.lock"]


def test_a_changed_lock_of_the_page_is_installed(copy: Path) -> None:
    _pretend_installed(copy)
    planned = _make(copy, "--dry-run", "--what-if=web/package-lock.json", "check")
    assert re.findall(r"node\.py (npm \w+)", planned.stdout) == ["npm ci"]


def test_nobody_who_only_installs_or_serves_needs_npm(copy: Path) -> None:
    assert "npm" not in _make(copy, "--dry-run", "setup", "serve").stdout


def test_serve_installs_what_is_missing_and_starts_the_server(copy: Path) -> None:
    planned = _make(copy, "--dry-run", "serve", "ARGS=--port 9000")
    *before, last = planned.stdout.splitlines()
    assert last == ".venv/bin/footnote serve --port 9000"
    assert any("requirements.lock" in line for line in before)


def test_serve_starts_at_once_where_all_is_installed(copy: Path) -> None:
    _pretend_installed(copy)
    assert _make(copy, "--dry-run", "serve").stdout.split() == [".venv/bin/footnote", "serve"]


def _pretend_installed(folder: Path) -> None:
    for stamp in STAMPS:
        (folder / stamp).parent.mkdir(parents=True, exist_ok=True)
        (folder / stamp).touch()


def _make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs make as a user would, also when these tests themselves run in `make test`."""
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name and name != "MFLAGS"}
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)
