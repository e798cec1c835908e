"""A run as the response of another API: its events are translated, and it ends with the request at the latest.

Clients of these APIs cannot resume a stream, so the run is cancelled when its client disconnects.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct, UnsetType
from starlette.types import Receive, Scope, Send

from footnote.protocol.errors import ConfigError, FootnoteError
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    CitationsGrowth,
    ErrorBody,
    ErrorEvent,
    Event,
    MessageDelta,
    MessageStart,
    RoundRestart,
    TextBlock,
    TextGrowth,
    ThinkingBlock,
    ThinkingGrowth,
    ToolResultBlock,
    TurnStopReason,
    TurnUsage,
)
from footnote.protocol.sessions import NewMessage, StartedRun
from footnote.protocol.sources import Source, sources_in
from footnote.protocol.sse import EventDecoder
from footnote.server.compat.requests import CompatQuestion, UnknownModel
from footnote.server.errors import error_response
from footnote.server.requests import wait_for_disconnect
from footnote.server.responses import PING_SECONDS, EventStream, Reply, json_response
from footnote.server.route import ErrorFormatter, RouteCall
from footnote.text.markdown import escape_inline

Kind: TypeAlias = Literal["text", "thinking"]
RESTARTED = ErrorBody("restarted", "The server had to restart the answer. Ask again.", retryable=True)
STOPPED = ErrorBody("aborted", "The run was stopped before its end.", retryable=False)
INTERRUPTED = ErrorBody("broke_off", "The run broke off before its end. Ask again.", retryable=True)
MODEL_FAILED = ErrorBody("upstream_error", "The model gave up without saying why.", retryable=True)
NO_USAGE = TurnUsage(0, 0, 0, 0, 0)
LARGE_CHUNK = 65_536
"""From this size on (bytes or characters), a chunk is decoded and encoded in a thread: a model may send megabytes at
once, which would block the event loop."""


# Events -----------------------------------------------------------------------------------------------------


class CompatBegan(Struct, frozen=True):
    message_id: str


class CompatOpened(Struct, frozen=True):
    """`index` counts the blocks that the client gets, without gaps."""

    index: int
    kind: Kind


class CompatDelta(Struct, frozen=True):
    index: int
    kind: Kind
    text: str


class CompatClosed(Struct, frozen=True):
    index: int
    kind: Kind


class CompatEnded(Struct, frozen=True):
    stop_reason: TurnStopReason
    usage: TurnUsage


class CompatFailed(Struct, frozen=True):
    error: ErrorBody


CompatEvent: TypeAlias = CompatBegan | CompatOpened | CompatDelta | CompatClosed | CompatEnded | CompatFailed


class CompatEncoder:
    """Translates the events of a run, one by one: text and thinking, and at the end the cited sources.

    Tool calls are left out, because the client would try to execute them; so are plans and the work on their items,
    which these APIs have no place for. `CompatEnded` or `CompatFailed` is the last
    event. Pure.
    """

    def __init__(self) -> None:
        self._open: dict[int, tuple[int, Kind]] = {}
        self._block_count = 0
        self._last_index = -1
        self._sources: dict[int, Source] = {}
        self._cited: set[int] = set()
        self.is_done = False
        self._run_ended = False

    @property
    def needs_cancel(self) -> bool:
        """Whether the run has not ended by itself, and must be cancelled when its client is gone or has failed."""
        return not self._run_ended

    def feed(self, event: Event) -> list[CompatEvent]:
        events: list[CompatEvent] = []
        if self.is_done:
            return events
        match event:
            case MessageStart(message):
                events = [CompatBegan(message.id)]
            case BlockStart(index, TextBlock(text), parent=UnsetType()):
                events = self._open_block(index, "text", text)
            case BlockStart(index, ThinkingBlock(text), parent=UnsetType()):
                events = self._open_block(index, "thinking", text)
            case BlockStart(content_block=ToolResultBlock(artifact=dict(artifact))):
                self._add_sources(artifact)
            case BlockDelta(index, TextGrowth(text) | ThinkingGrowth(text)):
                events = self._append_text(index, text)
            case BlockDelta(delta=CitationsGrowth(citations), parent=UnsetType()):
                self._cited |= {citation.number for citation in citations}
            case BlockStop(index):
                events = self._close_block(index)
            case RoundRestart(from_index) if from_index <= self._last_index:
                events = self._fail(RESTARTED)
            case ErrorEvent(error):
                self._run_ended = True
                events = self._fail(error)
            case MessageDelta(delta, usage):
                self._run_ended = True
                events = self._finish(delta.stop_reason, usage)
            case _:
                pass
        return events

    def _open_block(self, index: int, kind: Kind, text: str) -> list[CompatEvent]:
        number, self._block_count = self._block_count, self._block_count + 1
        self._open[index] = (number, kind)
        self._last_index = index
        return [CompatOpened(number, kind), *self._append_text(index, text)]

    def _append_text(self, index: int, text: str) -> list[CompatEvent]:
        block = self._open.get(index)
        return [CompatDelta(*block, text)] if block is not None and text else []

    def _close_block(self, index: int) -> list[CompatEvent]:
        block = self._open.pop(index, None)
        return [] if block is None else [CompatClosed(*block)]

    def _add_sources(self, artifact: dict[str, Any]) -> None:
        for source in sources_in(artifact):
            if source.number is not None:
                self._sources.setdefault(source.number, source)

    def _fail(self, error: ErrorBody) -> list[CompatEvent]:
        self.is_done = True
        return [CompatFailed(error)]

    def _finish(self, reason: TurnStopReason, usage: TurnUsage) -> list[CompatEvent]:
        if reason in ("error", "aborted"):
            return self._fail(STOPPED if reason == "aborted" else MODEL_FAILED)
        events: list[CompatEvent] = []
        if sources := self._cited_sources():
            events = [
                CompatOpened(self._block_count, "text"),
                CompatDelta(self._block_count, "text", sources),
                CompatClosed(self._block_count, "text"),
            ]
        self.is_done = True
        return [*events, CompatEnded(reason, usage)]

    def _cited_sources(self) -> str:
        """A markdown list for the end of the answer. Titles are escaped."""
        cited = [(number, self._sources[number]) for number in sorted(self._cited) if number in self._sources]
        lines = [
            f"- [{number}] {escape_inline(source.title or source.domain)}: {source.url}" for number, source in cited
        ]
        return "\n".join(["Sources:", *lines]) if lines else ""


class CompatResponse:
    """Collects the events of a run for a client that does not stream."""

    def __init__(self) -> None:
        self.message_id = ""
        self.blocks: list[tuple[Kind, list[str]]] = []
        self.stop_reason: TurnStopReason = "stop"
        self.usage = NO_USAGE
        self.error: ErrorBody | None = None

    def feed(self, event: CompatEvent) -> None:
        match event:
            case CompatBegan(message_id):
                self.message_id = message_id
            case CompatOpened(kind=kind):
                self.blocks.append((kind, []))
            case CompatDelta(index=index, text=text):
                self.blocks[index][1].append(text)
            case CompatEnded(reason, usage):
                self.stop_reason, self.usage = reason, usage
            case CompatFailed(error):
                self.error = error
            case CompatClosed():
                pass

    def texts(self, kind: Kind) -> list[str]:
        """The texts of the blocks of this kind, without empty ones."""
        return [text for block_kind, parts in self.blocks if block_kind == kind and (text := "".join(parts))]


# Responses --------------------------------------------------------------------------------------------------


class CompatBridge(Protocol):
    """Writes responses in the format of one API. One for each request."""

    ping: bytes

    def encode_event(self, event: CompatEvent) -> bytes: ...

    def encode_response(self, response: CompatResponse) -> Any:
        """The response for a client that does not stream."""
        ...


async def respond(
    call: RouteCall, question: CompatQuestion, bridge: CompatBridge, error_format: ErrorFormatter, *, stream: bool
) -> Reply | EventStream:
    """Starts a run for the question and returns its response."""
    run = await _start_run(call, question)
    headers = {"footnote_session": run.session_id, "footnote_run": run.run_id}
    if stream:
        return EventStream(call.site, _encode_stream(call, run, bridge), ping=bridge.ping, **headers)
    return _BufferedReply(_follow_events(call, run), bridge, error_format, headers)


async def _start_run(call: RouteCall, question: CompatQuestion) -> StartedRun:
    app, user_id = call.app, call.user_id
    try:
        await app.model(app.configuration.agent(question.agent_id), question.model)
    except ConfigError as error:
        raise UnknownModel(error.message) from error
    head = await app.sessions.create(user_id, question.agent_id, title=question.title, origin="api")
    new = NewMessage(question.text, model=question.model, locale=call.locale)
    try:
        return await app.runner.start_with_history(user_id, head.id, question.history, new)
    except FootnoteError:
        with suppress(FootnoteError):
            await app.sessions.delete(user_id, head.id)
        raise


async def _follow_events(call: RouteCall, run: StartedRun) -> AsyncGenerator[list[CompatEvent], None]:
    """The translated events of the run; an empty list when nothing came for a while."""
    decoder, encoder = EventDecoder(), CompatEncoder()
    try:
        async with aclosing(call.app.runner.follow(run.run_id, idle_seconds=PING_SECONDS)) as chunks:
            async for chunk in chunks:
                if not chunk:
                    yield []
                    continue
                events = [
                    translated for _, event in await _decode(decoder, chunk) for translated in encoder.feed(event)
                ]
                if events:
                    yield events
        if not encoder.is_done:
            yield [CompatFailed(INTERRUPTED)]
    except FootnoteError as error:
        yield [CompatFailed(ErrorBody.from_error(error))]
    finally:
        if encoder.needs_cancel:
            await asyncio.shield(call.app.runner.cancel(call.user_id, run.run_id))


async def _encode_stream(call: RouteCall, run: StartedRun, bridge: CompatBridge) -> AsyncGenerator[bytes, None]:
    async with aclosing(_follow_events(call, run)) as batches:
        async for events in batches:
            if any(isinstance(event, CompatDelta) and len(event.text) > LARGE_CHUNK for event in events):
                yield await asyncio.to_thread(_encode_all, bridge, events)
            else:
                yield _encode_all(bridge, events)


async def _decode(decoder: EventDecoder, chunk: bytes) -> list[tuple[int, Event]]:
    if len(chunk) > LARGE_CHUNK:
        return await asyncio.to_thread(decoder.push, chunk)
    return decoder.push(chunk)


def _encode_all(bridge: CompatBridge, events: list[CompatEvent]) -> bytes:
    return b"".join(map(bridge.encode_event, events))


class _BufferedReply(Reply):
    """A response that is sent when the run has ended."""

    def __init__(
        self,
        events: AsyncGenerator[list[CompatEvent], None],
        bridge: CompatBridge,
        error_format: ErrorFormatter,
        headers: dict[str, str],
    ) -> None:
        super().__init__()
        self._events = events
        self._bridge = bridge
        self._error_format = error_format
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        collecting = asyncio.create_task(self._collect())
        disconnect = asyncio.create_task(wait_for_disconnect(receive))
        try:
            await asyncio.wait((collecting, disconnect), return_when=asyncio.FIRST_COMPLETED)
            if collecting.done():
                await self._response(collecting)(scope, receive, send)
        finally:
            for task in (disconnect, collecting):
                task.cancel()
            await asyncio.wait((disconnect, collecting))

    async def _collect(self) -> CompatResponse:
        response = CompatResponse()
        async with aclosing(self._events) as batches:
            async for events in batches:
                for event in events:
                    response.feed(event)
        return response

    def _response(self, collected: "asyncio.Task[CompatResponse]") -> Reply:
        error = collected.exception()
        if isinstance(error, Exception):
            return error_response(error, self._error_format)
        response = collected.result()
        if response.error is None:
            return json_response(self._bridge.encode_response(response), 200, **self._headers)
        # The official clients retry by themselves unless this header forbids it.
        should_retry = "true" if response.error.retryable else "false"
        return json_response(self._error_format(response.error, 502), 502, x_should_retry=should_retry, **self._headers)
