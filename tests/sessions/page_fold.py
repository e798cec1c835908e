"""The blocks of a turn, folded from its events and from its history; both must be equal."""

from collections.abc import Iterable
from typing import Any

import msgspec

from footnote.protocol.events import (
    AttachmentsBlock,
    BlockDelta,
    BlockStart,
    CitationsGrowth,
    Event,
    MessageStart,
    TextGrowth,
    ThinkingGrowth,
)
from footnote.protocol.history import PastAssistantMessage, PastMessage, PastToolMessage

Blocks = list[dict[str, Any]]


def fold_events(events: Iterable[Event]) -> tuple[str, Blocks]:
    """The id of the message and its blocks, as a page that followed the events has them."""
    message_id = ""
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        match event:
            case MessageStart():
                message_id = event.message.id
            case BlockStart():
                blocks[event.index] = plain(event.content_block)
            case BlockDelta(index, TextGrowth(text)):
                blocks[index]["text"] += text
            case BlockDelta(index, ThinkingGrowth(text)):
                blocks[index]["thinking"] += text
            case BlockDelta(index, CitationsGrowth(citations)):
                blocks[index]["citations"] = plain(citations)
            case _:
                pass
    return message_id, [blocks[index] for index in sorted(blocks)]


def fold_history(messages: Iterable[PastMessage]) -> tuple[str, Blocks]:
    """The same from the messages of one turn without its question, as JSON, which is what the page receives."""
    message_id = ""
    blocks: Blocks = []
    files: Blocks = []
    for message in messages:
        entry = plain(message)
        if isinstance(message, PastAssistantMessage):
            message_id = message.id
            blocks += entry["content"]
            files = entry["attachments"]
        elif isinstance(message, PastToolMessage):
            for name in ("role", "turn_id", "timestamp"):  # fields of the message, which a block does not have
                entry.pop(name)
            blocks.append({"type": "tool_result", "tool_use_id": entry.pop("tool_call_id"), **entry})
    if files:
        blocks.append(plain(AttachmentsBlock(())) | {"files": files})
    return message_id, blocks


def plain(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
