"""The tools and results of an MCP server in our form. All of it is foreign text: data, and limited in length."""

import logging
import re
from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import AsyncIterator, Callable, Iterator
from hashlib import sha256
from itertools import islice
from typing import Any, TypeAlias, cast

import msgspec
from jsonschema import Draft202012Validator, SchemaError, ValidationError, validators
from mcp import types

from footnote.protocol.errors import InvalidArguments
from footnote.protocol.messages import Image, Part, Text
from footnote.protocol.tools import LOCALES, Progress, ToolResult
from footnote.tools.base import Outcome, Tool, ToolContext
from footnote.tools.mcp.settings import McpServerSettings
from footnote.tools.schema import describe_value

log = logging.getLogger(__name__)

_MODEL_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def to_tool_result(answer: types.CallToolResult) -> ToolResult:
    """Text and images for the model; structured content is the artifact, and the text if there is no other."""
    parts = tuple(_part(block) for block in answer.content)
    structured = answer.structured_content
    if not parts and structured is not None:
        parts = (Text(msgspec.json.encode(structured).decode()),)
    return ToolResult(
        content=parts or (Text("The tool answered with nothing."),),
        is_error=answer.is_error,
        artifact=None if structured is None else {"structured_content": structured},
    )


def to_progress(progress: float, total: float | None, message: str | None) -> Progress:
    """Steps where the server counts steps, hundredths where it measures a part of a whole."""
    label = message or ""
    if total is None:
        return Progress("working", int(progress), None, label)
    if progress == int(progress) and total == int(total) and total > 1:
        return Progress("working", int(progress), int(total), label)
    return Progress("working", round(100 * progress / total) if total > 0 else 0, 100, label)


def _part(block: types.ContentBlock) -> Part:
    match block:
        case types.TextContent():
            return Text(block.text)
        case types.ImageContent():
            return _image(block.data, block.mime_type)
        case types.AudioContent():
            return Text(f"[audio of type {block.mime_type}, which cannot be shown here]")
        case types.ResourceLink():
            return Text(f"[resource {block.title or block.name}: {block.uri}] {block.description or ''}".rstrip())
        case types.EmbeddedResource():
            return _resource(block.resource)


def _resource(resource: types.TextResourceContents | types.BlobResourceContents) -> Part:
    if isinstance(resource, types.TextResourceContents):
        return Text(f"[resource {resource.uri}]\n{resource.text}")
    return _image(resource.blob, resource.mime_type or "application/octet-stream")


def _image(data: str, media_type: str) -> Part:
    try:
        content = b64decode(data, validate=True)
    except BadBase64:
        return Text(f"[content of type {media_type}, which is not valid base64]")
    if media_type in _MODEL_IMAGE_TYPES:
        return Image(media_type, content)
    return Text(f"[content of type {media_type}, {len(content):,} bytes, which cannot be shown here]")


