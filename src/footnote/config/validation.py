"""Validates a JSON value against the Struct that it should become, and finds all violations, not only the first.

Only the Structs of `settings` define keys, defaults and limits: this module, `environment` and `footnote config show`
read them from the types.
"""

import difflib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from msgspec import Struct, inspect

from footnote.config.formats import Format, is_secret_name
from footnote.protocol.errors import ConfigError

Path: TypeAlias = tuple[str | int, ...]
"""The keys and list positions that lead to a value."""

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_MAX_QUOTE_LENGTH = 24
"""Longer strings are not quoted: one in the wrong place may be an API key."""


@dataclass(frozen=True, slots=True)
class Violation:
    """An invalid value at `path`. `message` names what was expected, and never holds a secret."""

    path: Path
    message: str


class Problem(Struct, frozen=True):
    """A violation for the operator: its file or variable (`source`), its line, and its key (`place`)."""

    source: str
    message: str
    line: int | None = None
    place: str = ""

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        place = f", {self.place}" if self.place else ""
        return f"{self.source}{line}{place}: {self.message}."


class InvalidConfiguration(ConfigError):
    """The settings cannot be used, because of all `problems`."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        if len(problems) == 1:
            super().__init__(str(problems[0]))
        else:
            lines = "".join(f"\n  {problem}" for problem in problems)
            super().__init__(f"The configuration has {len(problems)} problems:{lines}")


def format_path(path: Path) -> str:
    """Such as `agents[0].mcpServers.files.env`. Names with special characters are quoted in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json_quote(step)}]"
    return text


def json_quote(text: str) -> str:
    """`text` in quotation marks, on one line and at most 60 characters long."""
    return json.dumps(text if len(text) <= 60 else text[:59] + "…", ensure_ascii=False)


def describe_found(value: Any, *, quote: bool) -> str:
    """The value itself if it is short and may be quoted, else its kind."""
    match value:
        case None | bool():
            return json.dumps(value)
        case int() | float():
            text = repr(value)
            return text if quote and len(text) <= _MAX_QUOTE_LENGTH else "a number"
        case "":
            return "an empty string"
        case str():
            return json_quote(value) if quote and len(value) <= _MAX_QUOTE_LENGTH else "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def closest_name(name: str, known: Iterable[str]) -> str:
    """The valid name that is most similar to `name`, however different it is."""
    lowered = {candidate.lower(): candidate for candidate in known}
    closest = difflib.get_close_matches(name[:100].lower(), lowered, n=1, cutoff=0.0)
    return lowered[closest[0]]


MAX_INTEGER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Shape:
    """A type without its wrappers."""

    node: inspect.Type
    kind: Format | None
    optional: bool


Numeric: TypeAlias = inspect.IntType | inspect.FloatType


def shape_of(node: inspect.Type) -> Shape:
    kind, optional = None, False
    while True:
        match node:
            case inspect.UnionType(types=types):
                optional = True
                node = next(member for member in types if not isinstance(member, inspect.NoneType))
            case inspect.Metadata():
                extra = cast("dict[str, Format]", node.extra or {})  # pyright: ignore[reportUnknownMemberType] - untyped there
                kind = extra.get("kind")
                node = node.type
            case _:
                if kind is not None and kind.choices is not None:
                    node = inspect.LiteralType(kind.choices())
                return Shape(node, kind, optional)


def closed_names(names: inspect.Type) -> tuple[str, ...] | None:
    """The only keys that a map may have, by the type of its keys; None: the operator chooses them."""
    node = shape_of(names).node
    return _choices(node) if isinstance(node, inspect.LiteralType) else None


def find_violations(node: inspect.Type, value: Any, path: Path = ()) -> Iterator[Violation]:
    """All reasons why `value` cannot be converted to the type `node`."""
    shape = shape_of(node)
    match shape.node:
        case _ if value is None and shape.optional:
            return
        case inspect.StructType() as struct if isinstance(value, dict):
            yield from _object_violations(struct, cast("dict[str, Any]", value), path)
        case inspect.DictType(key_type=names, value_type=values) if isinstance(value, dict):
            known = closed_names(names)
            for name, item in cast("dict[str, Any]", value).items():
                if known is not None and name not in known:
                    yield Violation((*path, name), _unknown(name, known))
                    continue
                yield from find_violations(names, name, (*path, name))
                yield from find_violations(values, item, (*path, name))
        case inspect.VarTupleType(item_type=items, min_length=minimum) if isinstance(value, list):
            listed = cast("list[Any]", value)
            if len(listed) < (minimum or 0):
                yield Violation(path, f"expected at least {minimum} in the list, found none")
            for index, item in enumerate(listed):
                yield from find_violations(items, item, (*path, index))
        case _ if not _is_valid(shape, value):
            yield Violation(path, _mismatch(shape, value))
        case _:
            return


