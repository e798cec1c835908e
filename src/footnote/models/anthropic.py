"""The Anthropic Messages API: a context into a request body, a streamed event into the fold."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from footnote.models import errors
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Endpoint, Options
from footnote.models.profiles import Profile, effort_of
from footnote.models.repair import HistoryRules, repair
from footnote.models.wire import Decoder, dumps
from footnote.protocol.messages import (
    AssistantMessage,
    Block,
    Foreign,
    Image,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
)
from footnote.protocol.stream import StreamEvent

PATH = "/v1/messages"
MODELS_PATH = "/v1/models?limit=1000"
VERSION = "2026-10-21"

_STOP_REASONS: dict[str, Literal["stop", "length", "toolUse"]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
_REFUSALS = frozenset({"refusal", "sensitive"})
_CACHE_CONTROL = {"cache_control": {"type": "ephemeral"}}


# Requests ------------------------------------------------------------------------------------------------


def request_headers(endpoint: Endpoint) -> dict[str, str]:
    named = {"content-type": "application/json", "anthropic-version": VERSION}
    return named | {"x-api-key": endpoint.api_key} if endpoint.api_key else named


def request_body(model_id: str, context: Context, options: Options, profile: Profile) -> dict[str, Any]:
    """The request. Sampling parameters are never in it: this version of the API refuses them."""
    rules = HistoryRules(model_id, profile.images, max_id_length=64, thinking=True)
    request: dict[str, Any] = {
        "model": model_id.partition("/")[2],
        "stream": True,
        "messages": _messages(repair(context.messages, rules)),
        **_token_limits(options, profile),
    }
    if context.system.strip():
        request["system"] = [{"type": "text", "text": context.system, **_CACHE_CONTROL}]
    if context.tools:
        request["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in context.tools
        ]
        request["tools"][-1] |= _CACHE_CONTROL
    return request


def _token_limits(options: Options, profile: Profile) -> dict[str, Any]:
    """`max_tokens`, and thinking in the way that this model wants to be asked for it."""
    longest = min(options.max_tokens or 32_000, profile.max_output)
    budget = options.thinking_budget
    if not budget or profile.thinking == "none":
        return {"max_tokens": longest}
    if profile.thinking == "adaptive":
        return {
            "max_tokens": longest,
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": effort_of(budget)},
        }
    budget = max(1024, budget)
    if profile.thinking is not None:  # of an unknown model the limit is not known either: the wish counts
        budget = min(budget, profile.max_output - 1024)
        longest = min(profile.max_output, max(longest, budget + 4096))
    return {
        "max_tokens": max(longest, budget + 1024),
        "thinking": {"type": "enabled", "budget_tokens": budget},
    }


def _messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Wire messages; what stands side by side in one role becomes one message, so that all results of a round
    answer together."""
    wire: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            role, blocks = "assistant", [_block(block) for block in message.content]
        elif isinstance(message, ToolResultMessage):
            role, blocks = "user", [_tool_result(message)]
        else:
            role, blocks = "user", [_part(part) for part in message.content]
        if wire and wire[-1]["role"] == role:
            wire[-1]["content"] += blocks
        else:
            wire.append({"role": role, "content": blocks})
    wire[-1]["content"][-1] |= _CACHE_CONTROL
    return wire


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case ToolCall():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}
        case Thinking():
            if block.redacted is not None:
                return {"type": "redacted_thinking", "data": block.redacted}
            return {"type": "thinking", "thinking": block.text, "signature": block.signature}
        case Foreign():
            return dict(block.block)


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    data = b64encode(part.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": data}}


def _tool_result(message: ToolResultMessage) -> dict[str, Any]:
    # An error may hold text only: the API refuses images in it.
    seen = any(isinstance(part, Image) for part in message.content) and not message.is_error
    content = [_part(part) for part in message.content] if seen else message.text or "(no output)"
    result = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": content}
    return result | {"is_error": True} if message.is_error else result


# Responses -----------------------------------------------------------------------------------------------


class _AnthropicUsage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: dict[str, Any] | None = None


class _AnthropicStart(Struct):
    usage: _AnthropicUsage | None = None


class _AnthropicDelta(Struct):
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None
    stop_details: dict[str, Any] | None = None


class _Event(Struct):
    """Any event of the stream. Kinds that are not named here pass by."""

    type: str = ""
    index: int = 0
    delta: _AnthropicDelta | None = None
    content_block: dict[str, Any] | None = None
    message: _AnthropicStart | None = None
    usage: _AnthropicUsage | None = None
    error: Any = None


def response_parser(accumulator: Accumulator, endpoint: Endpoint) -> "AnthropicParser":
    return AnthropicParser(accumulator, endpoint)


class AnthropicParser:
    """Payloads of one response, in order. `ended` is true once the answer is whole, or has failed."""

    _decode = Decoder(_Event)

    def __init__(self, accumulator: Accumulator, endpoint: Endpoint) -> None:
        self.is_complete = False
        self._accumulator = accumulator
        self._endpoint = endpoint
        self._indexes: dict[int, int] = {}
        # Some gateways send the input of a call whole with its start, and no deltas.
        self._pending_inputs: dict[int, str] = {}
        self._stop_reason: str | None = None
        self._stop_details: dict[str, Any] = {}

    def parse(self, payload: bytes) -> Iterable[StreamEvent]:
        event = self._decode(payload)
        match event.type:
            case "content_block_delta":
                return self._append(event.index, event.delta or _AnthropicDelta())
            case "content_block_start":
                return self._open(event.index, event.content_block or {})
            case "content_block_stop":
                return self._close(event.index)
            case "message_start":
                self._update_usage(event.message.usage if event.message else None)
            case "message_delta":
                self._update_usage(event.usage)
                if event.delta is not None:
                    self._stop_reason = event.delta.stop_reason or self._stop_reason
                    self._stop_details = event.delta.stop_details or self._stop_details
            case "message_stop":
                self.is_complete = True
                return self._final_events()
            case "error":
                self.is_complete = True
                return self._accumulator.fail("error", errors.from_event(self._endpoint, event.error))
            case _:
                pass  # pings, and kinds that do not exist yet
        return ()

    def finish(self) -> Iterable[StreamEvent]:
        """The body ended without `message_stop`: the answer is not whole, whatever it looks like."""
        return self._accumulator.fail("error", errors.stream_truncated(self._endpoint), self._stop_reason)

    def flush(self) -> Iterable[StreamEvent]:
        return ()

    def _open(self, index: int, block: dict[str, Any]) -> Iterator[StreamEvent]:
        match block.get("type"):
            case "text":
                start = self._accumulator.open_text()
                first = block.get("text")
            case "thinking":
                start = self._accumulator.open_thinking()
                first = block.get("thinking")
            case "redacted_thinking":
                start = self._accumulator.open_thinking(redacted=str(block.get("data") or ""))
                first = None
            case "tool_use":
                start = self._accumulator.open_call(str(block.get("id") or ""), str(block.get("name") or ""))
                first = None
                if block.get("input"):
                    self._pending_inputs[start.index] = dumps(block["input"]).decode()
            case _:
                self._indexes[index] = self._accumulator.add_foreign(block)
                return
        self._indexes[index] = start.index
        yield start
        if first and (event := self._accumulator.append(start.index, str(first))):
            yield event

    def _append(self, index: int, delta: _AnthropicDelta) -> tuple[StreamEvent, ...]:
        position = self._indexes.get(index)
        if position is None:
            return ()
        if delta.signature:
            self._accumulator.add_signature(position, delta.signature)
        if delta.partial_json:
            self._pending_inputs.pop(position, None)
        event = self._accumulator.append(position, delta.text or delta.partial_json or delta.thinking or "")
        return () if event is None else (event,)

    def _close(self, index: int) -> Iterator[StreamEvent]:
        position = self._indexes.get(index)
        if position is None:
            return
        if grown := self._accumulator.append(position, self._pending_inputs.pop(position, "")):
            yield grown
        if end := self._accumulator.close(position):
            yield end

    def _final_events(self) -> Iterable[StreamEvent]:
        raw = self._stop_reason
        if raw in _REFUSALS:
            cause = self._stop_details.get("explanation") or self._stop_details.get("category")
            return self._accumulator.fail("error", errors.refusal(self._endpoint, cause), raw)
        return self._accumulator.finish(_STOP_REASONS.get(raw or "", "stop"), raw)

    def _update_usage(self, usage: _AnthropicUsage | None) -> None:
        """Later numbers replace earlier ones: they are totals, not increments."""
        if usage is None:
            return
        known = self._accumulator.usage
        thought = (usage.output_tokens_details or {}).get("thinking_tokens")
        self._accumulator.usage = Usage(
            _latest(usage.input_tokens, known.input),
            _latest(usage.output_tokens, known.output),
            _latest(usage.cache_read_input_tokens, known.cache_read),
            _latest(usage.cache_creation_input_tokens, known.cache_write),
            thought if isinstance(thought, int) else known.reasoning,
        )


def _latest(value: int | None, known: int) -> int:
    return known if value is None else value
