"""The documentation matches the code: what a page names exists, and what exists is named."""

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import module_list
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from shape.tree import PACKAGE, PAGES, ROOT, name_of, project

ARCHITECTURE = ROOT / "docs" / "architecture.md"
DEPENDENCIES = ROOT / "docs" / "dependencies.md"

LINK = re.compile(r"(?:\]\(|src=\"|href=\")([^)\"\s]+)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MAKE_COMMAND = re.compile(r"(?:`|^)make (?:PYTHON=\S+ )?([a-z]+)", re.MULTILINE)
MAKE_TARGET = re.compile(r"^([a-z]+):", re.MULTILINE)


def test_the_packages_are_all_named_and_nothing_else() -> None:
    named = {line.split()[0] for line in _diagram("Packages")}
    packages = {f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}
    there = packages | {path.name for path in PACKAGE.glob("*.py")}
    assert {"missing": there - named, "gone": named - there} == {"missing": set(), "gone": set()}


def test_the_list_of_modules_is_current() -> None:
    assert module_list.PAGE.read_text(encoding="utf-8") == module_list.page(), "run `make docs`"


def test_the_glossary_is_short() -> None:
    assert len((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()) <= 60


def test_the_layers_are_drawn_as_they_are_checked() -> None:
    contracts = project()["tool"]["importlinter"]["contracts"]
    checked = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    columns = [re.split(r"\s{2,}", line.strip())[1] for line in _diagram("Layers")]
    drawn = [layer for column in columns for layer in column.split(" → ")]
    assert [set(layer.split(" · ")) for layer in drawn] == [set(layer.split(" | ")) for layer in checked]


def test_every_dependency_has_its_reason_and_no_reason_is_without_its_dependency() -> None:
    declared = project()
    lines = [
        *declared["project"]["dependencies"],
        *(line for lines in declared["project"]["optional-dependencies"].values() for line in lines),
        *(line for lines in declared["dependency-groups"].values() for line in lines),
        *(line for peer in (ROOT / "bench").rglob("requirements*.txt") for line in peer.read_text().splitlines()),
    ]
    needed = {canonicalize_name(Requirement(line).name) for line in lines if line.strip() and line[0] != "#"}
    page = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))
    of_the_page = {*page["dependencies"], *page["devDependencies"]}
    explained = re.findall(r"^\| `([@\w./-]+)` \|", DEPENDENCIES.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(explained) == sorted(needed - {"footnote"} | of_the_page)


LICENCE_TEXTS = {
    "Apache-2.0": "Apache License",
    "MIT": "Permission is hereby granted, free of charge",
    "BSD-": "Redistribution and use in source and binary forms",
    "MPL-2.0": "Mozilla Public License Version 2.0",
    "OFL-1.1": "SIL OPEN FONT LICENSE Version 1.1",
}
"""Words of each licence that the others do not have."""
ROW = re.compile(r"^\| `([@\w./-]+)` \|(?: `[^|]* \|)? ([^|]+) \|", re.MULTILINE)


def test_a_dependency_has_the_licence_that_the_page_names(subtests: pytest.Subtests) -> None:
    """Told by the text of the licence in the package, as metadata may name another one; for the page, by its lock."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    rows = ROW.findall(DEPENDENCIES.read_text(encoding="utf-8"))
    compared = 0
    for name, stated in rows:
        locked = lock.get(f"node_modules/{name}")
        held = set(re.split(" OR | AND ", locked["license"])) if locked else _licences_in_package(name)
        compared += bool(held)
        with subtests.test(package=name):
            assert not held or [licence for licence in held if licence in stated.partition(" (")[0]]
    assert compared > 40, "of most packages the licence is found"


def _licences_in_package(name: str) -> set[str]:
    """Empty: it is not installed, or comes without the text of its licence."""
    try:
        files = distribution(name).files or []
    except PackageNotFoundError:
        return set()
    texts = [file.read_text() for file in files if re.search(r"\.dist-info/(?:.*/)?(?:LICEN[CS]E|COPYING)", str(file))]
    words = " ".join(" ".join(texts).split())
    return {licence for licence, text in LICENCE_TEXTS.items() if text in words}


def test_every_link_leads_somewhere(subtests: pytest.Subtests) -> None:
    for page in (*PAGES, ROOT / "bench" / "README.md", ROOT / "fonts" / "README.md"):
        links = LINK.findall(page.read_text(encoding="utf-8"))
        with subtests.test(page=name_of(page)):
            assert [target for target in links if not _is_resolvable(page, target)] == []


def test_every_make_command_exists(subtests: pytest.Subtests) -> None:
    targets = set(MAKE_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    for page in PAGES:
        with subtests.test(page=name_of(page)):
            assert set(MAKE_COMMAND.findall(page.read_text(encoding="utf-8"))) <= targets


def test_every_page_can_be_found_from_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target).resolve() for target in LINK.findall(index.read_text(encoding="utf-8"))}
    assert {name_of(page) for page in PAGES if page not in linked} <= {"docs/README.md"}


def _diagram(heading: str) -> list[str]:
    """The lines of the first fenced block under a heading of docs/architecture.md."""
    below = ARCHITECTURE.read_text(encoding="utf-8").split(f"\n## {heading}\n", 1)[1]
    return [line for line in below.split("```")[1].splitlines()[1:] if line.strip()]


def _is_resolvable(page: Path, target: str) -> bool:
    """Whether the target of a relative link exists, heading included; external links are not requested."""
    if re.match(r"\w+:", target):
        return True
    path, _, fragment = target.partition("#")
    file = page.parent / path if path else page
    return file.exists() and (not fragment or fragment in _fragments(file))


def _fragments(page: Path) -> set[str]:
    """The fragments by which the headings of a page can be linked."""
    titles = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}