def _object_violations(struct: inspect.StructType, value: dict[str, Any], path: Path) -> Iterator[Violation]:
    known = {field.encode_name: field for field in struct.fields}
    for name, item in value.items():
        if name in known:
            yield from find_violations(known[name].type, item, (*path, name))
        else:
            yield Violation((*path, name), _unknown(name, tuple(known)))
    for name, field in known.items():
        if field.required and name not in value:
            yield Violation(path, f"the key {json_quote(name)} is missing")


def _unknown(name: str, known: tuple[str, ...]) -> str:
    sentence = f"unknown key {json_quote(name)}; the nearest valid key is {json_quote(closest_name(name, known))}"
    if is_secret_name(name) and "apiKey" not in known:
        sentence += (
            ". Keys of providers stand in config.json or in the environment; env and headers of an MCP server "
            "name the variable that holds theirs as ${NAME}"
        )
    return sentence


def _is_valid(shape: Shape, value: Any) -> bool:
    match shape.node:
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType() as limits:
            return type(value) is int and abs(value) <= MAX_INTEGER and _is_in_range(limits, value)
        case inspect.FloatType() as limits:
            return type(value) in (int, float) and abs(value) <= sys.float_info.max and _is_in_range(limits, value)
        case inspect.LiteralType(values=choices):
            return isinstance(value, str) and value in choices
        case inspect.StrType():
            return isinstance(value, str) and (shape.kind is None or shape.kind.accepts(value))
        case _:
            return False


def _is_in_range(limits: Numeric, value: float) -> bool:
    return (
        (limits.ge is None or value >= limits.ge)
        and (limits.gt is None or value > limits.gt)
        and (limits.le is None or value <= limits.le)
    )


def _mismatch(shape: Shape, value: Any) -> str:
    scalar = not isinstance(shape.node, inspect.StructType | inspect.DictType | inspect.VarTupleType)
    masked = shape.kind is not None and shape.kind.mask is not None
    sentence = f"expected {describe_expected(shape)}, found {describe_found(value, quote=scalar and not masked)}"
    if isinstance(shape.node, inspect.LiteralType) and isinstance(value, str):
        sentence += f"; the nearest valid value is {json_quote(closest_name(value, _choices(shape.node)))}"
    return sentence


def describe_expected(shape: Shape) -> str:
    """The text after "expected"."""
    text = "an object"
    match shape.node:
        case inspect.BoolType():
            text = "true or false"
        case inspect.IntType() as limits:
            text = "a whole number" + _range(limits)
        case inspect.FloatType() as limits:
            text = "a number" + _range(limits)
        case inspect.LiteralType() as literal:
            text = "one of " + ", ".join(json_quote(choice) for choice in _choices(literal))
        case inspect.StrType():
            text = "a string" if shape.kind is None else shape.kind.expected
        case inspect.VarTupleType(item_type=items):
            text = "a list of " + ("objects" if _are_objects(items) else "strings")
        case _:
            pass
    return text


def _choices(literal: inspect.LiteralType) -> tuple[str, ...]:
    """All choices of the configuration are strings."""
    return cast("tuple[str, ...]", literal.values)


def _range(limits: Numeric) -> str:
    match limits.gt, limits.ge, limits.le:
        case None, None, None:
            return ""
        case None, minimum, None:
            return f" of at least {minimum}"
        case None, minimum, maximum:
            return f" from {minimum} to {maximum}"
        case above, _, None:
            return f" above {above}"
        case above, _, maximum:
            return f" above {above}, at most {maximum}"


def leaves(node: inspect.Type, value: Any, path: Path = ()) -> Iterator[tuple[Path, inspect.Type, Any]]:
    """The single values in a JSON value of this type, each with its own type.

    A list of plain values counts as one, and so does an empty map.
    """
    match shape_of(node).node:
        case inspect.StructType(fields=fields) if isinstance(value, dict):
            present = cast("dict[str, Any]", value)
            for field in fields:
                if field.encode_name in present:
                    yield from leaves(field.type, present[field.encode_name], (*path, field.encode_name))
        case inspect.DictType(value_type=values) if isinstance(value, dict) and value:
            for name, item in cast("dict[str, Any]", value).items():
                yield from leaves(values, item, (*path, name))
        case inspect.VarTupleType(item_type=items) if isinstance(value, list | tuple) and _are_objects(items):
            for index, item in enumerate(cast("Sequence[Any]", value)):
                yield from leaves(items, item, (*path, index))
        case _:
            yield path, node, value


def _are_objects(items: inspect.Type) -> bool:
    return isinstance(shape_of(items).node, inspect.StructType)


def mask_secrets(node: inspect.Type, value: Any) -> Any:
    """`value` for display, masked by its format, in a map too. Structs mask themselves."""
    shape = shape_of(node)
    if value is None:
        return None
    if shape.kind and shape.kind.mask:
        return shape.kind.mask(value)
    if isinstance(shape.node, inspect.DictType):
        return {name: mask_secrets(shape.node.value_type, item) for name, item in value.items()}
    return value
