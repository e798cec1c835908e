"""JSON Schema of every event, made from the values themselves."""

from typing import Any, get_args

import msgspec

from footnote.protocol.events import Event
from footnote.protocol.stream import StreamEvent


def event_schemas() -> dict[str, Any]:
    """Schema of each event of a turn, by its `type`, with the shared `$defs` in each."""
    return _schemas(get_args(Event))


def stream_schemas() -> dict[str, Any]:
    """Schema of each of the twelve events of a model response, by its `type`."""
    return _schemas(get_args(StreamEvent))


def _schemas(kinds: tuple[type[msgspec.Struct], ...]) -> dict[str, Any]:
    return {str(kind.__struct_config__.tag): msgspec.json.schema(kind) for kind in kinds}
