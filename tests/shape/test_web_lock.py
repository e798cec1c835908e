"""The lock of the page's packages is the same on every machine, for every registry and platform."""

import json
import re

import lock_platforms
import pytest

from shape.tree import ROOT

LOCK = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
EXPECTED = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))


def test_every_optional_binding_has_an_entry_on_every_system() -> None:
    assert list(lock_platforms.missing_entries(LOCK["packages"])) == [], "run `make lock`"


def test_the_lock_is_that_of_package_json() -> None:
    root = LOCK["packages"][""]
    kinds = ("dependencies", "devDependencies")
    assert {kind: root.get(kind) for kind in kinds} == {kind: EXPECTED.get(kind) for kind in kinds}, "run `make lock`"


def test_the_lock_names_no_registry() -> None:
    named = [name for name, package in LOCK["packages"].items() if "resolved" in package]
    assert named == [], "`npm` in web/ writes none: see web/.npmrc"


def test_every_package_has_its_hash_but_bindings_of_other_systems() -> None:
    without = [(name, package) for name, package in LOCK["packages"].items() if name and "integrity" not in package]
    assert [name for name, package in without if not (package.get("optional") and package.get("cpu"))] == []
    assert [name for name, package in without if "linux" in name and name.endswith(("x64", "x64-gnu"))] == []


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("@a/b-darwin-arm64", {"version": "1.2.3", "cpu": ["arm64"], "optional": True, "os": ["darwin"]}),
        ("@a/b-linux-arm-musleabihf", {"cpu": ["arm"], "libc": ["musl"], "os": ["linux"]}),
        ("@a/b-linux-x64-gnu", {"cpu": ["x64"], "libc": ["glibc"], "os": ["linux"]}),
        ("@a/binding-wasm32-wasi", {"cpu": ["wasm32"]}),
        ("fsevents", {"os": ["darwin"]}),
    ],
)
def test_a_binding_says_in_its_name_where_it_runs(name: str, package: dict[str, object]) -> None:
    whole = {"version": "1.2.3", "optional": True, **package}
    assert lock_platforms.entry(name, "^1.2.3", dev=False) == whole


def test_a_package_found_in_a_folder_above_is_not_missing() -> None:
    packages = {
        "": {},
        "node_modules/a": {},
        "node_modules/a/node_modules/b": {"optionalDependencies": {"c-darwin": "1", "d-darwin": "1", "e-darwin": "1"}},
        "node_modules/a/node_modules/c-darwin": {},
        "node_modules/d-darwin": {},
    }
    assert [name for name, _, _ in lock_platforms.missing_entries(packages)] == ["e-darwin"]


def test_versions_are_whole() -> None:
    odd = [name for name, one in LOCK["packages"].items() if name and not re.fullmatch(r"\d[\w.+-]*", one["version"])]
    assert odd == []
