import json
import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from footnote.protocol.messages import Image, Text
from footnote.protocol.tools import Progress, ToolResult, text_result
from footnote.tools.base import Outcome, Tool, ToolContext
from footnote.tools.registry import builtin_tools
from footnote.tools.wrappers import with_output_cap, wrap_tool
from footnote.workspace.files import MAX_FILE_BYTES, Workspace
from tools.calls import context, make_tool, run_for_result, run_for_steps
from workspace.in_memory import in_memory_workspace

LINES = "\n".join(f"line {number} " + "x" * 90 for number in range(1, 101)) + "\n"


def tool_returning(result: ToolResult, **marks: Any) -> Tool:
    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield Progress("working")
        yield result

    return make_tool(body, **marks)


def row(number: int) -> str:
    return f"line {number} " + "x" * 90


async def test_a_large_text_goes_into_a_file_and_a_preview_takes_its_place() -> None:
    workspace = in_memory_workspace()
    picture = Image("image/png", b"png")
    whole = ToolResult((Text(LINES), picture), is_error=True, artifact={"kept": True})
    steps = await run_for_steps(with_output_cap(tool_returning(whole), 1000), {}, context(workspace))
    preview = (
        f"The result is too large to show: {len(LINES):,} characters in 100 lines. All of it is in"
        " /large_tool_results/call_1.txt: read it with read_file, using offset and limit, or look for words in it"
        " with search_files."
        f"\n\nIt begins:\n{row(1)}\n{row(2)}\n{row(3)}\n{row(4)}\n{row(5)}"
        f"\n\nIt ends:\n{row(97)}\n{row(98)}\n{row(99)}\n{row(100)}\n"
    )
    assert steps == [
        Progress("working"),
        ToolResult((Text(preview), picture), is_error=True, artifact={"kept": True}),
    ]
    assert await workspace.read_text("/large_tool_results/call_1.txt") == LINES


@pytest.mark.parametrize("text", ["a" * 4000, "é" * 2000, "日" * 1333])
async def test_a_text_within_the_cap_stays_as_it_is(text: str) -> None:
    workspace = in_memory_workspace()
    assert await run_for_result(
        with_output_cap(tool_returning(text_result(text)), 1000), {}, context(workspace)
    ) == text_result(text)
    assert await workspace.list() == ()


@pytest.mark.parametrize("text", ["a" * 4001, "é" * 2001, "日" * 1334])
async def test_a_text_over_the_cap_is_measured_in_bytes(text: str) -> None:
    workspace = in_memory_workspace()
    result = await run_for_result(with_output_cap(tool_returning(text_result(text)), 1000), {}, context(workspace))
    assert result.text != text
    assert await workspace.read_text("/large_tool_results/call_1.txt") == text


async def test_one_endless_line_has_a_short_preview_with_its_beginning_and_its_end() -> None:
    text = "a" * 50_000 + "z" * 50_000
    result = await run_for_result(
        with_output_cap(tool_returning(text_result(text)), 1000), {}, context(in_memory_workspace())
    )
    assert result.text.endswith(f"\n\nIt begins:\n{'a' * 1000}\n\nIt ends:\n{'z' * 1000}")
    assert len(result.text) < 2500


@pytest.mark.parametrize(
    ("call_id", "path"),
    [
        ("toolu_01-A", "/large_tool_results/toolu_01-A.txt"),
        ("../../etc/passwd", "/large_tool_results/______etc_passwd.txt"),
        ("gọi|1", "/large_tool_results/g_i_1.txt"),
        ("a" * 500, f"/large_tool_results/{'a' * 100}.txt"),
        ("", "/large_tool_results/result.txt"),
    ],
)
async def test_any_call_id_makes_a_file_name(call_id: str, path: str) -> None:
    workspace = in_memory_workspace()
    await run_for_result(with_output_cap(tool_returning(text_result(LINES)), 100), {}, context(workspace, call_id))
    assert [record.path for record in await workspace.list()] == [path]


async def test_without_a_workspace_the_text_is_cut_with_a_note() -> None:
    result = await run_for_result(with_output_cap(tool_returning(text_result("é" * 5000)), 1000), {}, context())
    note = "[Cut here: the result has 5,000 characters, and only the first 2,000 are shown.]"
    assert result == text_result("é" * 2000 + f"\n\n{note}")


