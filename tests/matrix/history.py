"""Messages and tools for the tests of requests, and a reader of request bodies."""

from typing import Any

from footnote.models.profiles import Profile
from footnote.protocol.messages import (
    AssistantMessage,
    Block,
    Image,
    StopReason,
    Text,
    ToolResultMessage,
)
from footnote.protocol.tools import ToolSpec

MARK = {"cache_control": {"type": "ephemeral"}}
PICTURE = Image("image/png", b"\x89PNG")
BLIND = Profile(window=8_000, max_output=4_000, thinking="none", images=False)
SEARCH = ToolSpec("web_search", "Searches.", {"type": "object", "properties": {"query": {"type": "string"}}})
FILES = ToolSpec("list_files", "Lists.", {"type": "object", "properties": {}})


def assistant_answer(*content: Block, by: str, reason: StopReason = "stop") -> AssistantMessage:
    return AssistantMessage(content, reason, by)


def result(call_id: str, text: str, name: str = "web_search", *, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage(call_id, name, (Text(text),), is_error=is_error)


def result_ids(body: Any) -> list[str]:
    """The ids of all tool results in a request."""
    sent = body["messages"]
    if any(one["role"] == "tool" for one in sent):
        return [one["tool_call_id"] for one in sent if one["role"] == "tool"]
    blocks = [block for one in sent if isinstance(one["content"], list) for block in one["content"]]
    return [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
