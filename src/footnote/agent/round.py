"""The response of one round: converts the twelve stream events of a model into the events of the turn."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing

from msgspec.structs import replace

from footnote.cancel import CancelScope
from footnote.evidence.claims import may_cite
from footnote.evidence.pointers import PointerFilter, plain_footnotes
from footnote.evidence.second_look import SecondLook, SecondLookResult, needs_review
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
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
from footnote.protocol.sources import Citation, Pointer
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
"""Progress is reported each time the arguments of a call grow by this many characters: writing a report of some pages
takes a minute."""
LONG_TEXT_CHARS = 100_000
"""In a text of this length, even the search for a footnote takes some milliseconds."""


def _check(text: str, sources: Sources, pointers: tuple[Pointer, ...]) -> tuple[Citation, ...]:
    return check_citations(text, sources, pointers) if may_cite(text) else ()


class _ShownText:
    """A text that is being streamed, with plain footnotes in the place of pointers."""

    __slots__ = ("_filter", "_pieces")

    def __init__(self, sources: Sources) -> None:
        self._filter = PointerFilter(sources) if sources.has_evidence else None
        self._pieces: list[str] = []

    def feed(self, piece: str) -> str:
        """What can be shown of the text with this piece."""
        if self._filter is None:
            return piece
        return self._note(self._filter.feed(piece))

    def flush(self) -> str:
        return "" if self._filter is None else self._note(self._filter.flush())

    def _note(self, plain: str) -> str:
        if plain:
            self._pieces.append(plain)
        return plain

    def finish(self, whole: str) -> tuple[str, tuple[Pointer, ...]]:
        """The whole text as it was shown, and its pointers. `whole`: as the model wrote it."""
        return (whole, ()) if self._filter is None else ("".join(self._pieces), self._filter.pointers)


class _CallArguments:
    """A call whose arguments are still being streamed: their length, and the length that was last reported."""

    __slots__ = ("id", "length", "reported", "title")

    def __init__(self, call_id: str, title: str) -> None:
        self.id = call_id
        self.title = title
        self.length = 0
        self.reported = 0


class Round:
    """One request to the model. After `events` is exhausted, `message` is the response, and `review` the second look at
    its last text, if there was one."""

    message: AssistantMessage

    def __init__(
        self,
        model: Model,
        numbering: Iterator[int],
        title: Callable[[str], str],
        sources: Sources,
        second_look: SecondLook | None = None,
    ) -> None:
        self.review: SecondLookResult | None = None
        self._second_look = second_look
        self._held_text: int | None = None
        """The last text, by its index in the stream, if its block stays open for a second look."""
        self._model = model
        self._numbering = numbering
        self._title = title
        self._sources = sources
        self._open_texts: dict[int, _ShownText] = {}
        self._texts: dict[int, Text] = {}
        """The finished texts with their footnotes, by their index in the stream."""
        self._indexes: dict[int, int] = {}
        self._writing_calls: dict[int, _CallArguments] = {}
        self._calls: dict[int, ToolCall] = {}

    @property
    def refusal(self) -> str | None:
        """The error type of a request that the provider refused before any content, for the loop to act on."""
        failure = self.message.failure
        return failure.type if failure is not None and not self.message.content else None

    async def events(self, context: Context, options: Options, cancel: CancelScope) -> AsyncGenerator[Event, None]:
        indexes = self._indexes
        done: Done | None = None
        async with aclosing(self._model.stream(context, options, cancel)) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    if text := self._open_texts[event.index].feed(event.delta):
                        yield BlockDelta(indexes[event.index], TextGrowth(text))
                elif isinstance(event, ThinkingDelta):
                    yield BlockDelta(indexes[event.index], ThinkingGrowth(event.delta))
                elif isinstance(event, Done):
                    done = event
                else:
                    for step in await self._end_block(event):
                        yield step
                    for step in self._convert_event(event):
                        yield step
        if done is not None:
            # A second look may take a while, and the connection to the model is closed by now.
            for step in (*await self._review_held_text(done, cancel), *self._convert_event(done)):
                yield step

    async def _end_block(self, event: StreamEvent) -> list[BlockDelta | BlockStop]:
        """What has to be said of blocks that ended, before an event is converted."""
        stop = self._release_held_text()
        return [*stop, *await self._finish_text(event)] if isinstance(event, TextEnd) else stop

    async def _finish_text(self, event: TextEnd) -> list[BlockDelta]:
        """The end of a text, and the verdicts on its footnotes, from a thread: pages may be long."""
        open_text = self._open_texts.pop(event.index)
        rest = open_text.flush()
        text, pointers = open_text.finish(event.content)
        citations: tuple[Citation, ...] = ()
        if len(text) >= LONG_TEXT_CHARS or may_cite(text):
            citations = await asyncio.to_thread(_check, text, self._sources, pointers)
        self._texts[event.index] = Text(text, citations)
        if self._second_look is not None and needs_review(citations, self._sources):
            self._held_text = event.index
        growths = ([TextGrowth(rest)] if rest else []) + ([CitationsGrowth(citations)] if citations else [])
        return [BlockDelta(self._indexes[event.index], growth) for growth in growths]

    async def _review_held_text(self, done: Done, cancel: CancelScope) -> list[BlockDelta | BlockStop]:
        """The end of the text that ends the answer. Before it the verdicts after a second look, if they are others."""
        held = self._held_text
        if held is None or self._second_look is None or done.message.calls:
            return self._release_held_text()
        text = self._texts[held]
        self.review = await self._second_look.review(text.text, text.citations, self._sources, cancel)
        self._texts[held] = Text(text.text, self.review.citations)
        growth = BlockDelta(self._indexes[held], CitationsGrowth(self.review.citations))
        return [*([growth] if self.review.citations != text.citations else []), *self._release_held_text()]

    def _release_held_text(self) -> list[BlockDelta | BlockStop]:
        held, self._held_text = self._held_text, None
        return [] if held is None else [BlockStop(self._indexes[held])]

    def _convert_event(self, event: StreamEvent) -> Iterator[Event]:
        match event:
            case TextStart():
                self._open_texts[event.index] = _ShownText(self._sources)
                yield BlockStart(self._open_block(event.index), TextBlock())
            case ThinkingStart():
                yield BlockStart(self._open_block(event.index), ThinkingBlock())
            case TextEnd() | ThinkingEnd():
                if event.index != self._held_text:
                    yield BlockStop(self._indexes[event.index])
            case ToolCallStart():
                self._writing_calls[event.index] = _CallArguments(event.id, self._title(event.name))
            case ToolCallDelta():
                yield from self._report_progress(event)
            case ToolCallEnd():
                call = self._calls[event.index] = _with_plain_footnotes(event.call, self._sources)
                index = self._open_block(event.index)
                yield BlockStart(index, ToolUseBlock(call.id, call.name, self._title(call.name), call.arguments))
                yield BlockStop(index)
                yield ToolStatus(call.id, "pending")
            case Done() | Failed():
                self.message = self._as_streamed(event.message)
            case _:
                pass

    def _as_streamed(self, message: AssistantMessage) -> AssistantMessage:
        """The message to store, so that history shows it as it was streamed: its blocks in the order of their events,
        with the titles of the calls and the verdicts on the footnotes."""
        blocks: list[tuple[int, Block]] = []
        position = -1
        for index, block in enumerate(message.content):
            position = self._indexes.get(index, position)  # a block without events stays behind the one before it
            if isinstance(block, Text):
                blocks.append((position, self._texts.get(index, block)))
            elif isinstance(block, ToolCall):
                call = self._calls.get(index) or _with_plain_footnotes(block, self._sources)
                blocks.append((position, replace(call, title=self._title(call.name))))
            else:
                blocks.append((position, block))
        return replace(message, content=tuple(block for _, block in sorted(blocks, key=lambda entry: entry[0])))

    def _open_block(self, stream_index: int) -> int:
        index = self._indexes[stream_index] = next(self._numbering)
        return index

    def _report_progress(self, event: ToolCallDelta) -> Iterator[Event]:
        call = self._writing_calls[event.index]
        call.length += len(event.delta)
        if call.length - call.reported >= PROGRESS_STEP_CHARS:
            call.reported = call.length
            yield ToolProgress(call.id, "writing", call.length, None, call.title)


def _with_plain_footnotes(call: ToolCall, sources: Sources) -> ToolCall:
    """A call whose texts leave the product: a file, or an argument of somebody else's tool."""
    if not sources.has_evidence:
        return call
    texts = {
        name: plain_footnotes(value, sources)
        for name, value in call.arguments.items()
        if isinstance(value, str) and may_cite(value)
    }
    pointers = {name: text.pointers for name, text in texts.items() if text.pointers}
    arguments = call.arguments | {name: text.text for name, text in texts.items()}
    return replace(call, arguments=arguments, pointers=pointers) if texts else call
