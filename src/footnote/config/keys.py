"""Every key of a Struct as a flat list: what `config.json` may hold, and which variable sets it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from msgspec import NODEFAULT, inspect

from footnote.config.kinds import MODEL_NAME
from footnote.config.shape import shape_of
from footnote.config.words import Path

PREFIX = "FOOTNOTE_"
ANY = "*"
"""Stands in a path for a name that the operator chooses."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


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
            for field in fields:
                yield from _keys(field.type, (*path, field.encode_name), _default(field), has_variable=has_variable)
        case inspect.DictType(key_type=names, value_type=values):
            yield Key(path, node, default, has_variable)
            # PROVIDER/MODEL cannot be spelled in the name of a variable; the whole map can be given as JSON.
            spellable = shape_of(names).kind is not MODEL_NAME
            yield from _keys(values, (*path, ANY), None, has_variable=has_variable and spellable)
        case _:
            yield Key(path, node, default, has_variable)


def _default(field: inspect.Field) -> Any:
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    return None if field.default is NODEFAULT else field.default


def snake(name: str) -> str:
    """`webSearch` and `web-search` are both `WEB_SEARCH` in the name of a variable."""
    return re.sub(r"[^A-Za-z0-9*]", "_", _HUMP.sub("_", name)).upper()


def leaves(node: inspect.Type, value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The single values inside a JSON value of this type; a list of plain values is one."""
    match shape_of(node).node:
        case inspect.StructType(fields=fields) if isinstance(value, dict):
            for field in fields:
                if field.encode_name in value:
                    yield from leaves(
                        field.type, cast("dict[str, Any]", value)[field.encode_name], (*path, field.encode_name)
                    )
        case inspect.DictType(value_type=values) if isinstance(value, dict):
            for name, item in cast("dict[str, Any]", value).items():
                yield from leaves(values, item, (*path, name))
        case inspect.VarTupleType(item_type=items) if isinstance(value, list) and _are_objects(items):
            for index, item in enumerate(cast("list[Any]", value)):
                yield from leaves(items, item, (*path, index))
        case _:
            yield path, value


def _are_objects(items: inspect.Type) -> bool:
    return isinstance(shape_of(items).node, inspect.StructType)
