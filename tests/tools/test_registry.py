import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from footnote.protocol.tools import LOCALES, text_result
from footnote.tools.base import Abilities, Outcome, ToolContext
from footnote.tools.define import NAME
from footnote.tools.registry import Toolbox, builtin_tools, merge
from tools.calls import make_tool
from workspace.in_memory import in_memory_workspace

FILE_TOOLS = ("edit_file", "list_files", "read_file", "search_files", "write_file")


async def answer(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
    yield text_result("done")


def test_the_built_in_tools_are_found() -> None:
    assert {tool.name for tool in builtin_tools()} >= set(FILE_TOOLS)


def test_every_built_in_tool_stands_in_the_file_of_its_name() -> None:
    folder = Path(__import__("footnote.tools.builtin", fromlist=["builtin"]).__path__[0])
    assert {tool.name for tool in builtin_tools()} == {path.stem for path in folder.glob("[!_]*.py")}


@pytest.mark.parametrize("tool", builtin_tools(), ids=lambda tool: tool.name)
def test_a_built_in_tool_is_complete(tool: Any) -> None:
    assert NAME.fullmatch(tool.name)
    Draft202012Validator.check_schema(tool.input_schema)
    assert all(schema.get("description") for schema in tool.input_schema["properties"].values())
    assert len({tool.title(locale) for locale in LOCALES}) == len(LOCALES)


def test_importing_the_tools_does_not_import_the_mcp_package() -> None:
    code = (
        "import footnote.tools.registry as r, footnote.tools.mcp, footnote.tools.wrappers, sys;"
        " r.builtin_tools(); print(sorted({'mcp', 'httpx2', 'pydantic', 'jsonschema'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_a_toolbox_has_the_tools_whose_conditions_hold() -> None:
    always, never = make_tool(answer, "always"), make_tool(answer, "never", available=lambda _: False)
    with_files = Toolbox.of([*builtin_tools(), never, always], Abilities(in_memory_workspace()))
    without = Toolbox.of([*builtin_tools(), never, always], Abilities())
    assert set(FILE_TOOLS) <= set(with_files.names)
    assert without.names == ("always",)
    assert without.get("always") is always
    assert without.get("never") is None
    assert list(without) == [always]


def test_the_order_of_the_specs_does_not_depend_on_the_order_of_the_tools() -> None:
    a, b = make_tool(answer, "a"), make_tool(answer, "b")
    assert Toolbox([b, a]).specs == Toolbox([a, b]).specs == (a.spec, b.spec)


def test_the_search_is_the_first_of_the_tools_and_those_that_need_files_are_the_last() -> None:
    toolbox = Toolbox([*builtin_tools(), make_tool(answer, "a"), make_tool(answer, "z")])
    assert toolbox.names == ("web_search", "a", "read_page", "write_file", "z", *FILE_TOOLS[:-1])


def test_an_empty_toolbox_has_nothing() -> None:
    empty = Toolbox.empty()
    assert (empty.specs, empty.names, len(empty), bool(empty)) == ((), (), 0, False)


def test_a_condition_that_fails_leaves_only_its_own_tool_out(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: Abilities) -> bool:
        raise ZeroDivisionError

    toolbox = Toolbox.of([make_tool(answer, "a", available=broken), make_tool(answer, "b")], Abilities())
    assert toolbox.names == ("b",)
    assert [record.getMessage() for record in caplog.records] == [
        "The condition of the tool a failed; the tool is left out."
    ]


def test_of_two_tools_with_one_name_the_first_stays(caplog: pytest.LogCaptureFixture) -> None:
    own, other = make_tool(answer, "a"), make_tool(answer, "b")
    foreign = replace(own, description="Something else.")
    with caplog.at_level(logging.WARNING):
        assert merge([own], [foreign, other]) == (own, other)
    assert [record.getMessage() for record in caplog.records] == [
        "A second tool is called a; it is left out. Rename it to have it."
    ]
