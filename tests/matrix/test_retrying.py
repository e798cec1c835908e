"""A request is retried before its first event; after it, and for errors of the caller, never."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from footnote.models.retry import Retry
from footnote.net.client import Net
from footnote.protocol.messages import Text
from footnote.protocol.stream import Done, Start, TextStart
from matrix.adapters import HttpAdapter, collect_events, final_message, last_event
from upstream import cut, error_event, raw, reply, reset, say, stall, status, stop

GOOD = reply(say("Yes."), stop())


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_passing_failure_is_asked_again(http: HttpAdapter, code: int):
    http.script(status(code), GOOD)

    events = await http.ask()

    assert final_message(events).content == (Text("Yes."),)
    assert [type(one) for one in events].count(Start) == 1
    assert len(http.upstream.requests) == 2
    assert http.upstream.requests[0].body == http.upstream.requests[1].body


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
async def test_a_mistake_of_the_caller_is_not_asked_again(http: HttpAdapter, code: int):
    http.script(status(code))

    failure = final_message(await http.ask()).failure

    assert failure is not None
    assert (failure.status, failure.retryable) == (code, False)
    assert len(http.upstream.requests) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
async def test_the_wait_that_the_server_asks_for_is_kept(http: HttpAdapter, headers: Any, seconds: float):
    http.script(status(429, headers=headers), GOOD)

    assert isinstance(last_event(await http.ask()), Done)
    assert http.sleeps == [seconds]


async def test_a_date_to_come_is_waited_for(http: HttpAdapter):
    then = datetime.now(UTC) + timedelta(seconds=30)
    http.script(status(503, headers={"retry-after": format_datetime(then, usegmt=True)}), GOOD)

    assert isinstance(last_event(await http.ask()), Done)
    assert http.sleeps == [pytest.approx(30, abs=20)]


@pytest.mark.parametrize("value", ["soon", "", "nan", "inf", "Wed, 99 Oct 2015"])
async def test_a_wait_that_makes_no_sense_is_replaced_by_our_own(http: HttpAdapter, value: str):
    http.script(status(429, headers={"retry-after": value}), GOOD)

    assert isinstance(last_event(await http.ask()), Done)
    assert http.sleeps == [0.5]


async def test_the_waits_double_and_the_number_of_tries_is_limited(http: HttpAdapter):
    http.script(*[status(500, "Broken inside")] * 4)

    failure = final_message(await http.ask()).failure

    assert http.sleeps == [0.5, 1.0, 2.0]
    assert len(http.upstream.requests) == 4
    assert failure is not None
    assert (failure.status, failure.retryable) == (500, True)
    assert failure.message == (
        f"{http.provider} answered with status 500: Broken inside."
        " The provider has a problem: try again later, or choose another model."
    )


def test_our_own_waits_spread_by_a_quarter_to_both_sides():
    low, high = Retry(jitter=lambda: 0.0), Retry(jitter=lambda: 1.0)

    assert [low.delay(n, {}) for n in range(4)] == [0.375, 0.75, 1.5, None]
    assert [high.delay(n, {}) for n in range(4)] == [0.625, 1.25, 2.5, None]


async def test_a_server_that_asks_for_an_hour_is_not_waited_for(http: HttpAdapter):
    http.script(status(429, headers={"retry-after": "3600"}))

    failure = final_message(await http.ask()).failure

    assert (http.sleeps, len(http.upstream.requests)) == ([], 1)
    assert failure is not None
    assert failure.status == 429


@pytest.mark.parametrize(
    "broken",
    [
        reply(reset()),
        reply(cut()),
        reply(raw(b": waiting\n\n"), reset()),
        reply(raw(b": waiting\n\n"), cut()),
        reply(raw(b": waiting\n\n")),
        reply(error_event("overloaded_error")),
    ],
    ids=["reset", "closed", "reset after the head", "closed after the head", "empty body", "error event"],
)
async def test_a_connection_that_breaks_before_the_first_event_is_made_again(http: HttpAdapter, broken: Any):
    http.script(broken, GOOD)

    events = await http.ask()

    assert events[:2] == [Start(http.id), TextStart(0)]
    assert final_message(events).content == (Text("Yes."),)
    assert len(http.sleeps) == 1


async def test_a_server_that_is_not_there_yet_is_asked_again(http: HttpAdapter):
    await http.upstream.stop_listening()
    http.script(GOOD)

    async def start_it(_: float) -> None:
        await http.upstream.listen()

    events = await collect_events(http.model(retry=Retry(sleep=start_it)))

    assert final_message(events).content == (Text("Yes."),)


async def test_a_server_that_never_comes_is_given_up_with_a_next_step(http: HttpAdapter):
    await http.upstream.stop_listening()

    failure = final_message(await http.ask()).failure

    assert len(http.sleeps) == 3
    assert failure is not None
    assert (failure.type, failure.retryable) == ("connection_error", True)
    assert failure.message.startswith(f"{http.provider} could not be reached: the connection was refused.")
    assert failure.message.endswith("Check the network and the provider's baseUrl.")


async def test_a_host_without_an_address_is_given_up_with_a_next_step(http: HttpAdapter):
    failure = final_message(await collect_events(http.model(base_url="http://nowhere.invalid"))).failure

    assert failure is not None
    assert failure.message == (
        f"{http.provider} could not be reached: the host name could not be resolved."
        " Check the network and the provider's baseUrl."
    )


@pytest.mark.parametrize("end", [reset(), cut(), error_event("overloaded_error")], ids=["reset", "cut", "error"])
async def test_after_the_first_event_nothing_is_asked_twice(http: HttpAdapter, end: Any):
    http.script(reply(say("So far"), end), GOOD)

    answer = final_message(await http.ask())

    assert (answer.content, answer.stop_reason) == ((Text("So far"),), "error")
    assert (http.sleeps, len(http.upstream.requests)) == ([], 1)


@pytest.fixture
async def impatient(http: HttpAdapter) -> AsyncIterator[HttpAdapter]:
    """The same adapter with a short silence timeout, which is still longer than the pauses of a busy machine."""
    async with Net(idle_timeout=1) as client:
        yield HttpAdapter(http.api, http.upstream, client)


async def test_a_server_that_says_nothing_is_asked_again(impatient: HttpAdapter):
    impatient.script(reply(stall()), reply(raw(b": waiting\n\n"), stall()), GOOD)

    events = await impatient.ask()

    assert final_message(events).content == (Text("Yes."),)
    assert len(impatient.sleeps) == 2


async def test_a_server_that_falls_silent_in_its_answer_is_an_error_with_the_partial_message(
    impatient: HttpAdapter,
):
    impatient.script(reply(say("So far"), stall()))

    answer = final_message(await impatient.ask())

    assert (answer.content, answer.stop_reason) == ((Text("So far"),), "error")
    assert answer.failure is not None
    assert answer.failure.message.startswith(f"The answer of {impatient.provider} broke off: nothing was received")
    async with asyncio.timeout(30):
        await impatient.upstream.requests[0].connection.closed.wait()


async def test_a_refused_request_leaves_nothing_open(http: HttpAdapter):
    http.script(*[status(500, body=b"x" * 200_000)] * 4)

    assert final_message(await http.ask()).stop_reason == "error"
    assert all(one.closed_at is not None for one in http.upstream.connections[:-1])
