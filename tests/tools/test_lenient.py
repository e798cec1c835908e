"""Arguments as small models write them: read kindly where an option is optional, and with a note."""

import time
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType

from footnote.protocol.errors import InvalidArguments
from footnote.protocol.messages import Text
from footnote.protocol.tools import Locale, ToolResult, text_result
from footnote.tools.base import ToolContext
from footnote.tools.define import tool
from footnote.tools.lenient import LenientArguments, Reader, add_notes, parse_leniently
from footnote.tools.registry import builtin_tools
from footnote.tools.schema import schema_of
from tools.calls import run_for_result

TITLES: dict[Locale, str] = {"en": "Look", "vi": "Xem", "zh": "看"}


def read_color(text: str) -> str | None:
    return {"red": "r", "blue": "b", "r": "r", "b": "b"}.get(text.strip().lower())


class Look(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, extra={"aliases": ("q", "queries", "input")})]
    count: Annotated[Annotated[int, Meta(ge=1, le=10)] | UnsetType, Meta(extra={"aliases": ("limit",)})] = UNSET
    color: Annotated[str | UnsetType, Meta(extra={"reader": Reader(read_color, "r or b")})] = UNSET
    offset: Annotated[int, Meta(ge=0)] = 0
    exact: bool = False
    files: str = "*"
    level: Literal["low", "high"] = "low"


def read(arguments: dict[str, Any]) -> tuple[Look, tuple[str, ...]]:
    found = parse_leniently(Look, arguments)
    return found.params, found.notes


def test_aliases_and_readers_are_not_part_of_the_schema() -> None:
    properties = schema_of(Look)["properties"]
    assert properties["query"] == {"type": "string", "minLength": 1}
    assert properties["color"] == {"type": "string"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "x"},
        {"query": "x", "count": None, "color": None, "exact": None},
        {"query": "x", "files": "*", "offset": 0},
        {"query": "x", "offset": 0.0},
        {"arguments": {"query": "x"}},
        {"name": "look", "parameters": {"query": "x"}},
        {"input": {"query": "x"}},
        {"kwargs": '{"query": "x"}'},
        {"type": "object", "properties": {"query": "x"}},
    ],
)
def test_arguments_that_are_certain_have_no_note(arguments: dict[str, Any]) -> None:
    assert read(arguments) == (Look("x"), ())


@pytest.mark.parametrize(
    ("arguments", "params", "note"),
    [
        ({"count": "5"}, Look("x", 5), 'count "5" was read as 5.'),
        ({"count": "5.0"}, Look("x", 5), 'count "5.0" was read as 5.'),
        ({"count": "10 results"}, Look("x", 10), 'count "10 results" was read as 10.'),
        ({"count": 50}, Look("x", 10), "count 50 was read as 10."),
        ({"count": "50"}, Look("x", 10), 'count "50" was read as 10.'),
        ({"count": 1e300}, Look("x", 10), "count 1e300 was read as 10."),
        ({"count": 0}, Look("x"), "count 0 was left out: expected an integer, at least 1, at most 10."),
        ({"count": -3}, Look("x"), "count -3 was left out: expected an integer, at least 1, at most 10."),
        ({"count": "-3"}, Look("x"), 'count "-3" was left out: expected an integer, at least 1, at most 10.'),
        ({"count": "many"}, Look("x"), 'count "many" was left out: expected an integer, at least 1, at most 10.'),
        ({"count": [5]}, Look("x"), "count [5] was left out: expected an integer, at least 1, at most 10."),
        ({"count": ""}, Look("x"), 'count "" was left out.'),
        ({"color": "null"}, Look("x"), 'color "null" was left out.'),
        ({"color": " Any "}, Look("x"), 'color " Any " was left out.'),
        ({"files": "all"}, Look("x"), 'files "all" was left out.'),
        ({"color": "Red"}, Look("x", color="r"), 'color "Red" was read as "r".'),
        ({"color": ["blue"]}, Look("x", color="b"), 'color ["blue"] was read as "b".'),
        ({"color": "green"}, Look("x"), 'color "green" was left out: expected r or b.'),
        ({"color": {"a": 1}}, Look("x"), 'color {"a":1} was left out: expected r or b.'),
        ({"exact": "True"}, Look("x", exact=True), 'exact "True" was read as true.'),
        ({"exact": "perhaps"}, Look("x"), 'exact "perhaps" was left out: expected true or false.'),
        ({"level": "medium"}, Look("x"), 'level "medium" was left out: expected one of "high", "low".'),
        ({"Limit": 3}, Look("x", 3), '"Limit" was read as count.'),
        ({"COUNT": 3}, Look("x", 3), '"COUNT" was read as count.'),
        (
            {"language": "en"},
            Look("x"),
            '"language" was left out: the parameters are query, count, color, offset, exact, files, level.',
        ),
    ],
)
def test_an_optional_parameter_is_never_an_error(arguments: dict[str, Any], params: Look, note: str) -> None:
    assert read({"query": "x"} | arguments) == (params, (note,))


