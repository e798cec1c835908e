import time
from cProfile import Profile
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import Meta, Struct, field

from footnote.protocol.errors import InvalidArguments
from footnote.tools.schema import MAX_PROBLEMS, parse_arguments, schema_of


class Place(Struct, frozen=True):
    city: str
    floors: Annotated[list[int], Meta(max_length=2)] = []


class Order(Struct, frozen=True):
    """What is ordered."""

    query: Annotated[str, Meta(description="What to look for.", min_length=1, extra={"missing": "Say what."})]
    count: Annotated[int, Meta(ge=1, le=10)] = 5
    ratio: float = 0.5
    fresh: Literal["pd", "pw"] | None = None
    exact: bool = False
    tags: list[str] = []
    home: Annotated[Place | None, Meta(description="Where to.")] = None
    places: list[Place] = field(default_factory=list[Place])


class Nothing(Struct, frozen=True):
    pass


class Endless(Struct, frozen=True):
    inner: "Endless | None" = None


PLACE = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "floors": {"type": "array", "items": {"type": "integer"}, "maxItems": 2, "default": []},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def test_the_schema_is_complete_in_itself() -> None:
    assert schema_of(Order) == {
        "type": "object",
        "description": "What is ordered.",
        "properties": {
            "query": {"type": "string", "description": "What to look for.", "minLength": 1},
            "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
            "ratio": {"type": "number", "default": 0.5},
            "fresh": {"anyOf": [{"type": "string", "enum": ["pd", "pw"]}, {"type": "null"}], "default": None},
            "exact": {"type": "boolean", "default": False},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            "home": {"description": "Where to.", "anyOf": [PLACE, {"type": "null"}], "default": None},
            "places": {"type": "array", "items": PLACE},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    Draft202012Validator.check_schema(schema_of(Order))


def test_a_tool_without_parameters_has_an_empty_object() -> None:
    assert schema_of(Nothing) == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert parse_arguments(Nothing, {}) == Nothing()


def test_a_parameter_named_title_is_kept() -> None:
    class Book(Struct):
        title: str

    assert schema_of(Book)["properties"] == {"title": {"type": "string"}}


def test_parameters_without_end_are_refused_when_the_tool_is_defined() -> None:
    with pytest.raises(TypeError, match="Endless refers to itself"):
        schema_of(Endless)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"query": "q"}, Order("q")),
        ({"query": "q", "count": "7"}, Order("q", count=7)),
        ({"query": "q", "count": 7.0}, Order("q", count=7)),
        ({"query": "q", "ratio": 1}, Order("q", ratio=1.0)),
        ({"query": "q", "exact": "true"}, Order("q", exact=True)),
        ({"query": "q", "count": None, "tags": None, "fresh": None}, Order("q")),
        ({"query": "q", "tags": '["a", "b"]'}, Order("q", tags=["a", "b"])),
        ({"query": "[1]"}, Order("[1]")),
        ({"query": "5"}, Order("5")),
        ({"query": "q", "home": {"city": "Huế"}}, Order("q", home=Place("Huế"))),
        ({"query": "q", "home": '{"city": "Huế"}'}, Order("q", home=Place("Huế"))),
        ({"query": "q", "places": [{"city": "a", "floors": ["1"]}]}, Order("q", places=[Place("a", [1])])),
    ],
)
def test_arguments_are_taken_as_the_model_meant_them(arguments: dict[str, Any], value: Order) -> None:
    assert parse_arguments(Order, arguments) == value


