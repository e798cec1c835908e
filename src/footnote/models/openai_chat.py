"""OpenAI-compatible chat completions: OpenAI, Ollama, vLLM, llama.cpp, OpenRouter and the like.

The servers agree on the outline and differ in the details; their known differences are handled here.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct, field

from footnote.models import errors
from footnote.models.accumulate import Accumulator
from footnote.models.base import Context, Endpoint, Options
from footnote.models.call_notations import CallNotations, WrittenCall
from footnote.models.profiles import Profile, effort_of
from footnote.models.reasoning import (
    InlineThinking,
    ReasoningRecords,
    ThinkingDeduplicator,
    omits_opening_tag,
    record_text,
    thinking_in_parts,
)
from footnote.models.repair import HistoryRules, repair
from footnote.models.wire import Decoder, dumps
from footnote.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    Part,
    Text,
    Thinking,
    ToolResultMessage,
    Usage,
)
from footnote.protocol.stream import StreamEvent
from footnote.protocol.tools import ToolSpec

PATH = "/chat/completions"
MODELS_PATH = "/models"

_STOP_REASONS: dict[str, Literal["stop", "length", "toolUse"]] = {
    "stop": "stop",
    "end": "stop",
    "length": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
}
_REFUSALS = frozenset({"content_filter", "sensitive", "refusal"})


# Requests ------------------------------------------------------------------------------------------------


def request_headers(endpoint: Endpoint) -> dict[str, str]:
    headers = {"content-type": "application/json"}
    return headers | {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else headers


def request_body(model_id: str, context: Context, options: Options, profile: Profile) -> dict[str, Any]:
    provider, _, model = model_id.partition("/")
    rules = HistoryRules(model_id, profile.images, max_id_length=40, thinking=False)
    system = [{"role": "system", "content": context.system}] if context.system.strip() else []
    request: dict[str, Any] = {
        "model": model,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": system + _messages(repair(context.messages, rules)),
    }
    if options.max_tokens:
        # OpenAI's own models refuse the old name; most other servers know only that one.
        name = "max_completion_tokens" if provider == "openai" else "max_tokens"
        request[name] = min(options.max_tokens, profile.max_output)
    if options.temperature is not None and profile.thinking in (None, "none"):
        request["temperature"] = options.temperature
    if options.thinking_budget and profile.thinking == "effort":
        request["reasoning_effort"] = effort_of(options.thinking_budget)
    if context.tools:
        request["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in context.tools
        ]
    return request


def _messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Wire messages. User messages side by side become one: some chat templates insist on alternation."""
    wire: list[dict[str, Any]] = []
    images: list[Part] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            text = message.text or "(see the image below)"
            wire.append({"role": "tool", "tool_call_id": message.tool_call_id, "content": text})
            # A tool message may hold text only: its images follow after all results.
            images += [part for part in message.content if isinstance(part, Image)]
            continue
        if images:
            _append_user_parts(wire, images)
            images = []
        if isinstance(message, AssistantMessage):
            wire.append(_assistant(message))
        else:
            _append_user_parts(wire, message.content)
    if images:
        _append_user_parts(wire, images)
    return wire


def _append_user_parts(wire: list[dict[str, Any]], parts: Iterable[Part]) -> None:
    blocks = [_part(part) for part in parts]
    if wire and wire[-1]["role"] == "user":
        content = wire[-1]["content"]
        earlier = [{"type": "text", "text": content}] if isinstance(content, str) else content
        wire[-1]["content"] = earlier + blocks
    elif len(blocks) == 1 and blocks[0]["type"] == "text":
        wire.append({"role": "user", "content": blocks[0]["text"]})
    else:
        wire.append({"role": "user", "content": blocks})


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    url = f"data:{part.media_type};base64,{b64encode(part.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _assistant(message: AssistantMessage) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": dumps(call.arguments).decode()},
                **(call.extra or {}),
            }
            for call in message.calls
        ]
    details = [detail for block in message.content if isinstance(block, Thinking) for detail in block.details]
    if details:
        wire["reasoning_details"] = details
    return wire


# Responses -----------------------------------------------------------------------------------------------


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class _CallDelta(Struct):
    """The last four are where servers put the signature of the thought that led to a call: Google's own endpoint in
    `extra_content`, proxies before it in any of the others. A model that thinks refuses a call of its own without
    it."""

    index: int | None = None
    id: str | None = None
    function: _Function | None = None
    extra_content: Any = None
    thought_signature: Any = None
    thought_signature_of_gemini: Any = field(default=None, name="thoughtSignature")
    provider_specific_fields: Any = None

    @property
    def extra(self) -> dict[str, Any]:
        """Those fields by their names on the wire."""
        fields = {
            "extra_content": self.extra_content,
            "thought_signature": self.thought_signature,
            "thoughtSignature": self.thought_signature_of_gemini,
            "provider_specific_fields": self.provider_specific_fields,
        }
        return {name: value for name, value in fields.items() if value}


