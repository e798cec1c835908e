"""Calls a tool: parsed arguments in, all its steps out."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from footnote.protocol.tools import ToolResult
from footnote.tools.base import Abilities, Outcome, Tool, ToolContext
from footnote.workspace.files import Workspace

Body = Callable[[Any, ToolContext], AsyncIterator[Outcome]]


def context(workspace: Workspace | None = None, call_id: str = "call_1") -> ToolContext:
    return ToolContext(Abilities(workspace=workspace), call_id=call_id, message_id="msg_1", locale="en")


async def run_for_steps(
    tool: Tool, arguments: dict[str, Any], tool_context: ToolContext | None = None
) -> list[Outcome]:
    return [step async for step in tool.run(tool.parse(arguments), tool_context or context())]


async def run_for_result(tool: Tool, arguments: dict[str, Any], tool_context: ToolContext | None = None) -> ToolResult:
    """The last step, which must be the only result."""
    *others, last = await run_for_steps(tool, arguments, tool_context)
    assert isinstance(last, ToolResult)
    assert not any(isinstance(other, ToolResult) for other in others)
    return last


def make_tool(body: Body, name: str = "work", **marks: Any) -> Tool:
    """A tool for one test, without parameters."""
    titles = {"en": "Do the work", "vi": "Làm việc", "zh": "工作"}
    schema = {"type": "object", "properties": {}}
    return Tool(name, "Does the work.", schema, titles, parse=dict, run=body, **marks)