def test_every_violation_is_told_at_once() -> None:
    arguments = {
        "qurey": "q",
        "count": 50,
        "ratio": "much",
        "fresh": "day",
        "tags": ["a", 5],
        "places": [{"city": "a"}, {"town": "b"}, {"city": "c", "floors": [1, 2, 3]}],
        "zzz": 1,
    }
    with pytest.raises(InvalidArguments) as invalid:
        parse_arguments(Order, arguments)
    assert invalid.value.message == (
        "The arguments do not fit the tool's parameters:\n"
        "- qurey: unknown parameter; did you mean query?\n"
        "- count: expected an integer, at least 1, at most 10, received 50.\n"
        '- ratio: expected a number, received "much".\n'
        '- fresh: expected one of "pd", "pw" or null, received "day".\n'
        "- tags[1]: expected a string, received 5.\n"
        "- places[1].town: unknown parameter; the parameters are city, floors.\n"
        "- places[1].city: required, but missing.\n"
        "- places[2].floors: expected a list of which each is an integer, at most 2 items, received [1,2,3].\n"
        "- zzz: unknown parameter; the parameters are query, count, ratio, fresh, exact, tags, home, places.\n"
        "- query: required, but missing. Say what.\n"
        'Received: {"qurey":"q","count":50,"ratio":"much","fresh":"day","tags":["a",5],"places":[{"city":"a"},'
        '{"town":"b"},{"city":"c","floors":[1,2,3]}],"zzz":1}\n'
        "Call the tool again with all of this corrected."
    )


def test_a_parameter_of_a_tool_that_takes_none_is_unknown() -> None:
    with pytest.raises(InvalidArguments, match=r"- x: unknown parameter; the tool takes none\."):
        parse_arguments(Nothing, {"x": 1})


def test_of_very_many_violations_the_first_are_told() -> None:
    arguments: dict[str, Any] = {f"{number} {'x' * 1_000}": number for number in range(100_000)}
    began = time.thread_time()
    with pytest.raises(InvalidArguments) as invalid:
        parse_arguments(Order, arguments)
    assert time.thread_time() - began < 1, "milliseconds; to look for a name that each may mean takes a minute"
    assert invalid.value.message.count("unknown parameter") == MAX_PROBLEMS
    assert len(invalid.value.message) < 10_000


def test_long_arguments_are_shown_shortened() -> None:
    with pytest.raises(InvalidArguments) as invalid:
        parse_arguments(Order, {"text": "a" * 100_000, "more": [{"b": "c" * 50}] * 100, "odd": "\ud800"})
    assert "a" * 80 + "… (100000 characters)" in invalid.value.message
    assert len(invalid.value.message) < 1500


@given(
    st.dictionaries(
        st.sampled_from(["query", "count", "exact", "fresh", "home", "places", "tags", "other"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["city", "floors"]), inner),
            max_leaves=5,
        ),
    )
)
def test_whatever_a_model_sends_is_a_value_or_a_message(arguments: dict[str, Any]) -> None:
    try:
        value = parse_arguments(Order, arguments)
    except InvalidArguments as invalid:
        text = invalid.message
    else:
        text = "fits"
        assert 1 <= value.count <= 10
    assert text


def test_what_the_schema_allows_is_parsed() -> None:
    validator = Draft202012Validator(schema_of(Order))
    arguments = {"query": "q", "count": 3, "home": {"city": "a", "floors": [1]}, "fresh": "pw"}
    assert validator.is_valid(arguments)
    assert parse_arguments(Order, arguments) == Order("q", count=3, home=Place("a", [1]), fresh="pw")


def test_the_fields_of_a_type_are_looked_up_once() -> None:
    parse_arguments(Order, {"query": "a"})
    profile = Profile()
    profile.runcall(parse_arguments, Order, {"query": "a"})
    profile.create_stats()
    assert "fields" not in {name for _, _, name in profile.stats}  # pyright: ignore[reportAttributeAccessIssue] - not in its stub


class Anything(Struct, frozen=True):
    value: Any
    count: int = 0


@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_arguments_that_are_nested_deeply_are_refused_in_few_words(depth: int) -> None:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    with pytest.raises(InvalidArguments) as refused:
        parse_arguments(Anything, {"value": value, "count": "many"})
    assert refused.value.message.endswith(
        'Received: {"value":' + "[" * 19 + '"…"' + "]" * 19 + ',"count":"many"}\n'
        "Call the tool again with all of this corrected."
    )
