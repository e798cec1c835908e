"""One round's response: the twelve events of a model into the events of the turn."""

from collections.abc import AsyncIterator, Callable, Iterator

from footnote.cancel import CancelScope
from footnote.models.base import Context, Model, Options
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    Event,
    TextBlock,
    TextGrowth,
    ThinkingBlock,
    ThinkingGrowth,
    ToolProgress,
    ToolStatus,
    ToolUseBlock,
)
from footnote.protocol.messages import AssistantMessage
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

WRITING_STEP = 2_048
"""A call whose arguments grow by this many characters says so: a report of some pages takes a minute to write."""


class Numbering:
    """Gives each block of the turn its index, over all rounds."""

    __slots__ = ("next",)

    def __init__(self, first: int) -> None:
        self.next = first

    def take(self) -> int:
        index = self.next
        self.next += 1
        return index


class Round:
    """Asks the model once. After `events` is exhausted, `message` is what it said."""

    message: AssistantMessage

    def __init__(self, model: Model, numbering: Numbering, title: Callable[[str], str]) -> None:
        self._model = model
        self._numbering = numbering
        self._title = title
        self._indexes: dict[int, int] = {}
        self._writing: dict[int, tuple[str, str, int, int]] = {}

    @property
    def refusal(self) -> str | None:
        """Why the provider refused the request before it said anything, in a word that the loop can act on."""
        failure = self.message.failure
        return failure.type if failure is not None and not self.message.content else None

    async def events(self, context: Context, options: Options, cancel: CancelScope) -> AsyncIterator[Event]:
        indexes = self._indexes
        async for event in self._model.stream(context, options, cancel):
            if isinstance(event, TextDelta):
                yield BlockDelta(indexes[event.index], TextGrowth(event.delta))
            elif isinstance(event, ThinkingDelta):
                yield BlockDelta(indexes[event.index], ThinkingGrowth(event.delta))
            else:
                for step in self._turn_event(event):
                    yield step

    def _turn_event(self, event: StreamEvent) -> Iterator[Event]:
        match event:
            case TextStart():
                yield BlockStart(self._open(event.index), TextBlock())
            case ThinkingStart():
                yield BlockStart(self._open(event.index), ThinkingBlock())
            case TextEnd() | ThinkingEnd():
                yield BlockStop(self._indexes[event.index])
            case ToolCallStart():
                self._writing[event.index] = (event.id, self._title(event.name), 0, 0)
            case ToolCallDelta():
                yield from self._grow_call(event)
            case ToolCallEnd():
                call = event.call
                index = self._numbering.take()
                yield BlockStart(index, ToolUseBlock(call.id, call.name, self._title(call.name), call.arguments))
                yield BlockStop(index)
                yield ToolStatus(call.id, "pending")
            case Done() | Failed():
                self.message = event.message
            case _:
                pass

    def _open(self, stream_index: int) -> int:
        index = self._indexes[stream_index] = self._numbering.take()
        return index

    def _grow_call(self, event: ToolCallDelta) -> Iterator[Event]:
        call_id, title, length, said = self._writing[event.index]
        length += len(event.delta)
        if length - said >= WRITING_STEP:
            said = length
            yield ToolProgress(call_id, "writing", length, None, title)
        self._writing[event.index] = (call_id, title, length, said)
