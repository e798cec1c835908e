"""Ceilings, names and places: the rules of docs/contributing.md that no linter knows."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from tree import CODE, MODULES, PACKAGE, name_of, syntax_of

MODULE_CEILING = 400
FUNCTION_CEILING = 60
NAMES_WITHOUT_A_SUBJECT = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc"}

SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore|pyright:\s*\w+|fmt:\s*off|ruff:)")
RULE_AND_REASON = re.compile(
    r"#\s*(?:(?:ruff: )?noqa: [A-Z]+\d+(?:, [A-Z]+\d+)*|pyright: ignore\[\w+(?:, \w+)*\]) - \S+ \S+"
)

in_every_file = pytest.mark.parametrize("path", CODE, ids=name_of)
in_every_module = pytest.mark.parametrize("path", MODULES, ids=name_of)


@in_every_file
def test_a_module_has_at_most_400_lines(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MODULE_CEILING, f"{name_of(path)} has {lines} lines: split it by subject"


@in_every_file
def test_a_function_has_at_most_60_lines(path: Path) -> None:
    lengths = {
        node.name: node.end_lineno - node.lineno + 1
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    }
    assert {name: length for name, length in lengths.items() if length > FUNCTION_CEILING} == {}


@in_every_file
def test_a_module_is_named_after_its_subject(path: Path) -> None:
    assert not NAMES_WITHOUT_A_SUBJECT & {path.stem, path.parent.name}


@in_every_file
def test_what_silences_a_checker_names_the_rule_and_the_reason(path: Path) -> None:
    with path.open("rb") as source:
        comments = [token for token in tokenize.tokenize(source.readline) if token.type == tokenize.COMMENT]
    mute = [
        f"{name_of(path)}:{comment.start[0]}: {comment.string}"
        for comment in comments
        if SUPPRESSION.search(comment.string) and not RULE_AND_REASON.search(comment.string)
    ]
    assert mute == []


@in_every_module
def test_only_the_command_line_prints(path: Path) -> None:
    prints = [
        node.lineno
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert prints == [] or _stands_in(path, "cli")


@in_every_module
def test_only_the_configuration_reads_the_environment(path: Path) -> None:
    """The command line may read one variable, the one that decides how it reports its own crash."""
    reads = list(_environment_reads(syntax_of(path)))
    if _stands_in(path, "cli"):
        assert all("FOOTNOTE_DEBUG" in read for read in reads), reads
    else:
        assert reads == [] or _stands_in(path, "config")


def _stands_in(path: Path, layer: str) -> bool:
    return path.relative_to(PACKAGE).parts[0] in (layer, f"{layer}.py")


def _environment_reads(tree: ast.Module) -> Iterator[str]:
    """Whatever is done with `os.environ` and its kin, as source text: the smallest expression around it."""
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ImportFrom) and child.module == "os":
                yield from (
                    ast.unparse(child) for name in child.names if name.name in ("environ", "getenv", "environb")
                )
            if isinstance(child, ast.Attribute) and child.attr in ("environ", "getenv", "environb"):
                yield ast.unparse(node)