async def test_a_file_that_cannot_be_written_costs_the_model_nothing_but_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = "a" * (MAX_FILE_BYTES + 1)
    with caplog.at_level(logging.ERROR):
        result = await run_for_result(
            with_output_cap(tool_returning(text_result(text)), 1000), {}, context(in_memory_workspace())
        )
    assert result.text.startswith("a" * 4000 + "\n\n[Cut here")
    assert "A large tool result could not be kept" in caplog.text


async def test_a_tool_that_bounds_its_own_output_is_left_alone() -> None:
    tool = tool_returning(text_result(LINES), bounded=True)
    assert with_output_cap(tool, 1) is tool


async def test_a_model_can_read_the_whole_of_a_large_result() -> None:
    workspace = in_memory_workspace()
    await run_for_result(wrap_tool(tool_returning(text_result(LINES)), output_tokens=100), {}, context(workspace))
    read_file = wrap_tool(next(tool for tool in builtin_tools() if tool.name == "read_file"), output_tokens=100)
    arguments = {"file_path": "/large_tool_results/call_1.txt", "offset": 98, "limit": 1}
    result = await run_for_result(read_file, arguments, context(workspace))
    assert result.text == f"    99  {row(99)}\n[1 more line. Go on with offset=99.]"


async def read_completely(workspace: Workspace) -> list[str]:
    """The lines of the large result, by doing what each answer of read_file says."""
    read_file = wrap_tool(next(tool for tool in builtin_tools() if tool.name == "read_file"))
    arguments: dict[str, Any] = {"limit": 2000}
    lines: dict[int, str] = {}
    while arguments:
        arguments["file_path"] = "/large_tool_results/call_1.txt"
        text = (await run_for_result(read_file, arguments, context(workspace))).text
        for number, part in re.findall(r"^ *(\d+)(?:\.\d+)?  (.*)$", text, re.MULTILINE):
            lines[int(number)] = lines.get(int(number), "") + part
        goes_on = re.search(r"Go on with offset=(\d+)(?:, column=(\d+))?\.\]", text)
        arguments = {"limit": 2000, "offset": goes_on[1], "column": goes_on[2] or 0} if goes_on else {}
    return [lines[number] for number in sorted(lines)]


async def test_json_in_one_line_is_kept_in_many_and_can_be_read_completely() -> None:
    rows = [{"id": number, "name": f'[{number}] "row", {{', "text": "ô" * 60} for number in range(10_000)]
    text = json.dumps(rows, ensure_ascii=False)
    assert len(text) > 1_000_000
    workspace = in_memory_workspace()
    result = await run_for_result(wrap_tool(tool_returning(text_result(text))), {}, context(workspace))
    assert " in 50,002 lines. All of it is in /large_tool_results/call_1.txt, with line breaks added: " in result.text
    lines = await read_completely(workspace)
    assert json.loads("\n".join(lines)) == rows
    search = next(tool for tool in builtin_tools() if tool.name == "search_files")
    found = await run_for_result(search, {"query": '"id": 9999'}, context(workspace))
    assert found.text == '/large_tool_results/call_1.txt:49998: "id": 9999,'


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{number:07}" for number in range(20_000)),
        json.dumps(["a" * 120_000])[:-1],
        "[" * 21 + "1," * 100_000 + "1" + "]" * 21,
        '["' + '\\"' * 60_000 + "\\",
    ],
    ids=["digits", "cut JSON", "deep JSON", "an endless string"],
)
async def test_any_other_endless_line_is_kept_as_it_is_and_can_be_read_completely(text: str) -> None:
    workspace = in_memory_workspace()
    await run_for_result(wrap_tool(tool_returning(text_result(text))), {}, context(workspace))
    assert await workspace.read_text("/large_tool_results/call_1.txt") == text
    assert await read_completely(workspace) == [text]


async def test_json_with_half_a_character_is_kept() -> None:
    workspace = in_memory_workspace()
    await run_for_result(
        wrap_tool(tool_returning(text_result('["\ud800' + "a" * 100_000 + '"]'))), {}, context(workspace)
    )
    assert await workspace.read_text("/large_tool_results/call_1.txt") == '["?' + "a" * 100_000 + '"]'