class _ChatDelta(Struct):
    content: Any = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    thinking: Any = None
    reasoning_details: list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_CallDelta] | None = None
    function_call: _Function | None = None


class _Choice(Struct):
    delta: _ChatDelta | None = None
    finish_reason: str | None = None


class _ChatUsage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: dict[str, Any] | None = None
    completion_tokens_details: dict[str, Any] | None = None


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    usage: _ChatUsage | None = None
    error: Any = None
    message: Any = None
    detail: Any = None


def response_parser(accumulator: Accumulator, endpoint: Endpoint, tools: tuple[ToolSpec, ...] = ()) -> "ChatParser":
    return ChatParser(accumulator, endpoint, tools)


class ChatParser:
    """Payloads of one response, in order. `is_complete` is true once the answer has ended or failed."""

    _decode = Decoder(_Chunk)

    def __init__(self, accumulator: Accumulator, endpoint: Endpoint, tools: tuple[ToolSpec, ...]) -> None:
        self.is_complete = False
        self._accumulator = accumulator
        self._endpoint = endpoint
        self._notations = CallNotations(tools)
        self._text: int | None = None
        self._thinking: int | None = None
        # A hosted API sends thinking in fields of their own.
        self._inline = InlineThinking(may_lack_opening=endpoint.is_self_hosted and omits_opening_tag(accumulator.model))
        self._deduplicator = ThinkingDeduplicator()
        self._records = ReasoningRecords()
        self._calls: dict[int, tuple[str, int]] = {}
        self._last_call: int | None = None
        self._finish_reason: str | None = None
        self._refusal: list[str] = []

    def parse(self, payload: bytes) -> Iterable[StreamEvent]:
        if payload.strip() == b"[DONE]":
            self.is_complete = True
            return self._end_events()
        chunk = self._decode(payload)
        if chunk.usage is not None:
            self._update_usage(chunk.usage)
        # An error may come with choices: OpenRouter sends both, with the finish reason `error`.
        if error := chunk.error or (not chunk.choices and chunk.usage is None and (chunk.message or chunk.detail)):
            self.is_complete = True
            return chain(self.flush(), self._accumulator.fail("error", errors.from_event(self._endpoint, error)))
        if not chunk.choices:
            return ()
        choice = chunk.choices[0]
        self._finish_reason = choice.finish_reason or self._finish_reason
        return () if choice.delta is None else self._append(choice.delta)

    def finish(self) -> Iterable[StreamEvent]:
        """The body ended without `[DONE]`: the answer is complete all the same if a finish reason was given."""
        if self._finish_reason is not None:
            return self._end_events()
        return chain(self.flush(), self._accumulator.fail("error", errors.stream_truncated(self._endpoint)))

    def flush(self) -> Iterator[StreamEvent]:
        """Text that was held back because it could have become a thinking tag or a tool call."""
        yield from self._emit_parts(self._inline.flush())
        yield from self._emit_decoded(self._notations.flush())

    def _append(self, delta: _ChatDelta) -> Iterable[StreamEvent]:
        if (
            self._text is not None
            and type(delta.content) is str
            and _is_only_text(delta)
            and self._notations.is_plain(delta.content)
        ):
            # The fast path, for nearly every chunk of an answer.
            event = self._accumulator.append(self._text, delta.content)
            return () if event is None else (event,)
        return self._emit_delta(delta)

    def _emit_delta(self, delta: _ChatDelta) -> Iterator[StreamEvent]:
        details = delta.reasoning_details or []
        thought = self._thinking_text(delta, details)
        if thought or details:
            yield from self.flush()
            yield from self._emit_thinking(thought, details)
        if delta.content and (piece := _content_text(delta.content)):
            yield from self._emit_content(piece)
        if delta.refusal:
            self._refusal.append(delta.refusal)
        for call in delta.tool_calls or ():
            yield from self._emit_call(call)
        if delta.function_call is not None:  # the older form, which has one call
            yield from self._emit_call(_CallDelta(index=0, function=delta.function_call))

    def _thinking_text(self, delta: _ChatDelta, details: list[dict[str, Any]]) -> str:
        """The new thinking of a chunk, from any of the fields that servers use, or else from records."""
        field_text = delta.reasoning_content or delta.reasoning or delta.thinking or thinking_in_parts(delta.content)
        return self._deduplicator.new_text(field_text if isinstance(field_text, str) else "", record_text(details))

    def _emit_thinking(self, piece: str, details: list[dict[str, Any]]) -> Iterator[StreamEvent]:
        if self._thinking is None:
            start = self._accumulator.open_thinking()
            self._thinking = start.index
            self._records = ReasoningRecords()
            self._accumulator.set_details(self._thinking, self._records.join)
            yield start
        self._records.add(details)
        if event := self._accumulator.append(self._thinking, piece):
            yield event

    def _emit_content(self, piece: str) -> Iterator[StreamEvent]:
        return self._emit_text(piece) if self._inline.is_over else self._emit_parts(self._inline.feed(piece))

    def _emit_parts(self, parts: Iterable[tuple[bool, str]]) -> Iterator[StreamEvent]:
        for is_thinking, piece in parts:
            yield from self._emit_thinking(piece, []) if is_thinking else self._emit_text(piece)

    def _emit_text(self, piece: str) -> Iterator[StreamEvent]:
        return self._emit_decoded(self._notations.feed(piece))

    def _emit_decoded(self, decoded: Iterable[str | WrittenCall]) -> Iterator[StreamEvent]:
        for part in decoded:
            yield from self._emit_plain_text(part) if isinstance(part, str) else self._emit_written_call(part)

    def _emit_written_call(self, call: WrittenCall) -> Iterator[StreamEvent]:
        """A call that the model wrote into its text, and the server did not parse."""
        yield from self._end_thinking()
        yield from self._end_text()
        start = self._accumulator.open_call("", call.name)
        yield start
        if event := self._accumulator.append(start.index, dumps(call.arguments).decode()):
            yield event

    def _emit_plain_text(self, piece: str) -> Iterator[StreamEvent]:
        if self._text is None:
            yield from self._end_thinking()
            start = self._accumulator.open_text()
            self._text = start.index
            yield start
        if event := self._accumulator.append(self._text, piece):
            yield event

    def _emit_call(self, delta: _CallDelta) -> Iterator[StreamEvent]:
        """A piece of a call. Servers number calls, or only name them, or number all of them 0."""
        function = delta.function or _Function()
        key = delta.index if delta.index is not None else self._call_key(delta)
        known = self._calls.get(key)
        if known is not None and delta.id and function.name and delta.id != known[0]:
            known = None  # a new call that takes over the number of another
        if known is None:
            yield from self.flush()
            yield from self._end_thinking()
            yield from self._end_text()
            start = self._accumulator.open_call(delta.id or "", function.name or "")
            self._calls[key] = known = (delta.id or "", start.index)
            yield start
        elif function.name:
            self._accumulator.set_name(known[1], function.name)
        self._last_call = key
        if extra := delta.extra:
            self._accumulator.set_extra(known[1], extra)
        piece = function.arguments
        if piece and not isinstance(piece, str):
            piece = msgspec.json.encode(piece).decode()
        if piece and (event := self._accumulator.append(known[1], piece)):
            yield event

    def _call_key(self, delta: _CallDelta) -> int:
        if delta.id is None and self._last_call is not None:
            return self._last_call
        for key, (call_id, _) in self._calls.items():
            if call_id == delta.id:
                return key
        return max(self._calls, default=-1) + 1

    def _end_thinking(self) -> Iterator[StreamEvent]:
        if self._thinking is not None and (event := self._accumulator.close(self._thinking)):
            yield event
        self._thinking = None

    def _end_text(self) -> Iterator[StreamEvent]:
        if self._text is not None and (event := self._accumulator.close(self._text)):
            yield event
        self._text = None

    def _end_events(self) -> Iterable[StreamEvent]:
        return chain(self.flush(), self._final_events())

    def _final_events(self) -> Iterator[StreamEvent]:
        raw = self._finish_reason
        if raw == "error":
            return self._accumulator.fail("error", errors.from_event(self._endpoint, None), raw)
        if raw in _REFUSALS or self._refusal:
            cause = "".join(self._refusal) or None
            return self._accumulator.fail("error", errors.refusal(self._endpoint, cause), raw)
        return self._accumulator.finish(_STOP_REASONS.get(raw or "", "stop"), raw)

    def _update_usage(self, usage: _ChatUsage) -> None:
        """Later numbers replace earlier ones. In this API the tokens of the prompt include the cached ones."""
        known = self._accumulator.usage
        cached = _detail_count(usage.prompt_tokens_details, "cached_tokens", known.cache_read)
        written = _detail_count(usage.prompt_tokens_details, "cache_write_tokens", known.cache_write)
        prompt = known.context if usage.prompt_tokens is None else usage.prompt_tokens
        self._accumulator.usage = Usage(
            input=max(0, prompt - cached - written),
            output=known.output if usage.completion_tokens is None else usage.completion_tokens,
            cache_read=cached,
            cache_write=written,
            reasoning=_detail_count(usage.completion_tokens_details, "reasoning_tokens", known.reasoning),
        )


def _is_only_text(delta: _ChatDelta) -> bool:
    return not (
        delta.tool_calls
        or delta.function_call
        or delta.reasoning
        or delta.reasoning_content
        or delta.reasoning_details
        or delta.thinking
        or delta.refusal
    )


def _detail_count(details: dict[str, Any] | None, name: str, known: int) -> int:
    value = (details or {}).get(name)
    return value if isinstance(value, int) else known


def _content_text(content: Any) -> str:
    """Text of a delta; a few servers send parts, as in a request."""
    if isinstance(content, str):
        return content
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    return "".join(str(cast("dict[str, Any]", part).get("text") or "") for part in parts if isinstance(part, dict))
