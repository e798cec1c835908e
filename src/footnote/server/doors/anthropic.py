"""`POST /v1/messages`: an agent as a model of the Anthropic Messages API."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from footnote.config.agents import Agent
from footnote.protocol.events import ErrorBody, TurnStopReason, TurnUsage
from footnote.protocol.sse import encode
from footnote.server.doors.asking import MAX_BODY_BYTES, Question, Said, question_from, text_in, without_tools
from footnote.server.doors.running import answered
from footnote.server.doors.telling import NO_USAGE, Began, Closed, Ended, Failed, Grew, Opened, Told, Whole
from footnote.server.replies import Reply
from footnote.server.stream import EventStream
from footnote.server.table import Call, Route

_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_STOP_REASONS: dict[TurnStopReason, str] = {"length": "max_tokens"}
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


class AnthropicMessage(Struct, frozen=True, gc=False):
    role: Literal["user", "assistant"]
    content: Raw


class MessagesRequest(Struct, frozen=True):
    """`model` is the id of an agent, or PROVIDER/MODEL. What else the API knows is accepted and changes nothing."""

    model: str
    messages: tuple[AnthropicMessage, ...]
    system: Raw | UnsetType = UNSET
    stream: bool | None = False
    tools: Raw | UnsetType = UNSET
    tool_choice: Raw | UnsetType = UNSET


def error_form(error: ErrorBody, status: int) -> Any:
    usual = "invalid_request_error" if 400 <= status < 500 else "api_error"
    return {"type": "error", "error": {"type": _TYPES.get(status, usual), "message": error.message}}


class MessagesDoor:
    """Writes what is told of a run as the events of the Messages API."""

    ping = b'event: ping\ndata: {"type": "ping"}\n\n'

    def __init__(self, model: str) -> None:
        self._model = model

    def write(self, told: Told) -> bytes:
        match told:
            case Began(message_id):
                return _event({"type": "message_start", "message": self._message(message_id, [], None, NO_USAGE)})
            case Opened(index, kind):
                return _event({"type": "content_block_start", "index": index, "content_block": _block(kind, "")})
            case Grew(index, kind, text):
                delta = {"type": f"{kind}_delta", kind: text}
                return _event({"type": "content_block_delta", "index": index, "delta": delta})
            case Closed(index):
                return _event({"type": "content_block_stop", "index": index})
            case Ended(reason, usage):
                delta = {"stop_reason": _STOP_REASONS.get(reason, "end_turn"), "stop_sequence": None}
                ending = _event({"type": "message_delta", "delta": delta, "usage": _usage(usage)})
                return ending + _event({"type": "message_stop"})
            case Failed(error):
                return _event(error_form(error, 502))

    def whole(self, whole: Whole) -> Any:
        content = [_block(kind, "".join(parts)) for kind, parts in whole.blocks]
        return self._message(whole.message_id, content, _STOP_REASONS.get(whole.stop_reason, "end_turn"), whole.usage)

    def _message(
        self, message_id: str, content: list[dict[str, str]], stop_reason: str | None, usage: TurnUsage
    ) -> dict[str, Any]:
        return {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": _usage(usage),
        }


def _block(kind: str, text: str) -> dict[str, str]:
    # A signature is demanded by the type. Ours are never checked: thoughts that come back are left out.
    return {"type": kind, kind: text, **({"signature": ""} if kind == "thinking" else {})}


def _usage(usage: TurnUsage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
    }


def _event(payload: dict[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (payload["type"].encode(), encode(payload))


async def messages(call: Call) -> Reply | EventStream:
    asked: MessagesRequest = call.body
    question = await asyncio.to_thread(_question, asked, call.app.configuration.agents)
    return await answered(call, question, MessagesDoor(asked.model), error_form, stream=bool(asked.stream))


def _question(asked: MessagesRequest, agents: Sequence[Agent]) -> Question:
    without_tools(tools=asked.tools, tool_choice=asked.tool_choice)
    system = text_in(asked.system, "system")
    said = [
        Said(one.role, text_in(one.content, f"messages[{number}].content", left_out=_THOUGHTS))
        for number, one in enumerate(asked.messages)
    ]
    return question_from(agents, asked.model, system, said)


ROUTES = (
    Route(
        "POST",
        "/v1/messages",
        messages,
        "Ask an agent as a model of the Anthropic Messages API",
        body=MessagesRequest,
        streams=True,
        errors=error_form,
        most_bytes=MAX_BODY_BYTES,
        lenient=True,
    ),
)
