"""An MCP server as a source of tools: a real program, over stdio and over HTTP."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from footnote.protocol.errors import InvalidArguments
from footnote.protocol.messages import Image, Text
from footnote.protocol.tools import Progress, ToolResult, error_result, text_result
from footnote.tools.mcp import McpSource
from footnote.tools.wrappers import wrap_tool
from tools.calls import context, run_for_result, run_for_steps
from tools.mcp_servers.start import EXAMPLE, serve_example, tool

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(params=["stdio", "http"], scope="module", loop_scope="module")
async def source(request: pytest.FixtureRequest) -> AsyncIterator[McpSource]:
    if request.param == "stdio":
        async with McpSource([EXAMPLE]) as opened:
            yield opened
    else:
        async with serve_example() as server, McpSource([server]) as opened:
            yield opened


async def test_a_tool_is_described_as_the_servers_own(source: McpSource) -> None:
    add = tool(source, "add")
    assert add.description == "A tool of the MCP server demo, which describes it so: Add two numbers."
    assert (add.input_schema["type"], add.input_schema["required"]) == ("object", ["a", "b"])
    assert (add.timeout, add.approval, add.exclusive) == (60.0, False, False)


async def test_titles_come_from_the_server_in_every_language(source: McpSource) -> None:
    titles = {
        name: {tool(source, name).title(locale) for locale in ("en", "vi", "zh")} for name in ("add", "look", "put")
    }
    assert titles == {"add": {"add"}, "look": {"Look around"}, "put": {"Set it"}}


async def test_only_a_tool_that_says_so_may_be_tried_again(source: McpSource) -> None:
    marks = {name: tool(source, name).idempotent for name in ("add", "look", "put", "wipe")}
    assert marks == {"add": False, "look": True, "put": True, "wipe": False}


async def test_a_call_is_answered(source: McpSource) -> None:
    steps = await run_for_steps(tool(source, "add"), {"a": 2, "b": 3})
    assert steps == [text_result("5", artifact={"structured_content": {"result": 5}})]


async def test_arguments_that_do_not_fit_are_an_error_that_says_where(source: McpSource) -> None:
    with pytest.raises(InvalidArguments) as caught:
        await run_for_result(tool(source, "add"), {"a": "two"})
    assert "- a: 'two' is not of type 'integer'\n- 'b' is a required property\n" in caught.value.message


async def test_what_the_server_itself_finds_wrong_with_them_is_an_error_too(source: McpSource) -> None:
    add = replace(tool(source, "add"), parse=dict)
    result = await run_for_result(add, {"a": "two"})
    assert result.is_error
    assert "Input should be a valid integer" in result.text
    assert "Field required" in result.text


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("picture", ToolResult((Image("image/png", b"png"),))),
        ("structured", text_result('{"price":26.5}', artifact={"structured_content": {"price": 26.5}})),
        ("nothing", text_result("The tool answered with nothing.")),
        ("fail", error_result("It did not work.")),
        (
            "mixed",
            ToolResult(
                (
                    Text("text"),
                    Text("[audio of type audio/wav, which cannot be shown here]"),
                    Text("[content of type image/svg+xml, 3 bytes, which cannot be shown here]"),
                    Text("[content of type image/png, which is not valid base64]"),
                    Text("[resource page: https://example.invalid/page] A page."),
                    Text("[resource note://1]\nnoted"),
                    Image("image/webp", b"png"),
                )
            ),
        ),
    ],
)
async def test_every_kind_of_answer_becomes_a_result(source: McpSource, name: str, result: ToolResult) -> None:
    assert await run_for_result(tool(source, name), {}) == result


async def test_progress_is_passed_on(source: McpSource) -> None:
    assert await run_for_steps(tool(source, "count"), {}) == [
        Progress("working", 1, 3, "one"),
        Progress("working", 50, 100, "half"),
        Progress("working", 7, None, ""),
        text_result("counted", artifact={"structured_content": {"result": "counted"}}),
    ]


async def test_leaving_a_call_cancels_it_on_the_server(source: McpSource) -> None:
    steps: Any = wrap_tool(tool(source, "hang")).run({}, context())
    assert await anext(steps) == Progress("working", 0, None, "hanging")
    await steps.aclose()
    assert (await run_for_result(tool(source, "was_cancelled"), {})).text == "yes"


async def test_a_call_that_takes_too_long_is_stopped_and_the_next_one_works(source: McpSource) -> None:
    slow = wrap_tool(replace(tool(source, "hang"), timeout=0.2))
    assert await run_for_result(slow, {}) == error_result("mcp__demo__hang was stopped: it took longer than 0.2 s.")
    assert (await run_for_result(tool(source, "add"), {"a": 1, "b": 1})).text == "2"


async def test_calls_run_side_by_side(source: McpSource) -> None:
    waiting: Any = tool(source, "hang").run({}, context())
    assert await anext(waiting) == Progress("working", 0, None, "hanging")
    assert (await run_for_result(tool(source, "add"), {"a": 1, "b": 1})).text == "2"
    await waiting.aclose()
