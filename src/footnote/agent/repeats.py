"""A model that makes the same call again: one that failed is refused in the end, one that succeeded has its result."""

from collections.abc import Sequence

from msgspec.structs import replace

from footnote.protocol.messages import AssistantMessage, Message, Text, ToolCall, ToolResultMessage, UserMessage
from footnote.protocol.tools import ToolResult, said
from footnote.tools.base import Tool
from footnote.tools.registry import Toolbox

REFUSED_AT = 3
AGAIN = Text(
    "[You made this very call before in this turn. Nothing was done again: this is the result that you have already. "
    "Go on with it, or make another call.]"
)
TWICE = (
    "This very call stands twice in your response. It was carried out once: its result is that of the first of them."
)


def refusal(call: ToolCall, messages: Sequence[Message]) -> str | None:
    """Why `call` is not run again: its last tries failed in a row. None: it may run."""
    if _failures_in_a_row(call, messages) < REFUSED_AT - 1:
        return None
    return (
        f"Refused: this is the same call of {call.name} with the same arguments for the {REFUSED_AT}rd time in a row, "
        "and it failed each time. Do not repeat it. Change the arguments, use another tool, or answer with what you "
        "have and say what could not be done."
    )


def earlier_result(call: ToolCall, tool: Tool, messages: Sequence[Message], toolbox: Toolbox) -> ToolResult | None:
    """What the same call came to earlier in this turn, with a note; None: it is to be carried out."""
    if tool.reuse == "never":
        return None
    calls = _calls_by_id(messages)
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return None
        if not isinstance(message, ToolResultMessage):
            continue
        made = calls.get(message.tool_call_id)
        if made is not None and is_same(made, call) and not message.is_error:
            content = (*(part for part in message.content if part != AGAIN), AGAIN)
            return ToolResult(content, artifact=message.artifact, images=message.images)
        if tool.reuse == "until_change" and may_change(toolbox.get(message.tool_name)):
            return None
    return None


def twice_in_one(result: ToolResult) -> ToolResult:
    """The answer to a call that stands twice in a response: a result is said once, an error each time."""
    return replace(result, files=(), usage=None) if result.is_error else said(TWICE)


def is_same(one: ToolCall, other: ToolCall) -> bool:
    return one.name == other.name and one.arguments == other.arguments and one.invalid == other.invalid


def may_change(tool: Tool | None) -> bool:
    return tool is None or tool.reuse == "never"


def _calls_by_id(messages: Sequence[Message]) -> dict[str, ToolCall]:
    return {made.id: made for message in messages if isinstance(message, AssistantMessage) for made in message.calls}


def _failures_in_a_row(call: ToolCall, messages: Sequence[Message]) -> int:
    calls = _calls_by_id(messages)
    failures = 0
    for message in reversed(messages):
        if isinstance(message, ToolResultMessage):
            made = calls.get(message.tool_call_id)
            if made is None or not is_same(made, call) or not message.is_error:
                return failures
            failures += 1
        elif not isinstance(message, AssistantMessage):
            return failures
    return failures
