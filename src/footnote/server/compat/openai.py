"""`POST /v1/chat/completions`: an agent as a model of the OpenAI Chat Completions API."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Literal, cast

from msgspec import UNSET, Raw, Struct, UnsetType

from footnote.config.settings import Agent
from footnote.protocol.errors import UsageError
from footnote.protocol.events import ErrorBody, TurnStopReason, TurnUsage
from footnote.protocol.sse import encode
from footnote.server.compat.bridge import (
    CompatBegan,
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
    TOOLS_REJECTED_MESSAGE,
    CompatMessage,
    CompatQuestion,
    build_question,
    decode_field,
    extract_text,
    reject_tools,
)
from footnote.server.responses import EventStream, Reply
from footnote.server.route import Route, RouteCall

_FINISH_REASONS: dict[TurnStopReason, str] = {"length": "length"}
_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


class ChatMessage(Struct, frozen=True, gc=False):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Raw | UnsetType = UNSET
    tool_calls: Raw | UnsetType = UNSET


class StreamOptions(Struct, frozen=True):
    include_usage: bool | None = None


class ChatRequest(Struct, frozen=True):
    """`model` is the id of an agent, or PROVIDER/MODEL. Other fields of the API are accepted and have no effect."""

    model: str
    messages: tuple[ChatMessage, ...]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    response_format: Raw | UnsetType = UNSET
    tools: Raw | UnsetType = UNSET
    tool_choice: Raw | UnsetType = UNSET
    functions: Raw | UnsetType = UNSET


def format_error(error: ErrorBody, status: int) -> Any:
    kind = "server_error" if status >= 500 else "rate_limit_error" if status == 429 else "invalid_request_error"
    code = _CODES.get(status, error.type)
    return {"error": {"message": error.message, "type": kind, "param": None, "code": code}}


class ChatBridge:
    """Writes the events of a run as chunks of a chat completion. Thinking goes into `reasoning_content`, where other
    servers of this API put it."""

    ping = b": ping\n\n"

    def __init__(self, model: str, *, with_usage: bool) -> None:
        self._model = model
        self._with_usage = with_usage
        self._created = int(time.time())
        self._id = ""
        self._begun_kinds: set[str] = set()

    def encode_event(self, event: CompatEvent) -> bytes:
        match event:
            case CompatBegan(message_id):
                self._id = message_id
                return self._chunk({"role": "assistant", "content": ""})
            case CompatOpened(kind=kind) if kind in self._begun_kinds:
                return self._chunk({_FIELDS[kind]: "\n\n"})
            case CompatDelta(kind=kind, text=text):
                self._begun_kinds.add(kind)
                return self._chunk({_FIELDS[kind]: text})
            case CompatEnded(reason, usage):
                return self._final_chunks(_FINISH_REASONS.get(reason, "stop"), usage)
            case CompatFailed(error):
                return _data(format_error(error, 502))
            case _:
                return b""

    def encode_response(self, response: CompatResponse) -> Any:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "\n\n".join(response.texts("text")),
            "refusal": None,
        }
        if thinking := response.texts("thinking"):
            message["reasoning_content"] = "\n\n".join(thinking)
        finish = _FINISH_REASONS.get(response.stop_reason, "stop")
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        self._id = response.message_id
        return {**self._head("chat.completion"), "choices": [choice], "usage": _usage(response.usage)}

    def _final_chunks(self, finish: str, usage: TurnUsage) -> bytes:
        chunks = self._chunk({}, finish)
        if self._with_usage:
            chunks += _data({**self._head("chat.completion.chunk"), "choices": [], "usage": _usage(usage)})
        return chunks + b"data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        usage = {"usage": None} if self._with_usage else {}
        return _data({**self._head("chat.completion.chunk"), "choices": [choice], **usage})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self._model}


_FIELDS = {"text": "content", "thinking": "reasoning_content"}


def _usage(usage: TurnUsage) -> dict[str, Any]:
    prompt_tokens = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": prompt_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _data(payload: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % encode(payload)


async def completions(call: RouteCall) -> Reply | EventStream:
    request: ChatRequest = call.body
    question = await asyncio.to_thread(_parse_request, request, call.app.configuration.agents)
    options = request.stream_options or StreamOptions()
    bridge = ChatBridge(request.model, with_usage=bool(options.include_usage))
    return await respond(call, question, bridge, format_error, stream=bool(request.stream))


def _parse_request(request: ChatRequest, agents: Sequence[Agent]) -> CompatQuestion:
    _check_supported(request)
    system: list[str] = []
    messages: list[CompatMessage] = []
    for index, message in enumerate(request.messages):
        text = extract_text(message.content, f"messages[{index}].content", skipped_types=frozenset({"refusal"}))
        if message.role in ("user", "assistant"):
            messages.append(CompatMessage(message.role, text))
        elif message.role in ("system", "developer"):
            system.append(text)
        else:
            raise UsageError(TOOLS_REJECTED_MESSAGE.format(field="messages"))
    return build_question(agents, request.model, "\n\n".join(system), messages)


def _check_supported(request: ChatRequest) -> None:
    reject_tools(tools=request.tools, tool_choice=request.tool_choice, functions=request.functions)
    for message in request.messages:
        reject_tools(**{"messages[].tool_calls": message.tool_calls})
    if (request.n or 1) != 1:
        raise UsageError("`n` must be 1: an agent answers a question once.")
    value = decode_field(request.response_format)
    format_type = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else value
    if format_type not in (None, "text"):
        raise UsageError("`response_format` must be text: an agent answers in text, with footnotes.")


ROUTES = (
    Route(
        "POST",
        "/v1/chat/completions",
        completions,
        "Ask an agent as a model of the OpenAI Chat Completions API",
        body=ChatRequest,
        streams=True,
        error_format=format_error,
        max_body_bytes=MAX_BODY_BYTES,
        lenient=True,
    ),
)
