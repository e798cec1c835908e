"""Every value that holds, with its origin, ready to be shown: what is secret is already masked."""

from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct, inspect
from msgspec.structs import replace

from footnote.config.agents import AgentsFile
from footnote.config.configuration import Configuration, Origin
from footnote.config.resolve import provider_settings
from footnote.config.settings import Settings
from footnote.config.shape import shape_of
from footnote.config.words import Path, place


class Entry(Struct, frozen=True):
    key: str
    value: Any
    origin: Origin


def entries(configuration: Configuration) -> Iterator[Entry]:
    """`config.json` first, then the agents. A known model provider is shown with what its name implies."""
    settings = configuration.settings
    providers = {name: provider_settings(settings, name) for name in settings.models.providers}
    settings = replace(settings, models=replace(settings.models, providers=providers))
    sections = ((Settings, settings), (AgentsFile, AgentsFile(configuration.agents)))
    for section, value in sections:
        for path, shown in _values(inspect.type_info(section), value, ()):
            yield Entry(place(path), shown, configuration.origin(path))


def _values(node: inspect.Type, value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    shape = shape_of(node)
    match shape.node:
        case inspect.StructType(fields=fields) if value is not None:
            for field in fields:
                yield from _values(field.type, getattr(value, field.name), (*path, field.encode_name))
        case inspect.DictType(value_type=values) if value:
            for name, item in cast("dict[str, Any]", value).items():
                yield from _values(values, item, (*path, name))
        case inspect.VarTupleType(item_type=items) if isinstance(shape_of(items).node, inspect.StructType):
            for index, item in enumerate(cast("tuple[Any, ...]", value)):
                yield from _values(items, item, (*path, index))
        case _:
            mask = shape.kind.mask if shape.kind else None
            yield path, value if value is None or mask is None else mask(value)
