"""The events of a run as they were sent: read strictly, and folded into the blocks that a client shows."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from footnote.bundles.form import BundleDamaged
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    CitationsGrowth,
    ContentBlock,
    ErrorBody,
    ErrorEvent,
    Event,
    MessageDelta,
    MessageHead,
    MessageStart,
    MessageStop,
    RoundRestart,
    TextGrowth,
    ThinkingGrowth,
    ToolResultBlock,
    TurnStopReason,
)
from footnote.protocol.history import PastAssistantMessage, PastMessage, PastToolMessage
from footnote.web_search.boundary import unwrap_web_text

_FRAME = re.compile(rb"id: ([0-9]{1,18})\nevent: [a-z_]{1,40}\ndata: ([^\n]*)")
_event = msgspec.json.Decoder(Event)


def events_in(data: bytes, name: str) -> list[tuple[int, Event]]:
    """Each with its id, which only grow. `Damaged`: it is anything else."""
    *frames, rest = data.split(b"\n\n")
    if rest:
        raise BundleDamaged(name, "its last event is cut off")
    found: list[tuple[int, Event]] = []
    last = 0
    for frame in frames:
        parts = _FRAME.fullmatch(frame)
        number = int(parts[1]) if parts else 0
        if parts is None or number <= last:
            raise BundleDamaged(name, f"what stands after event {last} is no event")
        try:
            found.append((number, _event.decode(parts[2])))
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            raise BundleDamaged(name, f"event {number} is not what it should be") from None
        last = number
    return found


class Folded:
    """What a client has at the end: the blocks as plain values, and how the turn ended."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.head: MessageHead | None = None
        self.stop_reason: TurnStopReason | None = None
        self.error: ErrorBody | None = None
        self.has_ended = False
        self._blocks: dict[int, dict[str, Any]] = {}
        for event in events:
            self._take(event)

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return [self._blocks[index] for index in sorted(self._blocks)]

    def _take(self, event: Event) -> None:
        match event:
            case MessageStart(message):
                self.head = message
            case BlockStart(index, block):
                self._blocks[index] = plain(_without_marks(block))
            case BlockDelta(index, TextGrowth(text)):
                self._grow(index, "text", text)
            case BlockDelta(index, ThinkingGrowth(text)):
                self._grow(index, "thinking", text)
            case BlockDelta(index, CitationsGrowth(citations)):
                if index in self._blocks and citations:
                    self._blocks[index]["citations"] = plain(citations)
            case RoundRestart(from_index):
                self._blocks = {index: block for index, block in self._blocks.items() if index < from_index}
                self.stop_reason = self.error = None
                self.has_ended = False
            case MessageDelta(delta):
                self.stop_reason = delta.stop_reason
            case ErrorEvent(error):
                self.error = error
            case MessageStop():
                self.has_ended = True
            case _:
                pass

    def _grow(self, index: int, field: str, text: str) -> None:
        block = self._blocks.get(index)
        if block is not None and isinstance(block.get(field), str):
            block[field] += text


def _without_marks(block: ContentBlock) -> ContentBlock:
    """Events of earlier versions have the marks around text from the web, which the history does not show."""
    return replace(block, content=unwrap_web_text(block.content)) if isinstance(block, ToolResultBlock) else block


_OF_HISTORY = frozenset(("role", "tool_call_id", "turn_id", "timestamp"))
"""What the history says of a tool result, and its block does not."""


def blocks_of(messages: Iterable[PastMessage]) -> list[dict[str, Any]]:
    """The same blocks, from the messages of one turn as the history has them."""
    blocks: list[dict[str, Any]] = []
    files: list[Any] = []
    for message in messages:
        if isinstance(message, PastAssistantMessage):
            blocks += map(plain, message.content)
            files = plain(message.attachments)
        elif isinstance(message, PastToolMessage):
            result: Mapping[str, Any] = plain(message)
            shown = {name: value for name, value in result.items() if name not in _OF_HISTORY}
            blocks.append({"type": "tool_result", "tool_use_id": message.tool_call_id, **shown})
    if files:
        blocks.append({"type": "attachments", "files": files})
    return blocks


def plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
