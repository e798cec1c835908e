"""Settings from environment variables: `FOOTNOTE_` and the path of a key in upper snake case.

The process's environment is read here; everything else is handed a mapping. The one exception is FOOTNOTE_DEBUG, which
the command line asks for itself: it decides how a crash is told, even one of this module.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import NODEFAULT, inspect

from footnote.config.json_file import parse
from footnote.config.kinds import MODEL_NAME
from footnote.config.problems import Path, Problem, nearest, place
from footnote.config.settings import Settings
from footnote.config.shape import faults, leaves, shape_of

HOME = "FOOTNOTE_HOME"
AGENTS = "FOOTNOTE_AGENTS"
OTHER_VARIABLES = (HOME, "FOOTNOTE_TOKEN", "FOOTNOTE_DEBUG", AGENTS)
PREFIX = "FOOTNOTE_"
ANY = "*"
"""Stands in a path for a name that the operator chooses."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def process_environment() -> Mapping[str, str]:
    return os.environ


@dataclass(frozen=True, slots=True)
class Key:
    """One value that can be set. A map (`models.providers`) is a key itself, and so is all that is in it."""

    path: tuple[str, ...]
    node: inspect.Type
    default: Any
    has_variable: bool = True

    def variable(self, name: str = "NAME") -> str:
        """`FOOTNOTE_` and the path in upper snake case, with `name` for the name that the operator chooses."""
        return PREFIX + "_".join(snake(name if step == ANY else step) for step in self.path)

    def name_in(self, variable: str) -> str | None:
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
        case inspect.DictType(key_type=names, value_type=values):
            yield Key(path, node, default, has_variable)
            # PROVIDER/MODEL cannot be spelled in the name of a variable; the whole map can be given as JSON.
            spellable = shape_of(names).kind is not MODEL_NAME
            yield from _keys(values, (*path, ANY), None, has_variable=has_variable and spellable)
        case _:
            yield Key(path, node, default, has_variable)


def _default(part: inspect.Field) -> Any:
    if part.default_factory is not NODEFAULT:
        return part.default_factory()
    return None if part.default is NODEFAULT else part.default


def snake(name: str) -> str:
    """`webSearch` and `web-search` are both `WEB_SEARCH` in the name of a variable."""
    return re.sub(r"[^A-Za-z0-9*]", "_", _HUMP.sub("_", name)).upper()


SETTINGS = inspect.type_info(Settings)
KEYS = keys_of(Settings)


@dataclass(frozen=True, slots=True)
class Given:
    """One value from the environment, and where in `config.json` it belongs."""

    variable: str
    path: Path
    value: Any = field(repr=False)


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
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES or not text_of(environ, variable):
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
            parts = leaves(target.node, value, target.path)
            # An empty map adds nothing to the one in the file, and must not replace it.
            given += [Given(target.variable, path, part) for path, _, part in parts if part != {}]
    return given, problems


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
        case inspect.IntType() if re.fullmatch(r"[+-]?[0-9]{1,1000}", text):
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
