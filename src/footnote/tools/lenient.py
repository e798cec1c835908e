"""Arguments of the built-in tools, read kindly: small models use the names of other tools, and words for codes.

Whatever was read in another way than it was written has a note, for the model and the user. An optional parameter is
never an error: what cannot be read is left out. A required one has to be there and to fit, under its own name or one of
its `aliases`. `Meta(extra={"aliases": (...)})` of a field are the other names of a parameter, and
`Meta(extra={"reader": Reader(...)})` turns words into the value.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

from footnote.protocol.messages import Text
from footnote.protocol.tools import ToolResult
from footnote.tools.schema import Json, describe_schema, describe_value, parse_arguments, schema_of

WRAPPERS = ("arguments", "parameters", "args", "input", "kwargs", "params", "properties", "toolinput", "actioninput")
"""Names under which models repeat all arguments."""
ABSENT = frozenset(
    ("", "null", "none", "nil", "undefined", "unset", "n/a", "na", "-", "default", "any", "all", "auto", "optional")
)
"""Words for an optional parameter that is left out."""
MAX_NOTES = 8
MAX_SHOWN = 60
MAX_NAMES = 500
"""The number of arguments that are compared with aliases: a hundred thousand would hold up the event loop."""
_NUMBER = re.compile(r"[^\d-]{0,40}(\d{1,9})(?:\.0*)?\D{0,40}")


class Reader(NamedTuple):
    """`read`: the value for a text; None: it has none. `expected`: what the parameter takes, for the note."""

    read: Callable[[str], str | None]
    expected: str


class LenientArguments(Struct, frozen=True):
    """The parameters of a call, and what was read in another way than it was written."""

    params: Any
    notes: tuple[str, ...]


class _Parameter(NamedTuple):
    field: FieldInfo
    schema: Json
    reader: Reader | None


class _LeftOut(NamedTuple):
    """In place of the value of an optional parameter that has no meaning; `reason` ends its note."""

    reason: str


def parse_leniently(parameters: type[Struct], arguments: Json) -> LenientArguments:
    """`InvalidArguments` if a required parameter is missing, or does not fit."""
    notes: list[str] = []
    named = _named_arguments(parameters, _unwrap_arguments(parameters, arguments), notes)
    known = _parameters(parameters)
    values: Json = {}
    for name, value in named.items():
        read = _read_value(known[name], value)
        if isinstance(read, _LeftOut):
            notes.append(f"{name} {_show(value)} was left out{read.reason}.")
            continue
        values[name] = read
        if read != value:
            notes.append(f"{name} {_show(value)} was read as {_show(read)}.")
    more = ["…"] if len(notes) > MAX_NOTES else []
    return LenientArguments(parse_arguments(parameters, values), (*notes[:MAX_NOTES], *more))


def add_notes(result: ToolResult, notes: tuple[str, ...]) -> ToolResult:
    """The result with the notes on its call: for the model, and in the receipt of a search for the user."""
    if not notes:
        return result
    artifact = result.artifact
    if artifact is not None and isinstance(receipt := artifact.get("receipt"), dict):
        receipt = cast("Json", receipt)
        artifact = artifact | {"receipt": receipt | {"notes": [*notes, *receipt.get("notes", ())]}}
    content = (*result.content, Text("\n".join(f"Note: {note}" for note in notes)))
    return msgspec.structs.replace(result, content=content, artifact=artifact)


# Names ---------------------------------------------------------------------------------------------------


def _unwrap_arguments(parameters: type[Struct], arguments: Json) -> Json:
    """The arguments without objects around them: `{"arguments": {"query": …}}`, also as a JSON string."""
    known = _parameters(parameters)
    if any(key in known for key in arguments):
        return arguments
    for key, value in islice(arguments.items(), MAX_NAMES):
        if _plain(key) not in WRAPPERS:
            continue
        inner = value
        if isinstance(value, str):
            try:
                inner = msgspec.json.decode(value)
            except (msgspec.DecodeError, UnicodeEncodeError):
                continue
        if isinstance(inner, dict):
            return cast("Json", inner)
    return arguments


def _named_arguments(parameters: type[Struct], arguments: Json, notes: list[str]) -> Json:
    """The arguments under the names of the parameters. Those that no parameter has are left out."""
    known, names = _parameters(parameters), _names(parameters)
    named = {name: value for name, value in arguments.items() if name in known}
    unknown: list[str] = []
    for position, (name, value) in enumerate(arguments.items()):
        if name in known:
            continue
        meant = names.get(_plain(name)) if position < MAX_NAMES else None
        if meant is None or meant in named:
            unknown.append(name)
        else:
            named[meant] = value
            notes.append(f"{_show(name)} was read as {meant}.")
    if unknown:
        listed = ", ".join(_show(name) for name in unknown[:MAX_NOTES]) + (", …" if len(unknown) > MAX_NOTES else "")
        notes.append(f"{listed} was left out: the parameters are {', '.join(known) or 'none'}.")
    return named


@cache
def _names(parameters: type[Struct]) -> Mapping[str, str]:
    """The parameters by their names and aliases, compared without case, dashes and underscores."""
    names = {_plain(name): name for name in _parameters(parameters)}
    for name, parameter in _parameters(parameters).items():
        for alias in _extra(parameter.field, "aliases", ()):
            names.setdefault(_plain(alias), name)
    return names


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name[:MAX_SHOWN]).casefold()


@cache
def _parameters(parameters: type[Struct]) -> Mapping[str, _Parameter]:
    schemas = schema_of(parameters)["properties"]
    return {
        field.encode_name: _Parameter(field, schemas[field.encode_name], _extra(field, "reader", None))
        for field in fields(parameters)
    }


def _extra(field: FieldInfo, key: str, default: Any) -> Any:
    metas = (meta for meta in getattr(field.type, "__metadata__", ()) if isinstance(meta, Meta))
    return next((meta.extra[key] for meta in metas if meta.extra and key in meta.extra), default)


# Values --------------------------------------------------------------------------------------------------


def _read_value(parameter: _Parameter, value: Any) -> Any:
    """The value as the parameter takes it. That of a required one is left as it is if it does not fit."""
    value = _single(parameter, value)
    default = parameter.field.default
    if parameter.field.required or value is None or (value == default and type(value) is type(default)):
        return value
    if isinstance(value, str) and value.strip().casefold() in ABSENT:
        return _LeftOut("")
    if parameter.reader is not None:
        read = parameter.reader.read(value) if isinstance(value, str) else None
        if read is None:
            return _LeftOut(f": expected {parameter.reader.expected}")
        return value if read.casefold() == value.strip().casefold() else read
    for candidate in _candidates(parameter, value):
        for strict in (True, False):
            try:
                return msgspec.to_builtins(msgspec.convert(candidate, parameter.field.type, strict=strict))
            except (msgspec.ValidationError, RecursionError):
                continue
    return _LeftOut(f": expected {describe_schema(parameter.schema)}")


def _single(parameter: _Parameter, value: Any) -> Any:
    """The text of a list of one, and a number as a text, where the parameter is a text."""
    if parameter.schema.get("type") != "string":
        return value
    if isinstance(value, list):
        items = cast("list[Any]", value)
        value = items[0] if len(items) == 1 else items
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _candidates(parameter: _Parameter, value: Any) -> Iterator[Any]:
    """The value, and a number near it that the parameter may take."""
    yield value
    if parameter.schema.get("type") != "integer":
        return
    if isinstance(value, str) and (number := _NUMBER.fullmatch(value.strip())):
        value = int(number[1])
        yield value
    maximum = parameter.schema.get("maximum")
    if isinstance(value, int | float) and maximum is not None and value > maximum:
        yield maximum


def _show(value: Any) -> str:
    text = describe_value(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]} …"
