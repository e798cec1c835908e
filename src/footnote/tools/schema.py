"""The parameters of a tool, from its types: their JSON Schema, and arguments checked against them.

A type is a msgspec Struct whose fields carry `Annotated[..., Meta(description=..., ge=..., le=...)]`. A hint for
the model that leaves a field out can be given in `Meta(extra={"missing": "..."})`.
"""

import difflib
from collections.abc import Mapping
from functools import cache
from itertools import islice
from typing import Annotated, Any, TypeGuard, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

from footnote.protocol.errors import InvalidArguments

_MAX_RECEIVED = 600
_MAX_STRING = 80
_MAX_DEPTH = 20
_MAX_ITEMS = _MAX_RECEIVED
"""Each item has a character at least, so that the further ones would be cut."""
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


def describe_schema(schema: dict[str, Any]) -> str:
    """What a schema asks for: `an integer, at least 1, at most 10`."""
    if choices := schema.get("anyOf"):
        return " or ".join(describe_schema(choice) for choice in choices)
    if "enum" in schema:
        return "one of " + ", ".join(msgspec.json.encode(value).decode() for value in schema["enum"])
    kind = _KINDS.get(schema.get("type", ""), "a value")
    if schema.get("items"):
        kind += f" of which each is {describe_schema(schema['items'])}"
    return ", ".join([kind, *(words.format(schema[limit]) for limit, words in _LIMITS.items() if limit in schema)])


def describe_value(value: Any) -> str:
    """The value as JSON, with long strings, deep parts and the whole cut: enough to see what was sent."""
    text = msgspec.json.encode(_abbreviate(value), enc_hook=repr).decode()
    return text if len(text) <= _MAX_RECEIVED else text[:_MAX_RECEIVED] + " …"


def _abbreviate(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        shown = value[:_MAX_STRING].encode(errors="replace").decode()
        return shown if len(value) <= _MAX_STRING else f"{shown}… ({len(value)} characters)"
    if isinstance(value, list | dict) and depth == _MAX_DEPTH:
        return "…"
    if isinstance(value, list):
        return [_abbreviate(item, depth + 1) for item in cast("list[Any]", value)[:_MAX_ITEMS]]
    if isinstance(value, dict):
        items = islice(cast("dict[Any, Any]", value).items(), _MAX_ITEMS)
        return {_abbreviate(str(key)): _abbreviate(item, depth + 1) for key, item in items}
    return value


T = TypeVar("T", bound=Struct)
Json = dict[str, Any]
MAX_PROBLEMS = 20
"""Limit for the problems of one message: after these are corrected, the model learns the others."""
MAX_SHOWN_NAME = 100


def schema_of(parameters: type[Struct]) -> Json:
    """JSON Schema in the form that both model APIs accept: an object without references and titles."""
    whole = msgspec.json.schema(parameters)
    return _inline_references(whole, cast("Json", whole.get("$defs", {})), ())


def parse_arguments(parameters: type[T], arguments: Json) -> T:
    """The arguments as a value of `parameters`; every violation at once in `InvalidArguments` otherwise."""
    problems: list[str] = []
    try:
        value = _struct(parameters, arguments, "", problems)
    except RecursionError:
        problems = ["They are nested too deeply."]
        value = {}
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems[:MAX_PROBLEMS])
        listed += "\n- …" if len(problems) > MAX_PROBLEMS else ""
        raise InvalidArguments(
            f"The arguments do not fit the tool's parameters:\n{listed}\nReceived: {describe_value(arguments)}\n"
            "Call the tool again with all of this corrected."
        )
    return msgspec.convert(value, parameters)


