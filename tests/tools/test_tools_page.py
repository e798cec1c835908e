"""docs/tools.md: its example tool runs, its configuration is valid, and its table lists every mark."""

import re
from pathlib import Path
from typing import Any

import msgspec

from footnote.config.settings import AgentsFile
from footnote.protocol.tools import text_result
from footnote.tools.base import Tool
from footnote.tools.registry import builtin_tools
from tools.calls import context, run_for_result
from workspace.in_memory import in_memory_workspace

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")


def example(language: str) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]


async def test_the_example_tool_works() -> None:
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(example("python"), "docs/tools.md", "exec"), names)
    tool: Tool = names["count_words"]
    workspace = in_memory_workspace()
    await workspace.write("/a.md", "one three five", message_id=None)
    arguments = {"file_path": "/a.md", "longer_than": "3"}
    assert await run_for_result(tool, arguments, context(workspace)) == text_result("2 words.")


def test_the_example_of_servers_is_a_configuration() -> None:
    (agent,) = msgspec.json.decode(example("json"), type=AgentsFile).agents
    assert agent.mcp_servers["time"].args == ("-m", "mcp_server_time")
    assert agent.mcp_servers["tickets"].approval


def test_the_file_tools_have_the_parameters_of_the_page() -> None:
    described = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", PAGE, re.MULTILINE))
    tools = {tool.name: ", ".join(tool.input_schema["properties"]) for tool in builtin_tools()}
    assert described.items() <= tools.items()
    assert described
