"""Cancelling ends the stream with `aborted` and all that arrived, and closes the socket at once."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from footnote.cancel import CancelScope
from footnote.models.base import Model, Options
from footnote.models.retry import Retry
from footnote.net import client
from footnote.protocol.messages import AssistantMessage, Block, Failure, Text, Thinking, ToolCall, Usage
from footnote.protocol.stream import (
    Failed,
    Start,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnd,
)
from matrix.adapters import QUESTION, Adapter, HttpAdapter, final_message, last_event
from matrix.recorded_response import RecordedResponse, model_of
from upstream import ModelReply, ModelRequest, Wire, call, hold, reply, say, stall, status, stop, think, usage
from upstream.server import Api, render_body

SECONDS = 30
"""Timeout of everything that a test waits for: the model sends nothing more, and the silence timeout is much longer."""
STOPPED = Failure("aborted", "Stopped on request. What came before it is kept.", code="aborted")


class StreamFollower:
    """Follows a stream in a task of its own, as a run does."""

    def __init__(self, model: Model) -> None:
        self.scope = CancelScope()
        self.events: list[StreamEvent] = []
        self.task = asyncio.create_task(self._follow(model))
        self._received = asyncio.Event()

    async def _follow(self, model: Model) -> None:
        async for event in model.stream(QUESTION, Options(), self.scope):
            self.events.append(event)
            self._received.set()

    async def wait_for(self, awaited: StreamEvent) -> None:
        async with asyncio.timeout(SECONDS):
            while awaited not in self.events:
                self._received.clear()
                await self._received.wait()

    async def stop(self) -> list[StreamEvent]:
        self.scope.cancel()
        await self.task
        return self.events


async def wait_closed(request: ModelRequest) -> None:
    """Waits until the server sees the end of the connection."""
    async with asyncio.timeout(SECONDS):
        await request.connection.closed.wait()


async def test_cancelling_keeps_what_came_and_says_aborted(adapter: Adapter):
    adapter.script(reply(say("So", " far"), stall()))
    listener = StreamFollower(adapter.model())
    await listener.wait_for(TextDelta(0, " far"))

    events = await listener.stop()

    usage_known = final_message(events).usage
    partial = AssistantMessage((Text("So far"),), "aborted", adapter.id, usage_known, None, STOPPED)
    assert events == [
        Start(adapter.id),
        TextStart(0),
        TextDelta(0, "So"),
        TextDelta(0, " far"),
        TextEnd(0, "So far"),
        Failed("aborted", partial),
    ]


HALF_CALL = '{"query": "cổ phi'
MOMENTS: dict[str, tuple[ModelReply, StreamEvent, tuple[Block, ...]]] = {
    "text": (reply(say("So", " far"), stall()), TextDelta(0, " far"), (Text("So far"),)),
    "thinking": (reply(think("Hm", "m"), stall()), ThinkingDelta(0, "m"), (Thinking("Hmm"),)),
    "tool call": (
        reply(call("web_search", HALF_CALL, fragments=1), stall()),
        ToolCallDelta(0, HALF_CALL, {"query": "cổ phi"}),
        (ToolCall("call_1", "web_search", {}, invalid=HALF_CALL),),
    ),
}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_cancelling_closes_the_socket_at_once_and_every_open_block(http: HttpAdapter, moment: str):
    answer, last_heard, content = MOMENTS[moment]
    http.script(answer)
    listener = StreamFollower(http.model())
    await listener.wait_for(last_heard)

    events = await listener.stop()

    assert (final_message(events).content, last_event(events).reason) == (content, "aborted")
    assert len([one for one in events if one.__class__.__name__.endswith("Start")]) == 2  # the stream, the block
    assert len([one for one in events if one.__class__.__name__.endswith("End")]) == 1
    await wait_closed(http.upstream.requests[0])


async def test_cancelling_before_the_first_byte_closes_the_socket_at_once(http: HttpAdapter):
    http.script(reply(stall()))
    listener = StreamFollower(http.model())
    request = await http.upstream.wait_received(1)

    events = await listener.stop()

    nothing = AssistantMessage((), "aborted", http.id, Usage(), None, STOPPED)
    assert events == [Start(http.id), Failed("aborted", nothing)]
    await wait_closed(request)


async def test_cancelling_during_back_off_ends_it_at_once(http: HttpAdapter):
    waiting = asyncio.Event()

    async def for_ever(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    http.script(status(503))
    listener = StreamFollower(http.model(retry=Retry(sleep=for_ever)))
    await waiting.wait()

    events = await listener.stop()

    nothing = AssistantMessage((), "aborted", http.id, Usage(), None, STOPPED)
    assert events == [Start(http.id), Failed("aborted", nothing)]
    assert len(http.upstream.requests) == 1


async def test_a_scope_that_is_cancelled_already_sends_no_request(adapter: Adapter):
    adapter.script(reply(say("Yes."), stop()))
    scope = CancelScope()
    scope.cancel()

    events = [event async for event in adapter.model().stream(QUESTION, Options(), scope)]

    assert (last_event(events).reason, final_message(events).text) == ("aborted", "")
    if isinstance(adapter, HttpAdapter):
        assert adapter.upstream.requests == []


async def test_cancelling_from_inside_the_loop_over_the_events_works_too(http: HttpAdapter):
    http.script(reply(say("So", " far"), stall()))
    scope = CancelScope()
    events: list[StreamEvent] = []

    async for event in http.model().stream(QUESTION, Options(), scope):
        events.append(event)
        if event == TextDelta(0, "So"):
            scope.cancel()

    assert last_event(events).reason == "aborted"
    assert final_message(events).text in ("So", "So far")
    await wait_closed(http.upstream.requests[0])


async def test_cancelling_after_the_end_changes_nothing(adapter: Adapter):
    adapter.script(reply(say("Yes."), stop()))
    listener = StreamFollower(adapter.model())
    await listener.task

    assert (await listener.stop())[-1].message.stop_reason == "stop"


async def test_an_aborted_stream_keeps_the_usage_that_was_known(anthropic: HttpAdapter):
    anthropic.script(reply(say("So far"), usage(input=123, cache_read=45), stall()))
    listener = StreamFollower(anthropic.model())
    await listener.wait_for(TextDelta(0, "So far"))

    assert final_message(await listener.stop()).usage == Usage(123, 1, cache_read=45)


async def test_an_aborted_stream_keeps_the_usage_of_servers_that_send_it_early(openai: HttpAdapter):
    openai.script(reply(say("So far"), usage(input=123, output=2), stall(), wire=Wire(usage_everywhere=True)))
    listener = StreamFollower(openai.model())
    await listener.wait_for(TextDelta(0, "So far"))

    assert final_message(await listener.stop()).usage == Usage(123, 2)


async def test_cancelling_the_task_closes_the_socket_and_goes_on_travelling(http: HttpAdapter):
    http.script(reply(say("So", " far"), stall()))
    listener = StreamFollower(http.model())
    await listener.wait_for(TextDelta(0, " far"))

    listener.task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await listener.task
    await wait_closed(http.upstream.requests[0])


async def test_a_task_that_is_cancelled_while_its_run_is_stopped_is_cancelled(http: HttpAdapter):
    http.script(reply(say("So", " far"), stall()))
    listener = StreamFollower(http.model())
    await listener.wait_for(TextDelta(0, " far"))

    listener.scope.cancel()
    listener.task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await listener.task
    await wait_closed(http.upstream.requests[0])


async def test_cancelling_the_task_before_the_first_byte_closes_the_socket(http: HttpAdapter):
    http.script(reply(stall()))
    listener = StreamFollower(http.model())
    request = await http.upstream.wait_received(1)

    listener.task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await listener.task
    await wait_closed(request)


async def test_leaving_the_loop_and_closing_the_stream_closes_the_socket(http: HttpAdapter):
    http.script(reply(say("So", " far"), stall()))
    stream = http.model().stream(QUESTION, Options(), CancelScope())
    async for event in stream:
        if isinstance(event, TextDelta):
            break

    await stream.aclose()

    await wait_closed(http.upstream.requests[0])


@pytest.mark.parametrize("api", ["anthropic", "openai"])
@pytest.mark.parametrize("way", ["to the end", "cut off", "cancelled", "task cancelled", "left"])
async def test_the_response_is_closed_however_the_stream_ends(api: Api, way: str):
    """Closed by the adapter, and not by a later garbage collection."""
    whole = render_body(api, reply(say("So", " far"), stop()))
    half = whole[: whole.index(b" far")]
    response = RecordedResponse([whole if way == "to the end" else half], hangs=way != "cut off")
    stream = model_of(api, response).stream(QUESTION, Options(), scope := CancelScope())
    if way == "left":
        async for event in stream:
            if isinstance(event, TextDelta):
                break
        await stream.aclose()
    else:
        listener = asyncio.create_task(_exhaust(stream))
        await asyncio.sleep(0)
        if way == "cancelled":
            scope.cancel()
        elif way == "task cancelled":
            listener.cancel()
        await asyncio.wait([listener])

    assert response.closed


async def _exhaust(stream: AsyncIterator[StreamEvent]) -> None:
    async for _ in stream:
        pass


async def test_one_of_two_streams_stops_without_the_other(http: HttpAdapter):
    gate = asyncio.Event()
    http.script(reply(say("One"), stall()), reply(say("Two"), hold(gate), say("!"), stop()))
    first = StreamFollower(http.model())
    await first.wait_for(TextDelta(0, "One"))
    second = StreamFollower(http.model())
    await second.wait_for(TextDelta(0, "Two"))

    await first.stop()
    gate.set()
    await second.task

    assert last_event(first.events).reason == "aborted"
    assert final_message(second.events).text == "Two!"


async def test_a_connection_is_used_again_after_a_whole_answer(http: HttpAdapter, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "DRAIN_TIMEOUT_SECONDS", SECONDS)  # the end of a body may be late on a busy machine
    http.script(*[reply(say("Yes."), stop())] * 3)

    for _ in range(3):
        await http.ask()

    assert [one.connection.number for one in http.upstream.requests] == [0, 0, 0]


async def test_a_connection_is_not_used_again_after_a_stopped_answer(http: HttpAdapter):
    http.script(reply(say("So", " far"), stall()), reply(say("Yes."), stop()))
    listener = StreamFollower(http.model())
    await listener.wait_for(TextDelta(0, " far"))
    await listener.stop()

    assert final_message(await http.ask()).text == "Yes."
    assert [one.connection.number for one in http.upstream.requests] == [0, 1]


async def test_the_end_of_a_cut_call_says_that_it_is_invalid(http: HttpAdapter):
    answer, last_heard, (cut_call,) = MOMENTS["tool call"]
    http.script(answer)
    listener = StreamFollower(http.model())
    await listener.wait_for(last_heard)

    events = await listener.stop()

    assert [one for one in events if isinstance(one, ToolCallEnd)] == [ToolCallEnd(0, cut_call)]
