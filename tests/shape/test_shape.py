"""Ceilings, names and places: the rules of docs/contributing.md that no linter knows."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from shape.tree import CODE, MODULES, PACKAGE, ROOT, name_of, syntax_of

MODULE_CEILING = 500
FUNCTION_CEILING = 60
NAMES_WITHOUT_A_SUBJECT = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc"}
ENVIRONMENT = {"environ", "environb", "getenv", "putenv"}

SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore|pyright:|ruff:)")
RULE_AND_REASON = re.compile(
    r"#\s*(?:(?:ruff: )?noqa: [A-Z]+\d+(?:, [A-Z]+\d+)*|pyright: ignore\[\w+(?:, \w+)*\]) - \S+"
)


def test_a_module_has_at_most_500_lines() -> None:
    lengths = {name_of(path): len(_lines(path)) for path in CODE}
    assert {name: length for name, length in lengths.items() if length > MODULE_CEILING} == {}, "split by subject"


def test_a_function_has_at_most_60_lines() -> None:
    lengths = {
        f"{name_of(path)}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for path in CODE
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    }
    assert {name: length for name, length in lengths.items() if length > FUNCTION_CEILING} == {}


def test_a_module_is_named_after_its_subject() -> None:
    nameless = [name_of(path) for path in CODE if NAMES_WITHOUT_A_SUBJECT & {path.stem, path.parent.name}]
    assert nameless == []


def test_no_two_classes_of_the_package_have_the_same_name() -> None:
    """Searching for a class finds exactly one."""
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.walk(syntax_of(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(name_of(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_what_silences_a_checker_names_the_rule_and_the_reason() -> None:
    mute = [
        f"{name_of(path)}:{line}: {comment}"
        for path in CODE
        for line, comment in _comments(path)
        if SUPPRESSION.search(comment) and not RULE_AND_REASON.search(comment)
    ]
    assert mute == []


def test_only_the_command_line_prints() -> None:
    prints = {
        path
        for path in MODULES
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert [name_of(path) for path in prints if not _is_in_layer(path, "cli")] == []


def test_only_the_configuration_reads_the_environment() -> None:
    """The command line may read one variable more: it decides how a crash is reported."""
    reads = [(path, line) for path in MODULES for line in _environment_reads(path)]
    assert [
        f"{name_of(path)}: {line}"
        for path, line in reads
        if not _is_in_layer(path, "config") and not (_is_in_layer(path, "cli") and '"FOOTNOTE_DEBUG"' in line)
    ] == []
    assert reads, "nothing reads the environment: this test has lost what it looks for"


def test_the_commands_of_ci_are_those_of_a_contributor() -> None:
    commands = [line for line in _lines(ROOT / ".ci" / "run") if line and not line.startswith("#")]
    assert commands == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "make check", "make browser", "make test"]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    with path.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def _is_in_layer(path: Path, layer: str) -> bool:
    return path.relative_to(PACKAGE).parts[0] == layer


def _environment_reads(path: Path) -> Iterator[str]:
    """The lines that use or import `os.environ` or a variant of it."""
    lines = _lines(path)
    for node in ast.walk(syntax_of(path)):
        of_os = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
        names = {node.attr} if of_os else set[str]()
        if isinstance(node, ast.ImportFrom):
            names = {name.name for name in node.names}
        if names & ENVIRONMENT:
            yield lines[node.lineno - 1].strip()
