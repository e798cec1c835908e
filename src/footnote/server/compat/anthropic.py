"""`POST /v1/messages`: an agent as a model of the Anthropic Messages API."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from footnote.config.settings import Agent
from footnote.protocol.events import ErrorBody, TurnStopReason, TurnUsage
from footnote.protocol.sse import encode
from footnote.server.compat.bridge import (
    NO_USAGE,
    CompatBegan,
    CompatClosed,
    CompatDelta,
    CompatEnded,
    CompatEvent,
    CompatFailed,
    CompatOpened,
    CompatResponse,
    respond,
)
from footnote.server.compat.requests import (
    MAX_BODY_BYTES,
    CompatMessage,
    CompatQuestion,
    build_question,
    extract_text,
    reject_tools,
)
from footnote.server.responses import EventStream, Reply
from footnote.server.route import Route, RouteCall

_THINKING_TYPES = frozenset({"thinking", "redacted_thinking"})
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
    """`model` is the id of an agent, or PROVIDER/MODEL. Other fields of the API are accepted and have no effect."""

    model: str
    messages: tuple[AnthropicMessage, ...]
    system: Raw | UnsetType = UNSET
    stream: bool | None = False
    tools: Raw | UnsetType = UNSET
    tool_choice: Raw | UnsetType = UNSET


def format_error(error: ErrorBody, status: int) -> Any:
    default = "invalid_request_error" if 400 <= status < 500 else "api_error"
    return {"type": "error", "error": {"type": _TYPES.get(status, default), "message": error.message}}


class MessagesBridge:
    """Writes the events of a run as those of the Messages API."""

    ping = b'event: ping\ndata: {"type": "ping"}\n\n'

    def __init__(self, model: str) -> None:
        self._model = model

    def encode_event(self, event: CompatEvent) -> bytes:
        match event:
            case CompatBegan(message_id):
                return _event({"type": "message_start", "message": self._message(message_id, [], None, NO_USAGE)})
            case CompatOpened(index, kind):
                return _event({"type": "content_block_start", "index": index, "content_block": _block(kind, "")})
            case CompatDelta(index, kind, text):
                delta = {"type": f"{kind}_delta", kind: text}
                return _event({"type": "content_block_delta", "index": index, "delta": delta})
            case CompatClosed(index):
                return _event({"type": "content_block_stop", "index": index})
            case CompatEnded(reason, usage):
                delta = {"stop_reason": _STOP_REASONS.get(reason, "end_turn"), "stop_sequence": None}
                ending = _event({"type": "message_delta", "delta": delta, "usage": _usage(usage)})
                return ending + _event({"type": "message_stop"})
            case CompatFailed(error):
                return _event(format_error(error, 502))

    def encode_response(self, response: CompatResponse) -> Any:
        content = [_block(kind, "".join(parts)) for kind, parts in response.blocks]
        return self._message(
            response.message_id, content, _STOP_REASONS.get(response.stop_reason, "end_turn"), response.usage
        )

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
    # The API requires a signature. It is empty, because thinking that a client sends back is ignored.
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


async def messages(call: RouteCall) -> Reply | EventStream:
    request: MessagesRequest = call.body
    question = await asyncio.to_thread(_parse_request, request, call.app.configuration.agents)
    return await respond(call, question, MessagesBridge(request.model), format_error, stream=bool(request.stream))


def _parse_request(request: MessagesRequest, agents: Sequence[Agent]) -> CompatQuestion:
    reject_tools(tools=request.tools, tool_choice=request.tool_choice)
    system = extract_text(request.system, "system")
    messages = [
        CompatMessage(
            message.role,
            extract_text(message.content, f"messages[{index}].content", skipped_types=_THINKING_TYPES),
        )
        for index, message in enumerate(request.messages)
    ]
    return build_question(agents, request.model, system, messages)


ROUTES = (
    Route(
        "POST",
        "/v1/messages",
        messages,
        "Ask an agent as a model of the Anthropic Messages API",
        body=MessagesRequest,
        streams=True,
        error_format=format_error,
        max_body_bytes=MAX_BODY_BYTES,
        lenient=True,
    ),
)