def _inline_references(node: Any, definitions: Json, ancestors: tuple[str, ...]) -> Any:
    """`node` without `$ref`, `$defs` and titles, and with every object closed."""
    if isinstance(node, list):
        return [_inline_references(item, definitions, ancestors) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    found = dict(cast("Json", node))
    found.pop("$defs", None)
    if reference := found.pop("$ref", None):
        name = str(reference).rpartition("/")[2]
        if name in ancestors:
            raise TypeError(f"{name} refers to itself; the parameters of a tool must be finite.")
        return _inline_references(definitions[name] | found, definitions, (*ancestors, name))
    if found.get("type") == "object" and "properties" in found:
        found.pop("title", None)
        found["additionalProperties"] = False
        found["properties"] = {
            name: _inline_references(schema, definitions, ancestors) for name, schema in found["properties"].items()
        }
        return found
    if "enum" in found and all(isinstance(value, str) for value in found["enum"]):
        found = {"type": "string"} | found
    data_keywords = {"enum", "default", "const"}
    return {
        key: value if key in data_keywords else _inline_references(value, definitions, ancestors)
        for key, value in found.items()
        if key != "title"
    }


@cache
def _fields(kind: type[Struct]) -> Mapping[str, FieldInfo]:
    return {field.encode_name: field for field in fields(kind)}


def _struct(kind: type[Struct], value: Json, path: str, problems: list[str]) -> Json:
    """`value` with each field coerced; what does not fit is added to `problems`."""
    known = _fields(kind)
    checked: Json = {}
    for name, item in value.items():
        if len(problems) > MAX_PROBLEMS:
            break
        if name not in known:
            shown = name[:MAX_SHOWN_NAME]
            near = difflib.get_close_matches(shown, known, n=1)
            problems.append(f"{path}{shown}: unknown parameter; " + _suggestion(near, known))
        elif not _is_absent(known[name], item):
            checked[name] = _value(known[name].type, item, f"{path}{name}", problems)
    problems.extend(
        f"{path}{name}: required, but missing." + _hint(field)
        for name, field in known.items()
        if field.required and name not in value
    )
    return checked


def _value(kind: Any, value: Any, path: str, problems: list[str]) -> Any:
    """`value` as `kind` accepts it. Each part of a structure is checked by itself, so that all faults are reported."""
    bare = _unwrap(kind)
    value = _decode_json_string(bare, value)
    known_problems = len(problems)
    if _is_struct(bare) and isinstance(value, dict):
        return _struct(bare, cast("Json", value), f"{path}.", problems)
    if get_origin(bare) is list and isinstance(value, list):
        (item_kind,) = get_args(bare)
        items = cast("list[Any]", value)
        value = [_value(item_kind, item, f"{path}[{at}]", problems) for at, item in enumerate(items)]
    if len(problems) == known_problems:
        for strict in (True, False):
            try:
                return msgspec.to_builtins(msgspec.convert(value, kind, strict=strict))
            except msgspec.ValidationError:
                continue
        expected = msgspec.json.schema(kind)
        expected = _inline_references(expected, expected.get("$defs", {}), ())
        problems.append(f"{path}: expected {describe_schema(expected)}, received {describe_value(value)}.")
    return value


def _decode_json_string(bare: Any, value: Any) -> Any:
    """The expected list or object, if a model wrote it as a string of JSON."""
    if isinstance(value, str) and (_is_struct(bare) or get_origin(bare) in {list, tuple, dict}):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError):
            return value
    return value


def _is_absent(field: FieldInfo, value: Any) -> bool:
    """Whether a null means that an optional parameter is left out: models write it for that."""
    if value is not None or field.required:
        return False
    try:
        msgspec.convert(None, field.type)
    except msgspec.ValidationError:
        return True
    return False


def _suggestion(near: list[str], known: Mapping[str, FieldInfo]) -> str:
    if near:
        return f"did you mean {near[0]}?"
    return f"the parameters are {', '.join(known)}." if known else "the tool takes none."


def _hint(field: FieldInfo) -> str:
    for meta in getattr(field.type, "__metadata__", ()):
        if isinstance(meta, Meta) and meta.extra and "missing" in meta.extra:
            return f" {meta.extra['missing']}"
    return ""


def _unwrap(kind: Any) -> Any:
    """`kind` without its annotations, and without the null that an optional one also takes."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    choices = [choice for choice in get_args(kind) if choice is not type(None)]
    return _unwrap(choices[0]) if type(None) in get_args(kind) and len(choices) == 1 else kind


def _is_struct(kind: Any) -> TypeGuard[type[Struct]]:
    return isinstance(kind, type) and issubclass(kind, Struct)
