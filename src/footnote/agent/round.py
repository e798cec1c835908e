"""One round's response: the twelve events of a model into the events of the turn."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing

from msgspec.structs import replace

from footnote.cancel import CancelScope
from footnote.evidence.check import check_citations, may_cite
from footnote.evidence.sources import Sources
from footnote.models.base import Context, Model, Options
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    CitationsGrowth,
    Event,
    TextBlock,
    TextGrowth,
    ThinkingBlock,
    ThinkingGrowth,
    ToolProgress,
    ToolStatus,
    ToolUseBlock,
)
from footnote.protocol.messages import AssistantMessage, Block, Text, ToolCall
from footnote.protocol.sources import Citation
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

PROGRESS_STEP_CHARS = 2_048
"""A call whose arguments grow by this many characters says so: a report of some pages takes a minute to write."""
LONG_TEXT_CHARS = 100_000
"""Characters in which even looking for a footnote takes some milliseconds."""


def _check(text: str, sources: Sources) -> tuple[Citation, ...]:
    return check_citations(text, sources) if may_cite(text) else ()


class _CallArguments:
    """A call whose arguments are still being written: how much there is, and how much of it was told."""

    __slots__ = ("id", "length", "reported", "title")

    def __init__(self, call_id: str, title: str) -> None:
        self.id = call_id
        self.title = title
        self.length = 0
        self.reported = 0


class Round:
    """Asks the model once. After `events` is exhausted, `message` is what it said."""

    message: AssistantMessage

    def __init__(self, model: Model, numbering: Iterator[int], title: Callable[[str], str], sources: Sources) -> None:
        self._model = model
        self._numbering = numbering
        self._title = title
        self._sources = sources
        self._citations: dict[int, tuple[Citation, ...]] = {}
        self._indexes: dict[int, int] = {}
        self._writing_calls: dict[int, _CallArguments] = {}

    @property
    def refusal(self) -> str | None:
        """Why the provider refused the request before it said anything, in a word that the loop can act on."""
        failure = self.message.failure
        return failure.type if failure is not None and not self.message.content else None

    async def events(self, context: Context, options: Options, cancel: CancelScope) -> AsyncGenerator[Event, None]:
        indexes = self._indexes
        async with aclosing(self._model.stream(context, options, cancel)) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    yield BlockDelta(indexes[event.index], TextGrowth(event.delta))
                elif isinstance(event, ThinkingDelta):
                    yield BlockDelta(indexes[event.index], ThinkingGrowth(event.delta))
                else:
                    if isinstance(event, TextEnd) and (citations := await self._check_citations(event)):
                        yield BlockDelta(indexes[event.index], CitationsGrowth(citations))
                    for step in self._convert_event(event):
                        yield step

    async def _check_citations(self, event: TextEnd) -> tuple[Citation, ...]:
        """How the footnotes of a finished text rest on what was read. Beside the event loop: pages may be long."""
        if len(event.content) < LONG_TEXT_CHARS and not may_cite(event.content):
            return ()
        citations = await asyncio.to_thread(_check, event.content, self._sources)
        if citations:
            self._citations[event.index] = citations
        return citations

    def _convert_event(self, event: StreamEvent) -> Iterator[Event]:
        match event:
            case TextStart():
                yield BlockStart(self._open_block(event.index), TextBlock())
            case ThinkingStart():
                yield BlockStart(self._open_block(event.index), ThinkingBlock())
            case TextEnd() | ThinkingEnd():
                yield BlockStop(self._indexes[event.index])
            case ToolCallStart():
                self._writing_calls[event.index] = _CallArguments(event.id, self._title(event.name))
            case ToolCallDelta():
                yield from self._report_progress(event)
            case ToolCallEnd():
                call = event.call
                index = self._open_block(event.index)
                yield BlockStart(index, ToolUseBlock(call.id, call.name, self._title(call.name), call.arguments))
                yield BlockStop(index)
                yield ToolStatus(call.id, "pending")
            case Done() | Failed():
                self.message = self._as_streamed(event.message)
            case _:
                pass

    def _as_streamed(self, message: AssistantMessage) -> AssistantMessage:
        """The message to be kept, so that it can be shown again just as it was: its blocks in the order in which they
        were told, with the titles of the calls and with what was said of the footnotes."""
        shown: list[tuple[int, Block]] = []
        told = -1
        for index, block in enumerate(message.content):
            told = self._indexes.get(index, told)  # a block that is not told stays behind the one before it
            if isinstance(block, Text) and index in self._citations:
                shown.append((told, replace(block, citations=self._citations[index])))
            elif isinstance(block, ToolCall):
                shown.append((told, replace(block, title=self._title(block.name))))
            else:
                shown.append((told, block))
        return replace(message, content=tuple(block for _, block in sorted(shown, key=lambda entry: entry[0])))

    def _open_block(self, stream_index: int) -> int:
        index = self._indexes[stream_index] = next(self._numbering)
        return index

    def _report_progress(self, event: ToolCallDelta) -> Iterator[Event]:
        call = self._writing_calls[event.index]
        call.length += len(event.delta)
        if call.length - call.reported >= PROGRESS_STEP_CHARS:
            call.reported = call.length
            yield ToolProgress(call.id, "writing", call.length, None, call.title)
