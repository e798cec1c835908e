"""Arguments are validated against the schema of the tool; violations are explained."""

from typing import Any

import pytest

from footnote.protocol.errors import InvalidArguments
from footnote.tools.mcp import McpSource
from footnote.tools.mcp.adapter import arguments_parser
from tools.calls import run_for_steps
from tools.mcp_servers.start import ODD

TICKET: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "pattern": "^(a+)+$"},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
        "count": {"type": "integer", "minimum": 1},
    },
    "required": ["title"],
    "additionalProperties": False,
    "$defs": {"tag": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
}


def test_arguments_that_fit_are_passed_on_as_they_are():
    arguments = {"title": "b", "tags": [{"name": "x", "more": 1}], "count": 3}

    assert arguments_parser("tickets", TICKET)(arguments) == arguments


def test_every_violation_is_told_with_its_place():
    with pytest.raises(InvalidArguments) as caught:
        arguments_parser("tickets", TICKET)({"tags": [{"name": "x"}, {"name": 5}], "count": 0, "colour": "red"})

    assert caught.value.message == (
        "The arguments do not fit the tool's parameters:\n"
        "- tags[1].name: 5 is not of type 'string'\n"
        "- count: 0 is less than the minimum of 1\n"
        "- 'title' is a required property\n"
        "- Additional properties are not allowed ('colour' was unexpected)\n"
        'Received: {"tags":[{"name":"x"},{"name":5}],"count":0,"colour":"red"}\n'
        "Call the tool again with all of this corrected."
    )


def test_what_is_told_of_very_many_violations_has_an_end():
    with pytest.raises(InvalidArguments) as caught:
        arguments_parser("tickets", TICKET)({"title": "b", "tags": ["y" * 5_000] * 500})

    assert len(caught.value.message) < 5_000


def chain(length: int) -> dict[str, Any]:
    """A schema with two equal alternatives at every level: few levels, exponentially many paths."""
    steps = {f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(length)}
    return {"properties": {"x": {"$ref": "#/$defs/s0"}}, "$defs": {**steps, f"s{length}": {"type": "string"}}}


def wide(length: int, width: int) -> dict[str, Any]:
    """Few levels, and at the end of every path a long list of alternatives, of which only the last matches."""
    steps = {f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(length)}
    last = {"anyOf": [*([{"not": {}}] * width), True]}
    return {"properties": {"x": {"$ref": "#/$defs/s0"}}, "$defs": {**steps, f"s{length}": last}}


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"properties": {"x": {"$ref": "#/$defs/nowhere"}}}, id="a reference into nothing"),
        pytest.param({"properties": {"x": {"$ref": "https://x.invalid/y"}}}, id="a reference to elsewhere"),
        pytest.param({"properties": {"x": {"$ref": "#/properties/x"}}}, id="a reference to itself"),
        pytest.param(chain(60), id="very many ways"),
        pytest.param(wide(9, 1250), id="very many alternatives on many ways"),
        pytest.param({"properties": {"x": {"pattern": "("}}}, id="not a pattern"),
        pytest.param({"properties": {"x": {"pattern": "^(a+)+$"}}}, id="a pattern without end"),
        pytest.param({"patternProperties": {"^(x+)+y": {}}, "additionalProperties": False}, id="names by a pattern"),
        pytest.param(
            {"properties": {"x": {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}}},
            id="a pattern of another draft",
        ),
        pytest.param({"properties": {"x": {"type": "no such type"}}}, id="an unknown type"),
    ],
)
def test_a_schema_that_cannot_be_followed_does_not_stop_a_call(schema: dict[str, Any]):
    arguments = {"x": 5 if "$defs" in schema else "a" * 40 + "!"}

    assert arguments_parser("tickets", schema)(arguments) == arguments


async def test_a_call_of_a_servers_tool_with_wrong_arguments_is_not_made():
    async with McpSource([ODD]) as source:
        plain = next(tool for tool in source.tools if tool.name == "mcp__odd__plain")

        with pytest.raises(InvalidArguments, match="x: 5 is not of type 'string'"):
            await run_for_steps(plain, {"x": 5})
