"""What stands inside a tool call that a model wrote into its text: JSON, Python, or tags, with the name of a tool."""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import jiter
from msgspec import Struct

from footnote.models.tool_names import ToolNames
from footnote.protocol.tools import ToolSpec

MAX_PYTHON = 8_000
"""Characters of a call in Python notation: the parser of Python takes more than linear time over some texts."""


class WrittenCall(Struct, frozen=True):
    """A call that was found in the text, of a tool that was offered."""

    name: str
    arguments: dict[str, Any]


class OfferedTools:
    """The tools of the request: their names, and the order of their parameters for calls with positional arguments."""

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self._parameters: dict[str, Mapping[str, Any]] = {
            spec.name: cast("Mapping[str, Any]", spec.input_schema.get("properties") or {}) for spec in specs
        }
        self._names = ToolNames(self._parameters)
        self.openings = tuple(
            f"{prefix}{name}{suffix}".casefold()
            for name in self._parameters
            for prefix in _CALL_PREFIXES
            for suffix in ("(", ".call(")
        )

    def call(self, name: Any, arguments: Any) -> list[WrittenCall]:
        """The call as a list of one, or an empty list where this is no call of an offered tool."""
        if not isinstance(name, str):
            return []
        found = self._names.find(name.strip())
        if isinstance(arguments, str):
            arguments = _load_json(arguments) if arguments.strip() else {}
        if found is None or not isinstance(arguments, dict):
            return []
        return [WrittenCall(found, cast("dict[str, Any]", arguments))]

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def parameter(self, name: str, position: int) -> str | None:
        names = list(self._parameters.get(self._names.resolve(name), ()))
        return names[position] if position < len(names) else None

    def is_string(self, name: str, parameter: str) -> bool:
        schema = self._parameters.get(self._names.resolve(name), {}).get(parameter)
        return not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("type", "string") == "string"


_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "action_input", "kwargs")
FIRST_KEYS = frozenset((*_NAME_KEYS, *_ARGUMENT_KEYS, "tool_calls", "type", "id"))
_CALL_PREFIXES = ("", "print(", "functions.", "default_api.", "print(default_api.")
_decode_json = json.JSONDecoder(strict=False).raw_decode


def _load_json(text: str) -> Any:
    """The JSON value at the beginning of `text`, even without its last brackets; None: there is none."""
    text = text.strip()
    try:
        return _decode_json(text)[0]
    except (ValueError, RecursionError):
        pass
    try:
        return jiter.from_json(text.encode(errors="replace"), partial_mode="trailing-strings")
    except ValueError:
        return None


def _calls_in_value(value: Any, tools: OfferedTools, depth: int = 3) -> list[WrittenCall]:
    """The calls of a decoded JSON value, under the keys that models give name and arguments."""
    if isinstance(value, list) and depth:
        items = cast("list[Any]", value)
        return [call for item in items for call in _calls_in_value(item, tools, depth - 1)]
    if not isinstance(value, dict):
        return []
    fields = cast("dict[str, Any]", value)
    for key in ("tool_calls", "function"):
        if isinstance(fields.get(key), dict | list) and depth:
            return _calls_in_value(fields[key], tools, depth - 1)
    name_key = next((key for key in _NAME_KEYS if isinstance(fields.get(key), str)), None)
    argument_key = next((key for key in _ARGUMENT_KEYS if key in fields), None)
    if name_key is not None and argument_key is not None:
        return tools.call(fields[name_key], fields[argument_key] or {})
    if name_key is None or fields[name_key] not in tools:  # without a key for arguments, the name alone says what it is
        return []
    return tools.call(fields[name_key], {key: v for key, v in fields.items() if key not in (name_key, "type", "id")})


def parse_json(text: str, tools: OfferedTools) -> list[WrittenCall]:
    """One object, a list of them, or several objects in a row, with `;`, commas or white space between them."""
    calls: list[WrittenCall] = []
    rest = text.strip()
    while rest:
        try:
            value, end = _decode_json(rest)
        except (ValueError, RecursionError):
            return calls or _calls_in_value(_load_json(rest), tools)
        calls += _calls_in_value(value, tools)
        rest = rest[end:].lstrip(" \t\r\n;,").removeprefix("<tool_call>").lstrip()  # one that was not closed
        if not rest.startswith(("{", "[")):
            break
    return calls


