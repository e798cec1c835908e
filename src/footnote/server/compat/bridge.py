"""A run behind a call of another API: it begins with the call and ends with it at the latest.

Clients of these APIs cannot come back to an answer. So when one goes away, its run is stopped.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any, Protocol

from starlette.types import Receive, Scope, Send

from footnote.protocol.errors import ConfigError, FootnoteError
from footnote.protocol.events import ErrorBody, Event
from footnote.protocol.frames import EventDecoder
from footnote.protocol.sessions import NewMessage, StartedRun
from footnote.server.compat.encoder import (
    INTERRUPTED,
    CompatDelta,
    CompatEncoder,
    CompatEvent,
    CompatFailed,
    CompatResponse,
)
from footnote.server.compat.requests import CompatQuestion, UnknownModel
from footnote.server.errors import error_response
from footnote.server.responses import Reply, json_response
from footnote.server.route import ErrorFormatter, RouteCall
from footnote.server.stream import PING_SECONDS, EventStream

LARGE_CHUNK = 65_536
"""Bytes or characters of an answer in one piece from which on it is decoded and encoded in a thread: a model may send
megabytes at once, which would hold up the event loop."""


class CompatBridge(Protocol):
    """How one API writes an answer. One of them per call."""

    ping: bytes

    def encode_event(self, event: CompatEvent) -> bytes: ...

    def encode_response(self, response: CompatResponse) -> Any:
        """The answer of a call that does not stream."""
        ...


async def respond(
    call: RouteCall, question: CompatQuestion, bridge: CompatBridge, errors: ErrorFormatter, *, stream: bool
) -> Reply | EventStream:
    """Asks the question, and answers through the door."""
    run = await _start_run(call, question)
    headers = {"footnote_session": run.session_id, "footnote_run": run.run_id}
    if stream:
        return EventStream(call.site, _encode_stream(call, run, bridge), ping=bridge.ping, **headers)
    return _BufferedReply(_follow_events(call, run), bridge, errors, headers)


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
    """What is told of the run; an empty list when nothing came for a while."""
    decoder, teller = EventDecoder(), CompatEncoder()
    try:
        async with aclosing(call.app.runner.follow(run.run_id, idle_seconds=PING_SECONDS)) as pieces:
            async for piece in pieces:
                if not piece:
                    yield []
                elif told := [one for _, event in await _decode(decoder, piece) for one in teller.feed(event)]:
                    yield told
        if not teller.is_done:
            yield [CompatFailed(INTERRUPTED)]
    except FootnoteError as error:
        yield [CompatFailed(ErrorBody(error.type, error.message, error.retryable))]
    finally:
        if teller.needs_cancel:
            await asyncio.shield(call.app.runner.cancel(call.user_id, run.run_id))


async def _encode_stream(call: RouteCall, run: StartedRun, bridge: CompatBridge) -> AsyncGenerator[bytes, None]:
    async with aclosing(_follow_events(call, run)) as telling:
        async for told in telling:
            if any(isinstance(one, CompatDelta) and len(one.text) > LARGE_CHUNK for one in told):
                yield await asyncio.to_thread(_encode_all, bridge, told)
            else:
                yield _encode_all(bridge, told)


async def _decode(decoder: EventDecoder, piece: bytes) -> list[tuple[int, Event]]:
    if len(piece) > LARGE_CHUNK:
        return await asyncio.to_thread(decoder.push, piece)
    return decoder.push(piece)


def _encode_all(bridge: CompatBridge, events: list[CompatEvent]) -> bytes:
    return b"".join(map(bridge.encode_event, events))


class _BufferedReply(Reply):
    """An answer that is sent when the run is over."""

    def __init__(
        self,
        events: AsyncGenerator[list[CompatEvent], None],
        bridge: CompatBridge,
        errors: ErrorFormatter,
        headers: dict[str, str],
    ) -> None:
        super().__init__()
        self._events = events
        self._bridge = bridge
        self._errors = errors
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        collecting = asyncio.create_task(self._collect())
        leaving = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait((collecting, leaving), return_when=asyncio.FIRST_COMPLETED)
            if collecting.done():
                await self._response(collecting)(scope, receive, send)
        finally:
            for task in (leaving, collecting):
                task.cancel()
            await asyncio.wait((leaving, collecting))

    async def _collect(self) -> CompatResponse:
        whole = CompatResponse()
        async with aclosing(self._events) as telling:
            async for told in telling:
                for one in told:
                    whole.feed(one)
        return whole

    def _response(self, collected: "asyncio.Task[CompatResponse]") -> Reply:
        error = collected.exception()
        if isinstance(error, Exception):
            return error_response(error, self._errors)
        whole = collected.result()
        if whole.error is None:
            return json_response(self._bridge.encode_response(whole), 200, **self._headers)
        # The official clients ask again by themselves, unless they are told not to.
        again = "true" if whole.error.retryable else "false"
        return json_response(self._errors(whole.error, 502), 502, x_should_retry=again, **self._headers)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
