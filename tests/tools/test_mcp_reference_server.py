"""The reference server of the MCP project, installed from its package and used as a source of tools."""

import sys

import pytest

from footnote.tools.base import Abilities
from footnote.tools.mcp import McpServerSettings, McpSource
from footnote.tools.registry import Toolbox, builtin_tools, merge
from footnote.tools.wrappers import wrap_tool
from tools.calls import run_for_result
from workspace.in_memory import in_memory_workspace

pytest.importorskip("mcp_server_time", reason="the reference server is a test dependency")
TIME = McpServerSettings(
    "time", command=sys.executable, args=("-m", "mcp_server_time", "--local-timezone", "Asia/Ho_Chi_Minh")
)


async def test_its_tools_stand_beside_our_own_and_work() -> None:
    async with McpSource([TIME]) as source:
        tools = [wrap_tool(tool) for tool in merge(builtin_tools(), source.tools)]
        toolbox = Toolbox.of(tools, Abilities(in_memory_workspace()))
        assert {"read_file", "mcp__time__get_current_time", "mcp__time__convert_time"} <= set(toolbox.names)
        convert = toolbox.get("mcp__time__convert_time")
        assert convert is not None
        assert convert.idempotent
        times = {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Ho_Chi_Minh"}
        result = await run_for_result(convert, times)
        assert result.artifact is not None
        assert result.artifact["structured_content"]["time_difference"] == "-2.0h"
        wrong = await run_for_result(convert, times | {"target_timezone": "Mars/Olympus"})
        assert wrong.is_error
        assert "Invalid timezone" in wrong.text
