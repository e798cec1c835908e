"""The Anthropic Messages API: a context into a request body, a streamed event into the fold."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Literal

from msgspec import Struct

from footnote.models import errors
from footnote.models.accumulate import Accumulator
from footnote.models.anthropic_citations import CITATIONS_NOTE, ReceivedText, cut_passages
from footnote.models.base import Context, Endpoint, Options
from footnote.models.profiles import Profile, effort_of
from footnote.models.repair import HistoryRules, repair
from footnote.models.wire import Decoder, dumps
from footnote.protocol.messages import (
    AssistantMessage,
    Foreign,
    Message,
    Part,
    Plan,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
)
from footnote.protocol.sources import EvidencePassage, evidence_in
from footnote.protocol.stream import StreamEvent
from footnote.protocol.tools import ToolSpec

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
    headers = {"content-type": "application/json", "anthropic-version": VERSION}
    return headers | {"x-api-key": endpoint.api_key} if endpoint.api_key else headers


def request_body(model_id: str, context: Context, options: Options, profile: Profile) -> dict[str, Any]:
    """The request. Sampling parameters are never in it: this version of the API refuses them."""
    rules = HistoryRules(model_id, profile.images, max_id_length=64, thinking=True)
    request: dict[str, Any] = {
        "model": model_id.partition("/")[2],
        "stream": True,
        "messages": _messages(repair(context.messages, rules), native=profile.citations == "native"),
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
    """`max_tokens`, and thinking in the form that this model accepts."""
    max_tokens = min(options.max_tokens or 32_000, profile.max_output)
    budget = options.thinking_budget
    if not budget or profile.thinking == "none":
        return {"max_tokens": max_tokens}
    if profile.thinking == "adaptive":
        return {
            "max_tokens": max_tokens,
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": effort_of(budget)},
        }
    budget = max(1024, budget)
    if profile.thinking is not None:  # the limit of an unknown model is not known: its budget stays as it is
        budget = min(budget, profile.max_output - 1024)
        max_tokens = min(profile.max_output, max(max_tokens, budget + 4096))
    return {
        "max_tokens": max(max_tokens, budget + 1024),
        "thinking": {"type": "enabled", "budget_tokens": budget},
    }


def _messages(messages: Iterable[Message], *, native: bool) -> list[dict[str, Any]]:
    """Wire messages. Neighbours with the same role become one, so that all results of a round are in one message.
    `native`: with the passages of results as blocks that the API cites."""
    wire: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            role, blocks = "assistant", [_block(block) for block in message.content if not isinstance(block, Plan)]
        elif isinstance(message, ToolResultMessage):
            role, blocks = "user", [_tool_result(message, native=native)]
        else:
            role, blocks = "user", [_part(part) for part in message.content]
        if wire and wire[-1]["role"] == role:
            wire[-1]["content"] += blocks
        else:
            wire.append({"role": role, "content": blocks})
    wire[-1]["content"][-1] |= _CACHE_CONTROL
    return wire


def _block(block: Text | ToolCall | Thinking | Foreign) -> dict[str, Any]:
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


def _tool_result(message: ToolResultMessage, *, native: bool) -> dict[str, Any]:
    content: list[dict[str, Any]] | str = message.text or "(no output)"
    if not message.is_error:  # an error may hold text only: the API refuses other blocks in it
        passages = tuple(evidence_in(message.artifact or {})) if native else ()
        blocks = [block for part in message.content for block in _result_blocks(part, passages)]
        kinds = {block["type"] for block in blocks}
        if "search_result" in kinds:
            content = [*blocks, {"type": "text", "text": CITATIONS_NOTE}]
        elif "image" in kinds:
            content = blocks
    result = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": content}
    return result | {"is_error": True} if message.is_error else result


def _result_blocks(part: Part, passages: tuple[EvidencePassage, ...]) -> list[dict[str, Any]]:
    return cut_passages(part.text, passages) if isinstance(part, Text) and passages else [_part(part)]


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
    citation: Any = None
    partial_json: str | None = None
    stop_reason: str | None = None
    stop_details: dict[str, Any] | None = None


class _Event(Struct):
    """Any event of the stream. Other types are ignored."""

    type: str = ""
    index: int = 0
    delta: _AnthropicDelta | None = None
    content_block: dict[str, Any] | None = None
    message: _AnthropicStart | None = None
    usage: _AnthropicUsage | None = None
    error: Any = None


def response_parser(
    accumulator: Accumulator,
    endpoint: Endpoint,
    tools: tuple[ToolSpec, ...] = (),  # noqa: ARG001 - this API never sends calls as text
) -> "AnthropicParser":
    return AnthropicParser(accumulator, endpoint)


class AnthropicParser:
    """Payloads of one response, in order. `is_complete` is true once the answer has ended or failed."""

    _decode = Decoder(_Event)

    def __init__(self, accumulator: Accumulator, endpoint: Endpoint) -> None:
        self.is_complete = False
        self._accumulator = accumulator
        self._endpoint = endpoint
        self._indexes: dict[int, int] = {}
        self._texts: dict[int, ReceivedText] = {}
        """The texts that have not ended, by their position."""
        # Some gateways send the whole input of a call with its start, and no deltas.
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
                failure = errors.from_event(self._endpoint, event.error)
                return chain(self.flush(), self._accumulator.fail("error", failure))
            case _:
                pass  # pings, and types that do not exist yet
        return ()

    def finish(self) -> Iterable[StreamEvent]:
        """The body ended without `message_stop`: the answer is incomplete, whatever it looks like."""
        failure = errors.stream_truncated(self._endpoint)
        return chain(self.flush(), self._accumulator.fail("error", failure, self._stop_reason))

    def flush(self) -> Iterator[StreamEvent]:
        for position, text in self._texts.items():
            if event := self._accumulator.append(position, text.flush()):
                yield event

    def _open(self, index: int, block: dict[str, Any]) -> Iterator[StreamEvent]:
        if block.get("type") == "text":
            yield from self._open_text(index, block)
            return
        yield from self._end_stopped_texts()
        match block.get("type"):
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

    def _open_text(self, index: int, block: dict[str, Any]) -> Iterator[StreamEvent]:
        """Begins a text, or goes on with the one of the block before."""
        text = next((text for text in self._texts.values() if text.is_stopped), None)
        if text is None:
            start = self._accumulator.open_text()
            text = self._texts[start.index] = ReceivedText(start.index)
            yield start
        self._indexes[index] = text.index
        text.start_block(block.get("citations"))
        if event := self._accumulator.append(text.index, text.feed(str(block.get("text") or ""))):
            yield event

    def _end_stopped_texts(self) -> Iterator[StreamEvent]:
        for position in [position for position, text in self._texts.items() if text.is_stopped]:
            if event := self._accumulator.append(position, self._texts.pop(position).flush()):
                yield event
            if end := self._accumulator.close(position):
                yield end

    def _append(self, index: int, delta: _AnthropicDelta) -> tuple[StreamEvent, ...]:
        position = self._indexes.get(index)
        if position is None:
            return ()
        if delta.signature:
            self._accumulator.add_signature(position, delta.signature)
        if delta.partial_json:
            self._pending_inputs.pop(position, None)
        piece = delta.text or delta.partial_json or delta.thinking or ""
        if text := self._texts.get(position):
            if delta.citation is not None:
                text.cite(delta.citation)
            piece = text.feed(piece)
        event = self._accumulator.append(position, piece)
        return () if event is None else (event,)

    def _close(self, index: int) -> Iterator[StreamEvent]:
        position = self._indexes.get(index)
        if position is None:
            return
        if text := self._texts.get(position):
            if grown := self._accumulator.append(position, text.stop_block()):
                yield grown
            return
        if grown := self._accumulator.append(position, self._pending_inputs.pop(position, "")):
            yield grown
        if end := self._accumulator.close(position):
            yield end

    def _final_events(self) -> Iterable[StreamEvent]:
        raw = self._stop_reason
        if raw in _REFUSALS:
            cause = self._stop_details.get("explanation") or self._stop_details.get("category")
            return chain(self.flush(), self._accumulator.fail("error", errors.refusal(self._endpoint, cause), raw))
        return chain(self.flush(), self._accumulator.finish(_STOP_REASONS.get(raw or "", "stop"), raw))

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
