"""The one fold: makes events of the deltas of a provider, and the message that they add up to.

An adapter reports what happened (`open_text`, `append`, `add_signature`, …); the fold returns the event and stores the
pieces. Pieces are joined once, at the end, so that the cost of a delta does not grow with the answer.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import jiter
from msgspec.structs import replace

from footnote.models.tool_names import ToolNames
from footnote.models.wire import MalformedJson, loads
from footnote.protocol import new_id
from footnote.protocol.messages import (
    AssistantMessage,
    Block,
    Failure,
    Foreign,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from footnote.protocol.stream import (
    Done,
    Failed,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)

MAX_DEPTH = 64
MAX_ARGUMENTS = 2_000_000
"""Limit for the characters of one call's arguments: several times what any model can write in one response. Longer ones
are stored but not parsed, because that would block the event loop."""
_JSON_SIGNS = re.compile(r'\\.|["{}\[\]]', re.DOTALL)


class _OpenText:
    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[str] = []


class _OpenThinking:
    __slots__ = ("details", "parts", "redacted", "signature")

    def __init__(self, redacted: str | None = None) -> None:
        self.parts: list[str] = []
        self.signature: list[str] = []
        self.redacted = redacted
        self.details: Callable[[], tuple[dict[str, Any], ...]] = tuple


class _OpenCall:
    """A call whose arguments are still arriving.

    The preview is parsed again only when the text has grown by an eighth, and once more after the last brace, so that
    the last preview is complete: linear in the length of the call, whatever the pieces are.
    """

    __slots__ = (
        "depth",
        "extra",
        "id",
        "in_string",
        "is_complete",
        "length",
        "name",
        "parsed_length",
        "parts",
        "preview",
        "scanned",
    )

    def __init__(self, call_id: str, name: str) -> None:
        self.id = call_id
        self.name = name
        self.extra: dict[str, Any] = {}
        self.parts: list[str] = []
        self.length = 0
        self.parsed_length = 0
        self.preview: dict[str, Any] = {}
        self.is_complete = False
        self.scanned = 0
        self.depth = 0
        self.in_string = False

    def append(self, delta: str) -> dict[str, Any]:
        self.parts.append(delta)
        self.length += len(delta)
        if self.length > MAX_ARGUMENTS:
            return self.preview
        ended = not self.is_complete and delta.rstrip().endswith("}") and self._check_complete()
        if ended or self.length * 8 > self.parsed_length * 9:
            self.parsed_length = self.length
            self.preview = _parse_preview("".join(self.parts), self.preview)
        return self.preview

    def _check_complete(self) -> bool:
        """Whether every brace is closed, by the characters since the last check. True once: what follows the end of an
        object is not part of it."""
        for found in _JSON_SIGNS.finditer("".join(self.parts[self.scanned :])):
            sign = found.group()
            if sign == '"':
                self.in_string = not self.in_string
            elif not self.in_string and len(sign) == 1:
                self.depth += 1 if sign in "{[" else -1
        self.scanned = len(self.parts)
        self.is_complete = self.depth == 0 and not self.in_string
        return self.is_complete


_OpenBlock = _OpenText | _OpenThinking | _OpenCall


class Accumulator:
    """State of one response. `used_ids` are the call ids of the conversation: some servers count from zero each
    time. `tool_names`: a call has the name of the tool, however the model spells it."""

    def __init__(self, model: str, used_ids: frozenset[str] = frozenset(), tool_names: ToolNames | None = None) -> None:
        self.model = model
        self._tool_names = tool_names or ToolNames()
        self.usage = Usage()
        self.message: AssistantMessage | None = None
        """The complete message, once the response has ended."""
        self._used_ids = set(used_ids)
        self._blocks: list[_OpenBlock | Block] = []

    # Opening ---------------------------------------------------------------------------------------------

    def open_text(self) -> TextStart:
        return TextStart(self._open(_OpenText()))

    def open_thinking(self, redacted: str | None = None) -> ThinkingStart:
        return ThinkingStart(self._open(_OpenThinking(redacted)))

    def open_call(self, call_id: str, name: str) -> ToolCallStart:
        if not call_id or call_id in self._used_ids:
            call_id = new_id("call")
        self._used_ids.add(call_id)
        name = self._tool_names.resolve(name)
        return ToolCallStart(self._open(_OpenCall(call_id, name)), call_id, name)

    def add_foreign(self, block: dict[str, Any]) -> int:
        return self._open(Foreign(block))

    def _open(self, block: _OpenBlock | Foreign) -> int:
        self._blocks.append(block)
        return len(self._blocks) - 1

    # Growing ---------------------------------------------------------------------------------------------

    def append(self, index: int, delta: str) -> StreamEvent | None:
        """Adds a piece to the block at `index`. No event for an empty piece or a closed block."""
        block = self._blocks[index]
        if not delta:
            return None
        if type(block) is _OpenText:
            block.parts.append(delta)
            return TextDelta(index, delta)
        if type(block) is _OpenThinking:
            block.parts.append(delta)
            return ThinkingDelta(index, delta)
        if type(block) is _OpenCall:
            return ToolCallDelta(index, delta, block.append(delta))
        return None

    def set_name(self, index: int, name: str) -> None:
        """The name of a call that was opened without one. It is set once: some servers repeat it in every piece."""
        block = self._blocks[index]
        if isinstance(block, _OpenCall) and not block.name:
            block.name = self._tool_names.resolve(name)

    def set_extra(self, index: int, extra: dict[str, Any]) -> None:
        """The provider's own fields beside a call, to be sent back unchanged."""
        block = self._blocks[index]
        if isinstance(block, _OpenCall):
            block.extra |= extra

    def add_signature(self, index: int, signature: str) -> None:
        """The provider's signature of a thinking block, which may arrive in pieces."""
        block = self._blocks[index]
        if isinstance(block, _OpenThinking):
            block.signature.append(signature)

    def set_details(self, index: int, details: Callable[[], tuple[dict[str, Any], ...]]) -> None:
        """A router's own reasoning records, to be sent back unchanged; called when the block is complete."""
        block = self._blocks[index]
        if isinstance(block, _OpenThinking):
            block.details = details

    # Closing ---------------------------------------------------------------------------------------------

    def close(self, index: int) -> StreamEvent | None:
        block = self._blocks[index]
        match block:
            case _OpenText():
                text = "".join(block.parts)
                self._blocks[index] = Text(text)
                return TextEnd(index, text)
            case _OpenThinking():
                text = "".join(block.parts)
                signature = "".join(block.signature) or None
                self._blocks[index] = Thinking(text, signature, block.redacted, block.details())
                return ThinkingEnd(index, text)
            case _OpenCall():
                call = _build_call(block.id, block.name, "".join(block.parts))
                call = replace(call, extra=block.extra) if block.extra else call
                self._blocks[index] = call
                return ToolCallEnd(index, call)
            case _:
                return None

    def _close_all(self) -> Iterator[StreamEvent]:
        for index in range(len(self._blocks)):
            if (event := self.close(index)) is not None:
                yield event

    def finish(self, reason: Literal["stop", "length", "toolUse"], raw: str | None) -> Iterator[StreamEvent]:
        """Ends the response. One with tool calls stops with `toolUse`, whatever reason the server gives."""
        yield from self._close_all()
        if reason == "stop" and any(isinstance(block, ToolCall) for block in self._blocks):
            reason = "toolUse"
        yield Done(reason, self._message(reason, raw, None))

    def fail(
        self, reason: Literal["error", "aborted"], failure: Failure, raw: str | None = None
    ) -> Iterator[StreamEvent]:
        """Ends the response with a failure: closes the open blocks and keeps all that was received."""
        yield from self._close_all()
        yield Failed(reason, self._message(reason, raw, failure))

    def _message(
        self,
        reason: StopReason,
        raw: str | None,
        failure: Failure | None,
    ) -> AssistantMessage:
        content = tuple(block for block in self._blocks if not isinstance(block, _OpenBlock))
        self.message = AssistantMessage(content, reason, self.model, self.usage, raw, failure)
        return self.message


