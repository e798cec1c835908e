"""The arguments of a call, held against the schema that a server gave for its tool.

The schema is foreign: what it says is checked as far as that is sure to end soon. The server has the last word.
"""

import logging
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeAlias, cast

from jsonschema import Draft202012Validator, ValidationError, validators

from footnote.protocol.errors import InvalidArguments
from footnote.tools.words import received

log = logging.getLogger(__name__)

_MOST_PROBLEMS = 10
_MOST_STEPS = 10_000
"""References that lead to references, and lists of alternatives, can make of a small schema an endless one."""
_LONGEST_MESSAGE = 300
_UNCHECKED = ("pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "uniqueItems")
"""A stranger's pattern can take for ever, the next two follow patterns and references by themselves, and the last holds
every item against every other."""

_Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def parser(tool: str, schema: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What checks the arguments of `tool`: it gives them back as they are, or raises `InvalidArguments`."""
    steps = 0

    def counted(keyword: _Keyword) -> _Keyword:
        def check(validator: Any, value: Any, instance: Any, node: Any) -> Iterator[ValidationError] | None:
            nonlocal steps
            steps += 1
            if steps > _MOST_STEPS:
                raise LookupError("it leads too far")
            return keyword(validator, value, instance, node)

        return check

    keywords = {name: counted(keyword) for name, keyword in _KEYWORDS.items()}
    validator = cast("Any", validators).extend(Draft202012Validator, keywords)(_of_one_draft(schema))

    def parse(arguments: dict[str, Any]) -> dict[str, Any]:
        nonlocal steps
        steps = 0
        try:
            problems = [_told(error) for error in islice(validator.iter_errors(arguments), _MOST_PROBLEMS)]
        except Exception as error:  # noqa: BLE001 - a foreign schema, on which the validator may break in any way
            log.warning("The arguments of %s could not be held against its schema (%r).", tool, error)
            return dict(arguments)
        if problems:
            listed = "\n".join(f"- {problem}" for problem in problems)
            raise InvalidArguments(
                f"The arguments do not fit the tool's parameters:\n{listed}\nReceived: {received(arguments)}\n"
                "Call the tool again with all of this corrected."
            )
        return dict(arguments)

    return parse


def _of_one_draft(node: Any) -> Any:
    """The schema without `$schema`: inside a schema it would bring back the keywords as another draft has them."""
    match node:
        case dict():
            parts = cast("dict[str, Any]", node).items()
            return {key: _of_one_draft(part) for key, part in parts if key != "$schema" or not isinstance(part, str)}
        case list():
            return [_of_one_draft(part) for part in cast("list[Any]", node)]
        case _:
            return node


def _told(error: ValidationError) -> str:
    path = error.json_path.removeprefix("$").removeprefix(".")
    message = error.message if len(error.message) <= _LONGEST_MESSAGE else error.message[:_LONGEST_MESSAGE] + " …"
    return f"{path}: {message}" if path else message


def _unchecked(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> None:
    return None


def _without_patterns(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        return None if "patternProperties" in schema else keyword(validator, value, instance, schema)

    return check


def _within(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, reference: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        if not str(reference).startswith("#"):
            raise LookupError("it leads out of itself")
        return keyword(validator, reference, instance, schema)

    return check


_OF_THE_DRAFT = cast("dict[str, _Keyword]", Draft202012Validator.VALIDATORS)
_KEYWORDS: dict[str, _Keyword] = {
    **_OF_THE_DRAFT,
    **dict.fromkeys(_UNCHECKED, _unchecked),
    **{name: _within(_OF_THE_DRAFT[name]) for name in ("$ref", "$dynamicRef")},
    "additionalProperties": _without_patterns(_OF_THE_DRAFT["additionalProperties"]),
}
