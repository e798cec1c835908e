"""Settings from environment variables: `FOOTNOTE_` and the path of a key in upper snake case.

This is the one module that reads the process's environment; everything else is handed a mapping.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import inspect

from footnote.config.json_file import parse
from footnote.config.keys import ANY, PREFIX, keys_of, leaves, snake
from footnote.config.problems import Problem
from footnote.config.settings import Settings
from footnote.config.shape import faults, shape_of
from footnote.config.words import Path, nearest, place

HOME = "FOOTNOTE_HOME"
DEBUG = "FOOTNOTE_DEBUG"
AGENTS = "FOOTNOTE_AGENTS"
OTHER_VARIABLES = (HOME, "FOOTNOTE_TOKEN", DEBUG, AGENTS)
BENCHMARKS = "FOOTNOTE_BENCH"
"""Variables that begin so belong to the benchmarks."""

SETTINGS = inspect.type_info(Settings)
KEYS = keys_of(Settings)

_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def process_environment() -> Mapping[str, str]:
    return os.environ


@dataclass(frozen=True, slots=True)
class Given:
    """One value from the environment, and where in `config.json` it belongs."""

    variable: str
    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class _Target:
    variable: str
    path: Path
    node: inspect.Type


def text_of(environ: Mapping[str, str], variable: str) -> str | None:
    """The variable's text. One that is set to nothing is not set: that is how compose files leave one out."""
    return environ.get(variable, "").strip() or None


def given_by(environ: Mapping[str, str], names: Collection[str]) -> tuple[list[Given], list[Problem]]:
    """The values of all `FOOTNOTE_…` variables, and what is wrong with them.

    `names` are the model providers that a variable may mean. Maps come before single values, which add to them.
    """
    targets: list[_Target] = []
    given: list[Given] = []
    problems: list[Problem] = []
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or _is_another(variable) or not text_of(environ, variable):
            continue
        if target := _target(variable, names):
            targets.append(target)
        else:
            meant = nearest(variable, _variables(names))
            shown = variable.encode(errors="backslashreplace").decode()
            problems.append(Problem(shown, f"there is no such setting; the nearest one is {meant}"))
    for target in sorted(targets, key=lambda one: len(one.path)):
        value, wrong = _read(target, text_of(environ, target.variable) or "")
        problems += wrong
        if not wrong:
            given += [Given(target.variable, path, leaf) for path, leaf in leaves(target.node, value, target.path)]
    return given, problems


def _is_another(variable: str) -> bool:
    return variable in OTHER_VARIABLES or variable.startswith(BENCHMARKS)


def _variables(names: Collection[str]) -> Iterator[str]:
    yield from OTHER_VARIABLES
    for key in KEYS:
        if ANY not in key.path:
            yield key.variable()
        elif key.has_variable:
            yield from (key.variable(name) for name in names)


def _target(variable: str, names: Collection[str]) -> _Target | None:
    for key in KEYS:
        if ANY not in key.path and variable == key.variable():
            return _Target(variable, key.path, key.node)
        if ANY in key.path and key.has_variable and (spelled := key.name_in(variable)):
            name = next((name for name in names if snake(name) == spelled), spelled.lower())
            return _Target(variable, tuple(name if step == ANY else step for step in key.path), key.node)
    return None


def _read(target: _Target, text: str) -> tuple[Any, list[Problem]]:
    """The value that the text spells. What it does not spell stays text, for `faults` to judge."""
    if not _is_utf8(text):
        return None, [Problem(target.variable, "is not UTF-8 text")]
    value: Any = text
    match shape_of(target.node).node:
        case inspect.BoolType():
            value = _BOOLEANS.get(text.lower(), text)
        case inspect.IntType() if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            value = int(text)
        case inspect.FloatType() if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", text):
            value = float(text)
        case inspect.VarTupleType() if not text.startswith("["):
            value = [item.strip() for item in text.split(",") if item.strip()]
        case inspect.VarTupleType() | inspect.DictType():
            document = parse(target.variable, text)
            if document.problems:
                return None, list(document.problems)
            value = document.value
        case _:
            pass
    wrong = [
        Problem(target.variable, fault.message, place=place(fault.path))
        for fault in faults(SETTINGS, _nested(target.path, value))
    ]
    return value, wrong


def _is_utf8(text: str) -> bool:
    """Bytes of a variable that are no UTF-8 arrive as half characters."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _nested(path: Path, value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value