@pytest.mark.parametrize(
    ("arguments", "notes"),
    [
        ({"q": "x"}, ('"q" was read as query.',)),
        ({"Query": "x"}, ('"Query" was read as query.',)),
        ({"queries": ["x"]}, ('"queries" was read as query.', 'query ["x"] was read as "x".')),
        ({"input": "x"}, ('"input" was read as query.',)),
        ({"query": ["x"]}, ('query ["x"] was read as "x".',)),
    ],
)
def test_a_required_parameter_is_known_under_other_names(arguments: dict[str, Any], notes: tuple[str, ...]) -> None:
    assert read(arguments) == (Look("x"), notes)


def test_a_number_is_a_text_where_a_text_is_wanted() -> None:
    assert read({"query": 2024}) == (Look("2024"), ('query 2024 was read as "2024".',))


def test_the_name_of_the_parameter_comes_before_its_other_names() -> None:
    params, notes = read({"q": "other", "query": "x"})
    assert params == Look("x")
    assert [note.partition(":")[0] for note in notes] == ['"q" was left out']


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "- query: required, but missing."),
        ({"query": ""}, '- query: expected a string, at least 1 characters, received "".'),
        ({"query": None}, "- query: expected a string, at least 1 characters, received null."),
        ({"queries": ["a", "b"]}, '- query: expected a string, at least 1 characters, received ["a","b"].'),
        ({"query": {"text": "x"}}, '- query: expected a string, at least 1 characters, received {"text":"x"}.'),
        ({"query": True}, "- query: expected a string, at least 1 characters, received true."),
        ({"arguments": "not json"}, "- query: required, but missing."),
    ],
)
def test_a_required_parameter_that_is_missing_or_does_not_fit_is_an_error(
    arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidArguments) as invalid:
        read(arguments | {"count": "many"})
    assert problem in invalid.value.message
    assert "count:" not in invalid.value.message


def test_many_and_long_oddities_make_few_and_short_notes() -> None:
    arguments: dict[str, Any] = {f"{number} {'x' * 1_000}": number for number in range(100_000)}
    arguments |= {"query": "x", "count": "y" * 100_000, "color": [[["z"]]] * 10_000}
    began = time.thread_time()
    params, notes = read(arguments)
    assert time.thread_time() - began < 3
    assert params == Look("x")
    assert len(notes) <= 9
    assert sum(map(len, notes)) < 2_000


def test_deeply_nested_values_are_left_out() -> None:
    value: Any = "x"
    for _ in range(50_000):
        value = [value]
    params, [note] = read({"query": "x", "color": value})
    assert params == Look("x")
    assert "was left out" in note


@given(
    st.dictionaries(
        st.sampled_from(["query", "q", "count", "color", "offset", "exact", "files", "level", "arguments", "other"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["query", "a"]), inner),
            max_leaves=5,
        ),
    )
)
def test_only_the_required_parameter_can_be_refused(arguments: dict[str, Any]) -> None:
    problem = ""
    try:
        _, notes = read(arguments)
    except InvalidArguments as invalid:
        problem, notes = invalid.message, ()
    assert problem.count("\n- ") == problem.count("\n- query") == bool(problem)
    assert all(len(note) < 300 for note in notes)


# The notes in a result -----------------------------------------------------------------------------------------------


def test_notes_stand_in_the_content_and_in_the_receipt() -> None:
    result = ToolResult((Text("found"),), artifact={"query": "x", "receipt": {"took_ms": 3, "notes": ["slow"]}})
    noted = add_notes(result, ("a was left out.", "b was left out."))
    assert noted.text == "found\nNote: a was left out.\nNote: b was left out."
    assert noted.artifact == {
        "query": "x",
        "receipt": {"took_ms": 3, "notes": ["a was left out.", "b was left out.", "slow"]},
    }
    assert add_notes(result, ()) is result
    assert add_notes(text_result("found"), ("a.",)).artifact is None


@tool(titles=TITLES, lenient=True)
async def look(params: Look, _: ToolContext) -> ToolResult:
    """Look."""
    return text_result(f"{params.query} {params.offset}")


async def test_a_lenient_tool_runs_with_what_was_read_and_says_so() -> None:
    assert isinstance(look.parse({"query": "x"}), LenientArguments)
    result = await run_for_result(look, {"q": "x", "offset": "3"})
    assert result.text == 'x 3\nNote: "q" was read as query.\nNote: offset "3" was read as 3.'


def test_a_tool_that_needs_approval_is_not_lenient() -> None:
    with pytest.raises(TypeError, match="cannot be lenient"):
        tool(titles=TITLES, lenient=True, approval=True)(look.run)  # pyright: ignore[reportArgumentType] - it is refused


@pytest.mark.parametrize("builtin", builtin_tools(), ids=lambda tool: tool.name)
def test_every_built_in_tool_drops_what_it_does_not_know(builtin: Any) -> None:
    values: dict[str, Any] = dict.fromkeys(builtin.input_schema["required"], "x")
    optional = {name: {"odd": []} for name in builtin.input_schema["properties"] if name not in values}
    found = builtin.parse(values | optional | {"zzz": 1})
    assert len(found.notes) == len(optional) + 1
