"""Settings from environment variables: `FOOTNOTE_` and the path of a key in upper snake case.

Only this module reads the environment of the process; all others get a mapping. The one exception is FOOTNOTE_DEBUG,
which the command line reads itself: it decides how a crash is reported, even one of this module.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from msgspec import NODEFAULT, inspect

from footnote.config.formats import MODEL_NAME
from footnote.config.json_file import parse_json
from footnote.config.settings import Settings
from footnote.config.validation import (
    Path,
    Problem,
    closed_names,
    closest_name,
    find_violations,
    format_path,
    leaves,
    shape_of,
)

HOME_VARIABLE = "FOOTNOTE_HOME"
AGENTS_VARIABLE = "FOOTNOTE_AGENTS"
OTHER_VARIABLES = (HOME_VARIABLE, "FOOTNOTE_TOKEN", "FOOTNOTE_DEBUG", AGENTS_VARIABLE)
PREFIX = "FOOTNOTE_"
WILDCARD = "*"
"""Stands in a path for a name that the operator chooses."""

_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def process_environment() -> Mapping[str, str]:
    return os.environ


@dataclass(frozen=True, slots=True)
class Key:
    """One value that can be set. A map (`models.providers`) is a key, and so is each value in it."""

    path: tuple[str, ...]
    node: inspect.Type
    default: Any
    has_variable: bool = True

    def variable(self, name: str = "NAME") -> str:
        """`FOOTNOTE_` and the path in upper snake case, with `name` for the name that the operator chooses."""
        return PREFIX + "_".join(upper_snake(name if step == WILDCARD else step) for step in self.path)

    def match_variable(self, variable: str) -> str | None:
        """The chosen name, in upper snake case, if `variable` sets this key."""
        head, _, tail = self.variable("*").partition("*")
        name = variable.removeprefix(head).removesuffix(tail)
        return name if name and variable == head + name + tail else None


def keys_of(struct: type) -> tuple[Key, ...]:
    return tuple(_keys(inspect.type_info(struct), (), None, has_variable=True))


def _keys(node: inspect.Type, path: tuple[str, ...], default: Any, *, has_variable: bool) -> Iterator[Key]:
    match shape_of(node).node:
        case inspect.StructType(fields=fields):
            for part in fields:
                yield from _keys(part.type, (*path, part.encode_name), _default(part), has_variable=has_variable)
        case inspect.DictType(key_type=names, value_type=values) if (known := closed_names(names)) is not None:
            for name in known:
                yield from _keys(values, (*path, name), None, has_variable=has_variable)
        case inspect.DictType(key_type=names, value_type=values):
            yield Key(path, node, default, has_variable)
            # PROVIDER/MODEL cannot be spelled in the name of a variable; the whole map can be given as JSON.
            spellable = shape_of(names).kind is not MODEL_NAME
            yield from _keys(values, (*path, WILDCARD), None, has_variable=has_variable and spellable)
        case _:
            yield Key(path, node, default, has_variable)


def _default(part: inspect.Field) -> Any:
    if part.default_factory is not NODEFAULT:
        return part.default_factory()
    return None if part.default is NODEFAULT else part.default


def upper_snake(name: str) -> str:
    """`webSearch` and `web-search` are both `WEB_SEARCH` in the name of a variable."""
    return re.sub(r"[^A-Za-z0-9*]", "_", _CAMEL_BOUNDARY.sub("_", name)).upper()


SETTINGS_TYPE = inspect.type_info(Settings)


@cache
def setting_keys() -> tuple[Key, ...]:
    """All keys of `config.json`. Not a constant, because plugins may bring search providers."""
    return keys_of(Settings)


@dataclass(frozen=True, slots=True)
class EnvironValue:
    """One value from the environment, and where in `config.json` it belongs."""

    variable: str
    path: Path
    value: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Target:
    variable: str
    path: Path
    node: inspect.Type


def environ_text(environ: Mapping[str, str], variable: str) -> str | None:
    """The text of the variable; None if it is empty, which is how compose files leave a variable out."""
    return environ.get(variable, "").strip() or None


def read_environ(environ: Mapping[str, str], names: Collection[str]) -> tuple[list[EnvironValue], list[Problem]]:
    """The values of all `FOOTNOTE_…` variables, and the problems with them.

    `names` are the model providers that a variable may mean. Maps come first, so that single values add to them.
    """
    targets: list[_Target] = []
    values: list[EnvironValue] = []
    problems: list[Problem] = []
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES or not environ_text(environ, variable):
            continue
        if target := _target(variable, names):
            targets.append(target)
        else:
            closest = closest_name(variable, _variables(names))
            printable = variable.encode(errors="backslashreplace").decode()
            problems.append(Problem(printable, f"there is no such setting; the nearest one is {closest}"))
    for target in sorted(targets, key=lambda target: len(target.path)):
        value, invalid = _parse_value(target, environ_text(environ, target.variable) or "")
        problems += invalid
        if not invalid:
            parts = leaves(target.node, value, target.path)
            # An empty map adds nothing to the one in the file, and must not replace it.
            values += [EnvironValue(target.variable, path, part) for path, _, part in parts if part != {}]
    return values, problems


def _variables(names: Collection[str]) -> Iterator[str]:
    yield from OTHER_VARIABLES
    for key in setting_keys():
        if WILDCARD not in key.path:
            yield key.variable()
        elif key.has_variable:
            yield from (key.variable(name) for name in names)


def _target(variable: str, names: Collection[str]) -> _Target | None:
    for key in setting_keys():
        if WILDCARD not in key.path and variable == key.variable():
            return _Target(variable, key.path, key.node)
        if WILDCARD in key.path and key.has_variable and (spelled := key.match_variable(variable)):
            name = next((name for name in names if upper_snake(name) == spelled), spelled.lower())
            return _Target(variable, tuple(name if step == WILDCARD else step for step in key.path), key.node)
    return None


def _parse_value(target: _Target, text: str) -> tuple[Any, list[Problem]]:
    """The value that the text stands for. A text that cannot be converted stays a string, which is then a violation."""
    if not _is_utf8(text):
        return None, [Problem(target.variable, "is not UTF-8 text")]
    value: Any = text
    match shape_of(target.node).node:
        case inspect.BoolType():
            value = _BOOLEANS.get(text.lower(), text)
        case inspect.IntType() if re.fullmatch(r"[+-]?[0-9]{1,1000}", text):
            value = int(text)
        case inspect.FloatType() if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", text):
            value = float(text)
        case inspect.VarTupleType() if not text.startswith("["):
            value = [item.strip() for item in text.split(",") if item.strip()]
        case inspect.VarTupleType() | inspect.DictType():
            document = parse_json(target.variable, text)
            if document.problems:
                return None, list(document.problems)
            value = document.value
        case _:
            pass
    problems = [
        Problem(target.variable, violation.message, place=format_path(violation.path))
        for violation in find_violations(SETTINGS_TYPE, _nest(target.path, value))
    ]
    return value, problems


def _is_utf8(text: str) -> bool:
    """Python decodes invalid UTF-8 of a variable to surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _nest(path: Path, value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value
