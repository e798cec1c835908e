"""A JSON value, held against the Struct that it should become: what is wrong with it (all of it, not only the
first), and which single values it is made of.

The Structs of `settings` and `agents` are the only place where keys, defaults and limits are written; what is
said about them here, in the environment and in `config show` is read from their types.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from msgspec import inspect

from footnote.config.kinds import Kind, names_a_secret
from footnote.config.problems import Fault, Path, found, nearest, quoted

LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Shape:
    """A type without its wrappers."""

    node: inspect.Type
    kind: Kind | None
    optional: bool


Numeric: TypeAlias = inspect.IntType | inspect.FloatType


def shape_of(node: inspect.Type) -> Shape:
    kind, optional = None, False
    while True:
        match node:
            case inspect.UnionType(types=types):
                optional = True
                node = next(one for one in types if not isinstance(one, inspect.NoneType))
            case inspect.Metadata():
                extra = cast("dict[str, Kind]", node.extra or {})  # pyright: ignore[reportUnknownMemberType] - untyped there
                kind = extra.get("kind")
                node = node.type
            case _:
                return Shape(node, kind, optional)


def faults(node: inspect.Type, value: Any, path: Path = ()) -> Iterator[Fault]:
    """Everything that keeps `value` from becoming what `node` describes."""
    shape = shape_of(node)
    match shape.node:
        case _ if value is None and shape.optional:
            return
        case inspect.StructType() as struct if isinstance(value, dict):
            yield from _faults_of_object(struct, cast("dict[str, Any]", value), path)
        case inspect.DictType(key_type=names, value_type=values) if isinstance(value, dict):
            for name, item in cast("dict[str, Any]", value).items():
                yield from faults(names, name, (*path, name))
                yield from faults(values, item, (*path, name))
        case inspect.VarTupleType(item_type=items, min_length=least) if isinstance(value, list):
            listed = cast("list[Any]", value)
            if len(listed) < (least or 0):
                yield Fault(path, f"expected at least {least} in the list, found none")
            for index, item in enumerate(listed):
                yield from faults(items, item, (*path, index))
        case _ if not _fits(shape, value):
            yield Fault(path, _mismatch(shape, value))
        case _:
            return


def _faults_of_object(struct: inspect.StructType, value: dict[str, Any], path: Path) -> Iterator[Fault]:
    known = {field.encode_name: field for field in struct.fields}
    for name, item in value.items():
        if name in known:
            yield from faults(known[name].type, item, (*path, name))
        else:
            yield Fault((*path, name), _unknown(name, tuple(known)))
    for name, field in known.items():
        if field.required and name not in value:
            yield Fault(path, f"the key {quoted(name)} is missing")


def _unknown(name: str, known: tuple[str, ...]) -> str:
    sentence = f"unknown key {quoted(name)}; the nearest valid key is {quoted(nearest(name, known))}"
    if names_a_secret(name) and "apiKey" not in known:
        sentence += (
            ". Keys of providers stand in config.json or in the environment; env and headers of an MCP server "
            "name the variable that holds theirs as ${NAME}"
        )
    return sentence


def _fits(shape: Shape, value: Any) -> bool:
    match shape.node:
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType() as limits:
            return type(value) is int and abs(value) <= LARGEST and _inside(limits, value)
        case inspect.FloatType() as limits:
            return type(value) in (int, float) and abs(value) <= sys.float_info.max and _inside(limits, value)
        case inspect.LiteralType(values=choices):
            return isinstance(value, str) and value in choices
        case inspect.StrType():
            return isinstance(value, str) and (shape.kind is None or shape.kind.accepts(value))
        case _:
            return False


def _inside(limits: Numeric, value: float) -> bool:
    return (
        (limits.ge is None or value >= limits.ge)
        and (limits.gt is None or value > limits.gt)
        and (limits.le is None or value <= limits.le)
    )


def _mismatch(shape: Shape, value: Any) -> str:
    scalar = not isinstance(shape.node, inspect.StructType | inspect.DictType | inspect.VarTupleType)
    masked = shape.kind is not None and shape.kind.mask is not None
    sentence = f"expected {expected(shape)}, found {found(value, quote=scalar and not masked)}"
    if isinstance(shape.node, inspect.LiteralType) and isinstance(value, str):
        sentence += f"; the nearest valid value is {quoted(nearest(value, _choices(shape.node)))}"
    return sentence


def expected(shape: Shape) -> str:
    """The words after "expected"."""
    words = "an object"
    match shape.node:
        case inspect.BoolType():
            words = "true or false"
        case inspect.IntType() as limits:
            words = "a whole number" + _range(limits)
        case inspect.FloatType() as limits:
            words = "a number" + _range(limits)
        case inspect.LiteralType() as literal:
            words = "one of " + ", ".join(quoted(choice) for choice in _choices(literal))
        case inspect.StrType():
            words = "a string" if shape.kind is None else shape.kind.expected
        case inspect.VarTupleType(item_type=items):
            words = "a list of " + ("objects" if _are_objects(items) else "strings")
        case _:
            pass
    return words


def _choices(literal: inspect.LiteralType) -> tuple[str, ...]:
    """All choices of the configuration are words."""
    return cast("tuple[str, ...]", literal.values)


def _range(limits: Numeric) -> str:
    match limits.gt, limits.ge, limits.le:
        case None, None, None:
            return ""
        case None, least, None:
            return f" of at least {least}"
        case None, least, most:
            return f" from {least} to {most}"
        case above, _, None:
            return f" above {above}"
        case above, _, most:
            return f" above {above}, at most {most}"


def leaves(node: inspect.Type, value: Any, path: Path = ()) -> Iterator[tuple[Path, inspect.Type, Any]]:
    """The single values in a JSON value of this type, each with its own type.

    A list of plain values is one of them, and so is a map with nothing in it.
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


def shown(node: inspect.Type, value: Any) -> Any:
    """`value` as it may be shown: what its kind masks is masked, in a map too. Structs mask themselves."""
    shape = shape_of(node)
    if value is None:
        return None
    if shape.kind and shape.kind.mask:
        return shape.kind.mask(value)
    if isinstance(shape.node, inspect.DictType):
        return {name: shown(shape.node.value_type, item) for name, item in value.items()}
    return value
