"""What a server says of its tools, made fit for a model. All of it is foreign text: data, and only so much of it."""

import re
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from typing import Any, TypeAlias, cast

import msgspec
from jsonschema import Draft202012Validator, SchemaError
from mcp import types

from footnote.protocol.tools import LOCALES
from footnote.tools.base import Outcome, Tool, ToolContext
from footnote.tools.mcp.arguments import parser
from footnote.tools.mcp.server import McpServer

_MAX_NAME = 64
_MAX_DESCRIPTION = 2000
_MAX_TITLE = 80
_MAX_WORDS_IN_SCHEMA = 500
_MAX_SCHEMA_BYTES = 16_000
_MAX_DEPTH = 64
_MAX_REASON = 200
_VALUES = frozenset({"default", "const", "enum", "examples"})
"""Keywords that hold data of the tool, in which nothing may be changed."""
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords that hold schemas by names, and a name may be `title` or `default`."""
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_REFUSED_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const", "$schema", "$id")
"""Keywords that the model APIs refuse, or do not need, beside `type: object`."""


Run: TypeAlias = Callable[[dict[str, Any], ToolContext], AsyncIterator[Outcome]]


class Unfit(ValueError):
    """The tool cannot be offered: a model API would refuse every request that carries it."""


def tool_of(offered: types.Tool, server: McpServer, run: Run, taken: set[str]) -> Tool:
    """The offered tool as one of ours. Its name is added to `taken`."""
    schema = fit_schema(offered.input_schema)
    name = unique_name(server.name, offered.name, taken)
    taken.add(name)
    hints = offered.annotations
    title = offered.title or (hints.title if hints else None) or offered.name
    return Tool(
        name=name,
        description=_described(offered, server),
        input_schema=schema,
        titles=dict.fromkeys(LOCALES, " ".join(title.split())[:_MAX_TITLE]),
        parse=parser(name, schema),
        run=run,
        idempotent=bool(hints and (hints.read_only_hint or (hints.idempotent_hint and not hints.destructive_hint))),
        approval=server.approval,
        timeout=server.timeout,
    )


def unique_name(server: str, tool: str, taken: set[str]) -> str:
    """`mcp__server__tool`, in the characters and the length that models take. A name that had to be changed ends
    with a mark of what it was, so that two of them stay apart and each stays the same from run to run."""
    plain = f"mcp__{server}__{tool}"
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", plain)
    if name == plain and len(name) <= _MAX_NAME and name not in taken:
        return name
    mark = sha256(f"{server}\0{tool}".encode(errors="replace")).hexdigest()[:8]
    return f"{name[: _MAX_NAME - len(mark) - 1]}_{mark}"


def fit_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as the model APIs take it: an object at the top, valid, of moderate size, and complete in itself."""
    if _depth(schema) > _MAX_DEPTH:
        raise Unfit("its schema is nested too deeply")
    fit: dict[str, Any] = _with_short_words({"properties": {}, **schema, "type": "object"})
    for keyword in _REFUSED_AT_THE_TOP:
        fit.pop(keyword, None)
    if (size := len(msgspec.json.encode(fit))) > _MAX_SCHEMA_BYTES:
        raise Unfit(f"its schema has {size:,} bytes, more than the {_MAX_SCHEMA_BYTES:,} that a tool may take up")
    try:
        Draft202012Validator.check_schema(fit)
    except SchemaError as error:
        raise Unfit(f"its schema is not valid: {short(error.message, _MAX_REASON)}") from None
    if odd := [key for key in fit["properties"] if not _PROPERTY.fullmatch(key)]:
        raise Unfit(f"it has the parameter {short(odd[0], _MAX_REASON)!r}, a name that models cannot use")
    if outside := [reference for reference in _references(fit) if not reference.startswith("#")]:
        raise Unfit(f"its schema refers to {short(outside[0], _MAX_REASON)}, which is not part of it")
    return fit


def short(text: str, longest: int) -> str:
    """At most so many characters of a foreign text, and none that cannot be seen."""
    text = "".join(character for character in text if character.isprintable() or character == "\n")
    return text if len(text) <= longest else text[:longest] + " …"


def _with_short_words(node: Any) -> Any:
    """The schema with every description and title in it cut."""
    match node:
        case dict():
            return {key: _with_short_words_at(key, part) for key, part in cast("dict[str, Any]", node).items()}
        case list():
            return [_with_short_words(part) for part in cast("list[Any]", node)]
        case _:
            return node


def _with_short_words_at(keyword: str, part: Any) -> Any:
    if keyword in _VALUES:
        return part
    if keyword in _NAMED and isinstance(part, dict):
        return {name: _with_short_words(schema) for name, schema in cast("dict[str, Any]", part).items()}
    if keyword in {"description", "title"} and isinstance(part, str):
        return short(part, _MAX_WORDS_IN_SCHEMA)
    return _with_short_words(part)


def _described(offered: types.Tool, server: McpServer) -> str:
    text = short(offered.description or "", _MAX_DESCRIPTION)
    # Named as the server's own words: a description may try to give orders.
    return f"A tool of the MCP server {server.name}, which describes it so: {text.strip() or offered.name}"


def _references(node: Any) -> list[str]:
    match node:
        case {"$ref": str() as reference}:
            return [reference]
        case _:
            return [reference for part in _parts(node) for reference in _references(part)]


def _depth(node: Any) -> int:
    return 1 + max(map(_depth, _parts(node)), default=0)


def _parts(node: Any) -> list[Any]:
    match node:
        case dict():
            return list(cast("dict[str, Any]", node).values())
        case list():
            return cast("list[Any]", node)
        case _:
            return []
