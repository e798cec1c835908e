"""The response of one round: converts the twelve stream events of a model into the events of the turn."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing

from msgspec import Struct
from msgspec.structs import replace

from footnote.agent.look_ups import LookUps
from footnote.cancel import CancelScope
from footnote.evidence.claims import may_cite
from footnote.evidence.pointers import PointerFilter, plain_footnotes
from footnote.evidence.proof import judge_text
from footnote.evidence.second_look import SecondLookResult, needs_review
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
from footnote.protocol.messages import AssistantMessage, Block, Message, Text, ToolCall
from footnote.protocol.sources import Pointer
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
from footnote.tools.base import Abilities

PROGRESS_STEP_CHARS = 2_048
"""Progress is reported each time the arguments of a call grow by this many characters: writing a report of some pages
takes a minute."""
LONG_TEXT_CHARS = 100_000
"""In a text of this length, even the search for a footnote takes some milliseconds."""


def _check(text: str, sources: Sources, pointers: tuple[Pointer, ...]) -> Text:
    """A text between calls: only what it says with a footnote is judged."""
    return Text(text, check_citations(text, sources, pointers) if may_cite(text) else ())


def _check_answer(text: str, sources: Sources, pointers: tuple[Pointer, ...], messages: Sequence[Message]) -> Text:
    """The last text of a turn. If something was looked up, all of its statements are judged."""
    look_ups = LookUps.of(messages)
    if not look_ups.judges_everything(text, sources):
        return _check(text, sources, pointers)
    citations = judge_text(text, sources, pointers, uncited=True, given=look_ups.given)
    return Text(text, citations, is_wholly_judged=True)


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


class _EndedText(Struct, frozen=True):
    """A text whose block is still open: its index in the stream, the whole of it as it was shown, and its pointers."""

    index: int
    text: str
    pointers: tuple[Pointer, ...]


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
        abilities: Abilities,
        messages: Sequence[Message] | None = None,
    ) -> None:
        """`messages`: the session up to this response; None: its texts are no answers, and get no second look."""
        self.review: SecondLookResult | None = None
        self._second_look = None if messages is None else abilities.second_look
        self._model = model
        self._numbering = numbering
        self._title = title
        self._sources = abilities.sources
        self._messages = messages or ()
        self._ended_text: _EndedText | None = None
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
                    async for step in self._finish_text(cancel, is_answer=False):
                        yield step
                    for step in self._convert_event(event):
                        yield step
        if done is not None:
            # A second look may take a while, and the connection to the model is closed by now.
            async for step in self._finish_text(cancel, is_answer=not done.message.calls):
                yield step
            for step in self._convert_event(done):
                yield step

    def _end_text(self, event: TextEnd) -> Iterator[Event]:
        """The end of a text. Its block stays open until the next event tells whether it is the answer of the turn."""
        open_text = self._open_texts.pop(event.index)
        if rest := open_text.flush():
            yield BlockDelta(self._indexes[event.index], TextGrowth(rest))
        self._ended_text = _EndedText(event.index, *open_text.finish(event.content))

    async def _finish_text(self, cancel: CancelScope, *, is_answer: bool) -> AsyncGenerator[Event, None]:
        """The verdicts on the text that has ended, if one has, from a thread: pages may be long. If it is the answer,
        those after a second look follow, if they are others."""
        ended, self._ended_text = self._ended_text, None
        if ended is None:
            return
        text, pointers, index = ended.text, ended.pointers, self._indexes[ended.index]
        finished = Text(text)
        if is_answer:
            finished = await asyncio.to_thread(_check_answer, text, self._sources, pointers, self._messages)
        elif len(text) >= LONG_TEXT_CHARS or may_cite(text):
            finished = await asyncio.to_thread(_check, text, self._sources, pointers)
        self._texts[ended.index] = finished
        if finished.citations:
            yield BlockDelta(index, CitationsGrowth(finished.citations))
        if is_answer and self._second_look is not None and needs_review(finished.citations, self._sources):
            self.review = await self._second_look.review(text, finished.citations, self._sources, cancel)
            self._texts[ended.index] = replace(finished, citations=self.review.citations)
            if self.review.citations != finished.citations:
                yield BlockDelta(index, CitationsGrowth(self.review.citations))
        yield BlockStop(index)

    def _convert_event(self, event: StreamEvent) -> Iterator[Event]:
        match event:
            case TextStart():
                self._open_texts[event.index] = _ShownText(self._sources)
                yield BlockStart(self._open_block(event.index), TextBlock())
            case ThinkingStart():
                yield BlockStart(self._open_block(event.index), ThinkingBlock())
            case TextEnd():
                yield from self._end_text(event)
            case ThinkingEnd():
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
