"""The twelve events of one model response.

Every response is `start`, then blocks, each opened, extended and closed under its content index, then exactly one
of `done` and `error`. Blocks may be open side by side. Nothing follows the last event, and nothing is raised:
a failure is an `error` whose message has all that was received.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from footnote.protocol.messages import AssistantMessage, ToolCall


class Start(Struct, frozen=True, tag="start"):
    model: str


class TextStart(Struct, frozen=True, tag="text_start"):
    index: int


class TextDelta(Struct, frozen=True, tag="text_delta", gc=False):
    index: int
    delta: str


class TextEnd(Struct, frozen=True, tag="text_end"):
    index: int
    content: str


class ThinkingStart(Struct, frozen=True, tag="thinking_start"):
    index: int


class ThinkingDelta(Struct, frozen=True, tag="thinking_delta", gc=False):
    index: int
    delta: str


class ThinkingEnd(Struct, frozen=True, tag="thinking_end"):
    index: int
    content: str


class ToolCallStart(Struct, frozen=True, tag="toolcall_start"):
    index: int
    id: str
    name: str


class ToolCallDelta(Struct, frozen=True, tag="toolcall_delta"):
    """`arguments` is a preview of the JSON so far: for display, never for execution."""

    index: int
    delta: str
    arguments: dict[str, Any]


class ToolCallEnd(Struct, frozen=True, tag="toolcall_end"):
    index: int
    call: ToolCall


class Done(Struct, frozen=True, tag="done"):
    reason: Literal["stop", "length", "toolUse"]
    message: AssistantMessage


class Failed(Struct, frozen=True, tag="error"):
    reason: Literal["error", "aborted"]
    message: AssistantMessage


StreamEvent: TypeAlias = (
    Start
    | TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | Done
    | Failed
)
