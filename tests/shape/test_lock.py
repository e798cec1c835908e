"""The lock files are complete, match pyproject.toml, and are the same on every machine."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from shape.tree import ROOT, name_of, project

LOCKS = sorted(ROOT.glob("requirements*.lock"))
OURS = {"footnote-fonts"}
"""Packages of this repository are installed from it, and are in no lock."""
PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[\w.+!-]+)(?: ; (?P<marker>[^\\]+))?", re.MULTILINE)

RUNTIME = ("build", "core", "terminal", "documents", "convert", "mcp", "server", "replicas")
EXPECTED = {
    "requirements.lock": RUNTIME,
    "requirements-dev.lock": (*RUNTIME, "telemetry", "test", "check"),
    "requirements-realmodel.lock": ("realmodel",),
}


def pins(lock: Path) -> dict[str, str]:
    return {canonicalize_name(pin["name"]): pin["version"] for pin in PIN.finditer(lock.read_text(encoding="utf-8"))}


def expected_requirements() -> dict[str, list[Requirement]]:
    """The requirements of pyproject.toml by the name of their group."""
    declared = project()
    sets = {
        "core": declared["project"]["dependencies"],
        **declared["project"]["optional-dependencies"],
        **declared["dependency-groups"],
    }
    every = {name: [Requirement(line) for line in lines] for name, lines in sets.items()}
    return {name: [one for one in lines if one.name not in OURS] for name, lines in every.items()}


def test_there_is_a_lock_for_every_set_of_requirements() -> None:
    locked = {name for sets in EXPECTED.values() for name in sets}
    assert {path.name for path in LOCKS} == set(EXPECTED)
    assert locked == set(expected_requirements()) - {"all"}


@pytest.mark.parametrize("lock", LOCKS, ids=name_of)
def test_a_lock_pins_a_version_that_pyproject_asks_for(lock: Path) -> None:
    pinned = pins(lock)
    missed = [
        str(requirement)
        for name in EXPECTED[lock.name]
        for requirement in expected_requirements()[name]
        if not requirement.specifier.contains(pinned.get(canonicalize_name(requirement.name), "0"))
    ]
    assert missed == [], f"run `make lock`: {lock.name} does not satisfy these"


@pytest.mark.parametrize("lock", LOCKS, ids=name_of)
def test_a_lock_has_hashes_for_every_pin_and_names_no_place(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[\w.-]+==)", text)[1:]
    assert len(entries) == len(pins(lock))
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"\w+://|--(?:index|extra|find)\S*|(?<=\s)/\S+", text) == []


def test_development_runs_on_the_versions_that_users_get() -> None:
    runtime = pins(ROOT / "requirements.lock")
    development = pins(ROOT / "requirements-dev.lock")
    assert {name: development.get(name) for name in runtime} == runtime
