"""What a server says of its tools, made fit for a model. All of it is foreign text: data, and only so much of it."""

import re
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from typing import Any, TypeAlias, cast

from jsonschema import Draft202012Validator, SchemaError
from mcp import types

from footnote.protocol.tools import LOCALES
from footnote.tools.base import Outcome, Tool, ToolContext
from footnote.tools.mcp.server import McpServer

_MAX_NAME = 64
_MAX_DESCRIPTION = 2000
_MAX_TITLE = 80
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
        parse=dict,
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
    """The schema as the model APIs take it: an object at the top, valid, and complete in itself."""
    fit: dict[str, Any] = {"properties": {}, **schema, "type": "object"}
    for keyword in _REFUSED_AT_THE_TOP:
        fit.pop(keyword, None)
    try:
        Draft202012Validator.check_schema(fit)
    except SchemaError as error:
        raise Unfit(f"its schema is not valid: {error.message}") from None
    if odd := [key for key in fit["properties"] if not _PROPERTY.fullmatch(key)]:
        raise Unfit(f"it has the parameter {odd[0]!r}, a name that models cannot use")
    if outside := [reference for reference in _references(fit) if not reference.startswith("#")]:
        raise Unfit(f"its schema refers to {outside[0]}, which is not part of it")
    return fit


def _described(offered: types.Tool, server: McpServer) -> str:
    text = "".join(character for character in offered.description or "" if character.isprintable() or character == "\n")
    if len(text) > _MAX_DESCRIPTION:
        text = text[:_MAX_DESCRIPTION] + " …"
    # Named as the server's own words: a description may try to give orders.
    return f"A tool of the MCP server {server.name}, which describes it so: {text.strip() or offered.name}"


def _references(node: Any) -> list[str]:
    match node:
        case {"$ref": str() as reference}:
            return [reference]
        case dict():
            parts = list(cast("dict[str, Any]", node).values())
        case list():
            parts = cast("list[Any]", node)
        case _:
            return []
    return [reference for part in parts for reference in _references(part)]
