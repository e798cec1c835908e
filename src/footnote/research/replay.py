"""The blocks of stored messages, sent again to followers that were told to drop them."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from footnote.agent.turn import Indexes, Step
from footnote.agent.turn_state import TurnState
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    CitationsGrowth,
    ContentBlock,
    Event,
    TextBlock,
    TextGrowth,
    ThinkingBlock,
    ToolResultBlock,
    ToolStatus,
    ToolUseBlock,
    TurnStopReason,
)
from footnote.protocol.messages import (
    AssistantMessage,
    Block,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
    user_message,
)
from footnote.research.reader import of_item
from footnote.text.boundary import unwrap_web_text


def replayed_blocks(messages: Sequence[Message], indexes: Indexes, parent: str) -> Iterator[Event]:
    """The events of the messages of an item, each text in one piece."""
    for message in messages:
        if isinstance(message, AssistantMessage):
            for block in message.content:
                yield from _block_events(block, indexes, parent)
        elif isinstance(message, ToolResultMessage):
            status = "error" if message.is_error else "done"
            yield ToolStatus(message.tool_call_id, "running", parent)
            yield ToolStatus(message.tool_call_id, status, parent)
            yield from _whole(_result_block(message), indexes, parent)


def closed_items(run: TurnState, items: Mapping[str, Sequence[Message]], reason: TurnStopReason) -> Iterator[Step]:
    """Shows the work on items again, and closes what is open in it: for a run that another process stopped in the
    middle of it, and that ends before it goes on."""
    for item_id, messages in items.items():
        yield from replayed_blocks(messages, run.indexes, item_id)
        resumed = run.turn.resumed and replace(run.turn.resumed, blocks=0, files=(), usage=Usage())
        turn = replace(run.turn, messages=(user_message(""), *messages), resumed=resumed)
        state = run.beside(turn)
        run.record_usage(state.usage, state.cost)
        yield from (own for step in state.close(reason) if (own := of_item(step, item_id)) is not None)


def _block_events(block: Block, indexes: Indexes, parent: str) -> Iterator[Event]:
    match block:
        case Text():
            index = next(indexes)
            yield BlockStart(index, TextBlock(), parent)
            yield BlockDelta(index, TextGrowth(block.text), parent)
            if block.citations:
                yield BlockDelta(index, CitationsGrowth(block.citations), parent)
            yield BlockStop(index, parent)
        case Thinking():
            yield from _whole(ThinkingBlock(block.text), indexes, parent)
        case ToolCall():
            title = block.title or block.name
            yield from _whole(ToolUseBlock(block.id, block.name, title, block.arguments), indexes, parent)
            yield ToolStatus(block.id, "pending", parent)
        case _:
            pass


def _whole(block: ContentBlock, indexes: Indexes, parent: str) -> Iterator[Event]:
    index = next(indexes)
    yield BlockStart(index, block, parent)
    yield BlockStop(index, parent)


def _result_block(message: ToolResultMessage) -> ToolResultBlock:
    return ToolResultBlock(
        message.tool_call_id,
        message.tool_name,
        "error" if message.is_error else "success",
        unwrap_web_text(message.text),
        message.artifact,
        message.images or UNSET,
    )