def _parse_python(text: str, tools: OfferedTools) -> list[WrittenCall]:
    """`NAME(key=value)`, a list of such calls, or one a line, with literals as arguments."""
    text = text.strip()
    if len(text) > MAX_PYTHON:
        return []
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    expressions: list[ast.expr] = []
    for statement in statements:
        value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
        expressions += value.elts if isinstance(value, ast.List | ast.Tuple) else [value] if value else []
    return [call for expression in expressions for call in _python_call(expression, tools)]


def _python_call(expression: ast.expr, tools: OfferedTools) -> list[WrittenCall]:
    if not isinstance(expression, ast.Call):
        return []
    name = ast.unparse(expression.func)
    if name == "print" and len(expression.args) == 1:
        return _python_call(expression.args[0], tools)
    name = name.rpartition(".")[2] if not name.endswith(".call") else name.removesuffix(".call")
    by_name = {tools.parameter(name, position): value for position, value in enumerate(expression.args)}
    by_name |= {keyword.arg: keyword.value for keyword in expression.keywords}
    try:
        arguments = {key: ast.literal_eval(value) for key, value in by_name.items() if key is not None}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return []
    return tools.call(name, arguments)


def parse_any(text: str, tools: OfferedTools) -> list[WrittenCall]:
    """The payload between the tags of a call, or in a fence."""
    start = text.lstrip()
    if start.startswith("<function="):
        return _parse_tagged_functions(start, tools)
    if start.startswith(("{", "[")):
        return parse_json(start, tools) or _parse_python(start, tools)
    return _parse_python(start, tools)


def _parse_tagged_functions(text: str, tools: OfferedTools) -> list[WrittenCall]:
    """`<function=NAME>` with a JSON object, or with `<parameter=KEY>VALUE</parameter>`."""
    calls: list[WrittenCall] = []
    for part in text.split("<function=")[1:]:
        name, _, body = part.partition(">")
        body = body.partition("</function>")[0]
        if "<parameter=" in body:
            calls += tools.call(name, dict(_tagged_parameters(body, name.strip(), tools)))
        else:
            calls += tools.call(name, body)
    return calls


def _tagged_parameters(body: str, name: str, tools: OfferedTools) -> Iterator[tuple[str, Any]]:
    for part in body.split("<parameter=")[1:]:
        key, _, value = part.partition(">")
        value = value.partition("</parameter>")[0].strip()
        key = key.strip()
        loaded = None if tools.is_string(name, key) else _load_json(value)
        yield key, value if loaded is None else loaded


def parse_mistral(text: str, tools: OfferedTools) -> list[WrittenCall]:
    """What follows `[TOOL_CALLS]`: a JSON list, or `NAME[ARGS]{…}`, with `[CALL_ID]` between them in some versions."""
    if "[ARGS]" not in text:
        return parse_json(text.lstrip(), tools)
    calls: list[WrittenCall] = []
    for part in text.split("[TOOL_CALLS]"):
        name, _, arguments = part.partition("[ARGS]")
        calls += tools.call(name.partition("[CALL_ID]")[0], _load_json(arguments))
    return calls


def parse_gemma(text: str, tools: OfferedTools) -> list[WrittenCall]:
    """`call:NAME{key:<escape>text<escape>,key:5}`: strings are between `<escape>` marks."""
    name, _, body = text.strip().removeprefix("call:").partition("{")
    arguments: dict[str, Any] = {}
    key = ""
    for number, part in enumerate(body.rpartition("}")[0].split("<escape>")):
        if number % 2:
            arguments[key] = part
            continue
        fields = [field for field in part.split(",") if field.strip()]
        for field in fields:
            key, _, value = (piece.strip() for piece in field.partition(":"))
            if value:
                loaded = _load_json(value)
                arguments[key] = value if loaded is None else loaded
    return tools.call(name, arguments)


def deepseek_token(name: str) -> str:
    """A token of DeepSeek, whose bars are full-width, so that no text contains it by accident."""
    return f"<\N{FULLWIDTH VERTICAL LINE}tool▁{name}\N{FULLWIDTH VERTICAL LINE}>"


def parse_deepseek(text: str, tools: OfferedTools) -> list[WrittenCall]:
    calls: list[WrittenCall] = []
    for part in text.split(deepseek_token("call▁begin"))[1:]:
        before, _, after = part.partition(deepseek_token("call▁end"))[0].partition(deepseek_token("sep"))
        name, body = (after.partition("\n")[::2]) if before.strip() == "function" else (before, after)
        calls += tools.call(name, body.replace("```json", "").replace("```", ""))
    return calls


def parse_named_function(text: str, tools: OfferedTools) -> list[WrittenCall]:
    return _parse_tagged_functions("<function=" + text, tools)
