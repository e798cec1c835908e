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
from footnote.protocol.sessions import NewMessage, Started
from footnote.server.doors.asking import Question, UnknownModel
from footnote.server.doors.telling import BROKE_OFF, Failed, Grew, Teller, Told, Whole
from footnote.server.failures import reply_to
from footnote.server.replies import Reply, as_json
from footnote.server.stream import PING_SECONDS, EventStream
from footnote.server.table import Call, ErrorForm

LARGE_PIECE = 65_536
"""Bytes or characters of an answer in one piece from which on it is decoded and encoded in a thread: a model may send
megabytes at once, which would hold up the event loop."""


class Door(Protocol):
    """How one API writes an answer. One of them per call."""

    ping: bytes

    def write(self, told: Told) -> bytes: ...

    def whole(self, whole: Whole) -> Any:
        """The answer of a call that does not stream."""
        ...


async def answered(
    call: Call, question: Question, door: Door, errors: ErrorForm, *, stream: bool
) -> Reply | EventStream:
    """Asks the question, and answers through the door."""
    run = await _begin(call, question)
    headers = {"footnote_session": run.session_id, "footnote_run": run.run_id}
    if stream:
        return EventStream(call.site, _written(call, run, door), ping=door.ping, **headers)
    return _AtOnce(_told(call, run), door, errors, headers)


async def _begin(call: Call, question: Question) -> Started:
    app, user_id = call.app, call.user_id
    try:
        await app.model(app.configuration.agent(question.agent_id), question.model)
    except ConfigError as error:
        raise UnknownModel(error.message) from error
    head = await app.sessions.create(user_id, question.agent_id, title=question.title, origin="api")
    new = NewMessage(question.text, model=question.model, locale=call.locale)
    try:
        return await app.runner.start_with(user_id, head.id, question.earlier, new)
    except FootnoteError:
        with suppress(FootnoteError):
            await app.sessions.delete(user_id, head.id)
        raise


async def _told(call: Call, run: Started) -> AsyncGenerator[list[Told], None]:
    """What is told of the run; an empty list when nothing came for a while."""
    decoder, teller = EventDecoder(), Teller()
    try:
        async with aclosing(call.app.runner.follow(run.run_id, idle_seconds=PING_SECONDS)) as pieces:
            async for piece in pieces:
                if not piece:
                    yield []
                elif told := [one for _, event in await _decoded(decoder, piece) for one in teller.feed(event)]:
                    yield told
        if not teller.over:
            yield [Failed(BROKE_OFF)]
    except FootnoteError as error:
        yield [Failed(ErrorBody(error.type, error.message, error.retryable))]
    finally:
        if teller.leaves_it_running:
            await asyncio.shield(call.app.runner.cancel(call.user_id, run.run_id))


async def _written(call: Call, run: Started, door: Door) -> AsyncGenerator[bytes, None]:
    async with aclosing(_told(call, run)) as telling:
        async for told in telling:
            if any(isinstance(one, Grew) and len(one.text) > LARGE_PIECE for one in told):
                yield await asyncio.to_thread(_write_all, door, told)
            else:
                yield _write_all(door, told)


async def _decoded(decoder: EventDecoder, piece: bytes) -> list[tuple[int, Event]]:
    if len(piece) > LARGE_PIECE:
        return await asyncio.to_thread(decoder.push, piece)
    return decoder.push(piece)


def _write_all(door: Door, told: list[Told]) -> bytes:
    return b"".join(map(door.write, told))


class _AtOnce(Reply):
    """An answer that is sent when the run is over."""

    def __init__(
        self,
        telling: AsyncGenerator[list[Told], None],
        door: Door,
        errors: ErrorForm,
        headers: dict[str, str],
    ) -> None:
        super().__init__()
        self._telling = telling
        self._door = door
        self._errors = errors
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        collecting = asyncio.create_task(self._collect())
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait((collecting, leaving), return_when=asyncio.FIRST_COMPLETED)
            if collecting.done():
                await self._reply(collecting)(scope, receive, send)
        finally:
            for task in (leaving, collecting):
                task.cancel()
            await asyncio.wait((leaving, collecting))

    async def _collect(self) -> Whole:
        whole = Whole()
        async with aclosing(self._telling) as telling:
            async for told in telling:
                for one in told:
                    whole.feed(one)
        return whole

    def _reply(self, collected: "asyncio.Task[Whole]") -> Reply:
        error = collected.exception()
        if isinstance(error, Exception):
            return reply_to(error, self._errors)
        whole = collected.result()
        if whole.error is None:
            return as_json(self._door.whole(whole), 200, **self._headers)
        # The official clients ask again by themselves, unless they are told not to.
        again = "true" if whole.error.retryable else "false"
        return as_json(self._errors(whole.error, 502), 502, x_should_retry=again, **self._headers)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
