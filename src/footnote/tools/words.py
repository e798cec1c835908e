"""Schemas and values in words, for error messages that a model reads."""

from itertools import islice
from typing import Any, cast

import msgspec

_MAX_RECEIVED = 600
_MAX_STRING = 80
_MAX_DEPTH = 20
_MAX_ITEMS = _MAX_RECEIVED
"""Each has a character at least, so that what is left out would be cut."""
_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
}
_KINDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def expected(schema: dict[str, Any]) -> str:
    """What a schema asks for: `an integer, at least 1, at most 10`."""
    if choices := schema.get("anyOf"):
        return " or ".join(expected(choice) for choice in choices)
    if "enum" in schema:
        return "one of " + ", ".join(msgspec.json.encode(value).decode() for value in schema["enum"])
    kind = _KINDS.get(schema.get("type", ""), "a value")
    if schema.get("items"):
        kind += f" of which each is {expected(schema['items'])}"
    return ", ".join([kind, *(words.format(schema[limit]) for limit, words in _LIMITS.items() if limit in schema)])


def received(value: Any) -> str:
    """The value as JSON, with long strings, deep parts and the whole cut: enough to see what was sent."""
    text = msgspec.json.encode(_shortened(value), enc_hook=repr).decode()
    return text if len(text) <= _MAX_RECEIVED else text[:_MAX_RECEIVED] + " …"


def _shortened(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        shown = value[:_MAX_STRING].encode(errors="replace").decode()
        return shown if len(value) <= _MAX_STRING else f"{shown}… ({len(value)} characters)"
    if isinstance(value, list | dict) and depth == _MAX_DEPTH:
        return "…"
    if isinstance(value, list):
        return [_shortened(item, depth + 1) for item in cast("list[Any]", value)[:_MAX_ITEMS]]
    if isinstance(value, dict):
        items = islice(cast("dict[Any, Any]", value).items(), _MAX_ITEMS)
        return {_shortened(str(key)): _shortened(item, depth + 1) for key, item in items}
    return value