def _parse_preview(text: str, last: dict[str, Any]) -> dict[str, Any]:
    try:
        value: Any = jiter.from_json(text.encode(), partial_mode="trailing-strings")
    except ValueError:
        return last
    return value if isinstance(value, dict) else last  # pyright: ignore[reportUnknownVariableType] - JSON


def _build_call(call_id: str, name: str, text: str) -> ToolCall:
    """Only a complete JSON object counts as arguments, or a JSON string that holds one; nothing is repaired, because it
    would be executed."""
    if len(text) > MAX_ARGUMENTS:
        return ToolCall(call_id, name, {}, invalid=text)
    try:
        value: Any = loads(text) if text.strip() else {}
        if isinstance(value, str):
            value = loads(value) if value.strip() else {}
    except (MalformedJson, UnicodeEncodeError):
        return ToolCall(call_id, name, {}, invalid=text)
    if not isinstance(value, dict) or _is_deeper(value, MAX_DEPTH):  # pyright: ignore[reportUnknownArgumentType] - JSON
        return ToolCall(call_id, name, {}, invalid=text)
    return ToolCall(call_id, name, value)  # pyright: ignore[reportUnknownArgumentType] - JSON


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether JSON is nested more than `levels` deep, as no arguments of a tool are. It goes level by level: recursion
    would cost a call for each of hundreds of thousands of values."""
    containers: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(levels):
        contents: list[Iterable[Any]] = [one.values() if isinstance(one, dict) else one for one in containers]
        containers = [item for items in contents for item in items if isinstance(item, _CONTAINERS)]
    return bool(containers)


_CONTAINERS = (dict, list)
