from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from footnote.protocol.errors import InvalidArguments
from footnote.protocol.tools import Locale, Progress, ToolResult, ToolSpec, text_result
from footnote.tools.base import Abilities, Outcome, ToolContext
from footnote.tools.define import tool
from tools.calls import context, run_for_steps
from workspace.in_memory import in_memory_workspace

TITLES: dict[Locale, str] = {"en": "Greet", "vi": "Chào", "zh": "问候"}


class Greeting(Struct, frozen=True):
    name: Annotated[str, Meta(description="Whom to greet.")]


@tool(titles=TITLES)
async def greet(params: Greeting, about: ToolContext) -> ToolResult:
    """Greet somebody.

    Politely.
    """
    return text_result(f"Hello {params.name}, in {about.locale}.")


@tool(titles=TITLES, when=lambda abilities: abilities.workspace is not None, exclusive=True, timeout=5)
async def count(params: Greeting, _: ToolContext) -> AsyncIterator[Outcome]:
    """Count."""
    yield Progress("counting", 1, 2)
    yield text_result(params.name)


def test_the_function_says_what_the_tool_is() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "Whom to greet."}},
        "required": ["name"],
        "additionalProperties": False,
    }
    assert greet.spec == ToolSpec("greet", "Greet somebody.\n\nPolitely.", schema)
    assert [greet.title(locale) for locale in ("en", "vi", "zh")] == ["Greet", "Chào", "问候"]


async def test_a_returned_result_is_the_only_step() -> None:
    assert await run_for_steps(greet, {"name": "Lan"}) == [text_result("Hello Lan, in en.")]


async def test_yielded_steps_come_one_by_one() -> None:
    assert await run_for_steps(count, {"name": "Lan"}, context()) == [Progress("counting", 1, 2), text_result("Lan")]


def test_marks_and_conditions_are_the_tools_own() -> None:
    assert (greet.exclusive, greet.idempotent, greet.timeout) == (False, False, 60.0)
    assert (count.exclusive, count.idempotent, count.timeout) == (True, False, 5)
    assert [count.available(Abilities(workspace)) for workspace in (None, in_memory_workspace())] == [False, True]
    assert greet.available(Abilities())


def test_arguments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidArguments, match="- name: required, but missing"):
        greet.parse({})


async def without_a_docstring(params: Greeting, about: ToolContext) -> ToolResult:
    return text_result(params.name)


async def without_a_struct(params: dict[str, Any], about: ToolContext) -> ToolResult:
    """Works."""
    return text_result(str(params))


def not_async(params: Greeting, about: ToolContext) -> Any:
    """Works."""
    return text_result(params.name)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (without_a_docstring, "The tool without_a_docstring needs a docstring"),
        (without_a_struct, "first parameter of the tool without_a_struct must be annotated with a msgspec Struct"),
        (not_async, "The tool not_async must be an async function"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tool(titles=TITLES)(function)


def test_a_name_that_models_do_not_take_is_refused() -> None:
    async def grüßen(params: Greeting, about: ToolContext) -> ToolResult:  # noqa: PLC2401 - the name is the point
        """Greet."""
        return text_result("")

    with pytest.raises(TypeError, match="'grüßen' cannot be the name of a tool"):
        tool(titles=TITLES)(grüßen)


def test_a_title_in_every_language_is_required() -> None:
    async def work(params: Greeting, about: ToolContext) -> ToolResult:
        """Work."""
        return text_result("")

    with pytest.raises(TypeError, match="The tool work has no title in vi, zh"):
        tool(titles={"en": "Work", "zh": ""})(work)


def test_a_title_falls_back_to_english_and_then_to_the_name() -> None:
    assert replace(greet, titles={"en": "Greet"}).title("zh") == "Greet"
    assert replace(greet, titles={}).title("zh") == "greet"