_MAX_PROBLEMS = 10
_MAX_STEPS = 10_000
"""References that lead to references, and lists of alternatives, can make of a small schema an endless one."""
_MAX_MESSAGE_LENGTH = 300
_SKIPPED_KEYWORDS = ("pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "uniqueItems")
"""A foreign pattern can take for ever, the `unevaluated…` keywords follow patterns and references by themselves, and
`uniqueItems` compares every item with every other."""

_Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def arguments_parser(tool: str, schema: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A function that checks the arguments of `tool`: it returns them unchanged, or raises `InvalidArguments`."""
    steps = 0

    def count_steps(keyword: _Keyword) -> _Keyword:
        def check(validator: Any, value: Any, instance: Any, node: Any) -> Iterator[ValidationError] | None:
            nonlocal steps
            steps += 1
            if steps > _MAX_STEPS:
                raise LookupError("it leads too far")
            return keyword(validator, value, instance, node)

        return check

    keywords = {name: count_steps(keyword) for name, keyword in _KEYWORDS.items()}
    validator = cast("Any", validators).extend(Draft202012Validator, keywords)(_strip_schema_uri(schema))

    def parse(arguments: dict[str, Any]) -> dict[str, Any]:
        nonlocal steps
        steps = 0
        try:
            problems = [_error_message(error) for error in islice(validator.iter_errors(arguments), _MAX_PROBLEMS)]
        except Exception as error:  # noqa: BLE001 - a foreign schema, on which the validator may break in any way
            log.warning("The arguments of %s could not be held against its schema (%r).", tool, error)
            return dict(arguments)
        if problems:
            listed = "\n".join(f"- {problem}" for problem in problems)
            raise InvalidArguments(
                f"The arguments do not fit the tool's parameters:\n{listed}\nReceived: {describe_value(arguments)}\n"
                "Call the tool again with all of this corrected."
            )
        return dict(arguments)

    return parse


def _strip_schema_uri(node: Any) -> Any:
    """The schema without `$schema`, which inside a schema would bring back the keywords of another draft."""
    match node:
        case dict():
            parts = cast("dict[str, Any]", node).items()
            return {
                key: _strip_schema_uri(part) for key, part in parts if key != "$schema" or not isinstance(part, str)
            }
        case list():
            return [_strip_schema_uri(part) for part in cast("list[Any]", node)]
        case _:
            return node


def _error_message(error: ValidationError) -> str:
    path = error.json_path.removeprefix("$").removeprefix(".")
    message = error.message if len(error.message) <= _MAX_MESSAGE_LENGTH else error.message[:_MAX_MESSAGE_LENGTH] + " …"
    return f"{path}: {message}" if path else message


def _skip_keyword(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> None:
    return None


def _unless_patterns(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        return None if "patternProperties" in schema else keyword(validator, value, instance, schema)

    return check


def _local_references_only(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, reference: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        if not str(reference).startswith("#"):
            raise LookupError("it leads out of itself")
        return keyword(validator, reference, instance, schema)

    return check


_DRAFT_KEYWORDS = cast("dict[str, _Keyword]", Draft202012Validator.VALIDATORS)
_KEYWORDS: dict[str, _Keyword] = {
    **_DRAFT_KEYWORDS,
    **dict.fromkeys(_SKIPPED_KEYWORDS, _skip_keyword),
    **{name: _local_references_only(_DRAFT_KEYWORDS[name]) for name in ("$ref", "$dynamicRef")},
    "additionalProperties": _unless_patterns(_DRAFT_KEYWORDS["additionalProperties"]),
}


_MAX_NAME = 64
_MAX_DESCRIPTION = 2000
_MAX_TITLE = 80
_MAX_SCHEMA_TEXT = 500
_MAX_SCHEMA_BYTES = 16_000
_MAX_DEPTH = 64
_MAX_REASON = 200
_DATA_KEYWORDS = frozenset({"default", "const", "enum", "examples"})
"""Keywords that hold data of the tool, in which nothing may be changed."""
_NAMED_SCHEMA_KEYWORDS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords that hold schemas by names, and a name may be `title` or `default`."""
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_UNSUPPORTED_AT_TOP_LEVEL = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const", "$schema", "$id")
"""Keywords that the model APIs refuse, or do not need, beside `type: object`."""


Run: TypeAlias = Callable[[dict[str, Any], ToolContext], AsyncIterator[Outcome]]


class UnsupportedTool(ValueError):
    """The tool cannot be offered: a model API would refuse every request that carries it."""


def adapt_tool(offered: types.Tool, server: McpServerSettings, run: Run, used_names: set[str]) -> Tool:
    """The offered tool as one of ours. Its name is added to `used_names`."""
    schema = adapt_schema(offered.input_schema)
    name = unique_name(server.name, offered.name, used_names)
    used_names.add(name)
    hints = offered.annotations
    title = offered.title or (hints.title if hints else None) or offered.name
    return Tool(
        name=name,
        description=_describe(offered, server),
        input_schema=schema,
        titles=dict.fromkeys(LOCALES, " ".join(title.split())[:_MAX_TITLE]),
        parse=arguments_parser(name, schema),
        run=run,
        idempotent=bool(hints and (hints.read_only_hint or (hints.idempotent_hint and not hints.destructive_hint))),
        approval=server.approval,
        timeout=server.timeout,
    )


def unique_name(server: str, tool: str, used_names: set[str]) -> str:
    """`mcp__server__tool`, in the characters and the length that model APIs accept. A name that had to be changed ends
    with a hash of the original, so that names stay different, and each stays the same from run to run."""
    plain = f"mcp__{server}__{tool}"
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", plain)
    if name == plain and len(name) <= _MAX_NAME and name not in used_names:
        return name
    mark = sha256(f"{server}\0{tool}".encode(errors="replace")).hexdigest()[:8]
    return f"{name[: _MAX_NAME - len(mark) - 1]}_{mark}"


def adapt_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in the form that model APIs accept: an object at the top, valid, not large, without outside
    references."""
    if _depth(schema) > _MAX_DEPTH:
        raise UnsupportedTool("its schema is nested too deeply")
    adapted: dict[str, Any] = _truncate_texts({"properties": {}, **schema, "type": "object"})
    for keyword in _UNSUPPORTED_AT_TOP_LEVEL:
        adapted.pop(keyword, None)
    if (size := len(msgspec.json.encode(adapted))) > _MAX_SCHEMA_BYTES:
        raise UnsupportedTool(
            f"its schema has {size:,} bytes, more than the {_MAX_SCHEMA_BYTES:,} that a tool may take up"
        )
    try:
        Draft202012Validator.check_schema(adapted)
    except SchemaError as error:
        raise UnsupportedTool(f"its schema is not valid: {truncate(error.message, _MAX_REASON)}") from None
    if odd := [key for key in adapted["properties"] if not _PROPERTY.fullmatch(key)]:
        raise UnsupportedTool(f"it has the parameter {truncate(odd[0], _MAX_REASON)!r}, a name that models cannot use")
    if outside := [reference for reference in _references(adapted) if not reference.startswith("#")]:
        raise UnsupportedTool(f"its schema refers to {truncate(outside[0], _MAX_REASON)}, which is not part of it")
    return adapted


def truncate(text: str, max_length: int) -> str:
    """At most so many characters of a foreign text, without invisible ones."""
    text = "".join(character for character in text if character.isprintable() or character == "\n")
    return text if len(text) <= max_length else text[:max_length] + " …"


def _truncate_texts(node: Any) -> Any:
    """The schema with every description and title in it cut."""
    match node:
        case dict():
            return {key: _truncate_keyword(key, part) for key, part in cast("dict[str, Any]", node).items()}
        case list():
            return [_truncate_texts(part) for part in cast("list[Any]", node)]
        case _:
            return node


def _truncate_keyword(keyword: str, part: Any) -> Any:
    if keyword in _DATA_KEYWORDS:
        return part
    if keyword in _NAMED_SCHEMA_KEYWORDS and isinstance(part, dict):
        return {name: _truncate_texts(schema) for name, schema in cast("dict[str, Any]", part).items()}
    if keyword in {"description", "title"} and isinstance(part, str):
        return truncate(part, _MAX_SCHEMA_TEXT)
    return _truncate_texts(part)


def _describe(offered: types.Tool, server: McpServerSettings) -> str:
    text = truncate(offered.description or "", _MAX_DESCRIPTION)
    # Marked as the server's own words: a description may try to give orders.
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
