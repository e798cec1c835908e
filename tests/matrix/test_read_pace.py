"""A process with many open responses pauses between reads; the events stay the same."""

import asyncio
from types import ModuleType

from footnote.models import anthropic, openai_chat
from footnote.models.base import Endpoint
from footnote.models.stream import HttpModel, ReadPace
from footnote.protocol.stream import Done, Failed, TextDelta
from matrix.adapters import PROFILE, HttpAdapter, collect_events, last_event
from matrix.test_cancelling import StreamFollower, wait_closed
from upstream import ModelReply, hold, reply, reset, say, stall, stop

NEVER = 3600.0
WORDS = tuple(f"word {number} " for number in range(60))
APIS: dict[str, ModuleType] = {"anthropic": anthropic, "openai": openai_chat}


def paced_model(http: HttpAdapter, pace: ReadPace) -> HttpModel:
    endpoint = Endpoint(http.provider, http.base_url, api_key=http.upstream.key)
    return HttpModel(APIS[http.api], endpoint, "the-model", PROFILE, net=http.net, pace=pace)  # pyright: ignore[reportArgumentType] - the module is the API


def busy_pace(tick_seconds: float = 0.005) -> ReadPace:
    """Pretends that many responses are being read."""
    return ReadPace(free=0, full=1, tick_seconds=tick_seconds)


def word_by_word() -> ModelReply:
    return reply(*(say(word) for word in WORDS), stop())


async def test_a_busy_process_tells_the_same_events(http: HttpAdapter):
    http.script(word_by_word(), word_by_word())

    assert await collect_events(paced_model(http, busy_pace())) == await http.ask()


async def test_a_response_that_is_left_alone_is_read_in_one_piece(http: HttpAdapter):
    """Bytes that arrive during the pause wait in the socket, and are read in one piece."""
    more = asyncio.Event()
    http.script(reply(say("First"), hold(more), *(say(word) for word in WORDS), stop()))
    listener = StreamFollower(paced_model(http, busy_pace(0.2)))
    await listener.wait_for(TextDelta(0, "First"))
    known = len(listener.events)

    more.set()
    async with asyncio.timeout(30):
        while len(listener.events) == known:
            await asyncio.sleep(0)

    assert len(listener.events) - known >= len(WORDS)
    await listener.stop()


async def test_a_process_that_reads_few_responses_never_waits(http: HttpAdapter):
    http.script(word_by_word())

    events = await collect_events(paced_model(http, ReadPace(free=1, full=2, tick_seconds=NEVER)))

    assert isinstance(last_event(events), Done)


async def test_cancelling_a_response_that_is_left_alone_closes_its_socket_at_once(http: HttpAdapter):
    http.script(reply(say("So", " far"), stall()))
    listener = StreamFollower(paced_model(http, busy_pace(NEVER)))
    await listener.wait_for(TextDelta(0, "So"))

    events = await listener.stop()

    assert isinstance(last_event(events), Failed)
    await wait_closed(http.upstream.requests[-1])


async def test_a_connection_that_breaks_while_it_is_left_alone_is_told_as_ever(http: HttpAdapter):
    http.script(reply(say("So"), reset()), reply(say("So"), reset()))

    paused, plain = last_event(await collect_events(paced_model(http, busy_pace()))), last_event(await http.ask())

    assert isinstance(paused, Failed)
    assert isinstance(plain, Failed)
    assert paused.message.failure is not None
    assert plain.message.failure is not None
    assert paused.message.failure.type == plain.message.failure.type
