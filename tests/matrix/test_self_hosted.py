"""A server of one's own may be slow, and loads its model first; if it does not run, that is said at once."""

import asyncio

import pytest
from msgspec.structs import replace

from footnote.models.stream import LOADING_SECONDS
from footnote.net.client import Net
from footnote.protocol.messages import Failure, Text
from loop_clock import advance_loop_clock
from matrix.adapters import PROFILE, HttpAdapter, collect_events, final_message
from upstream import hold, reply, say, stall, status, stop

GOOD = reply(say("Yes."), stop())
SLOW = replace(PROFILE, timeout_seconds=60.0)
LOADING = status(503, "Loading model")


async def failure_of(http: HttpAdapter, **endpoint: object) -> Failure:
    events = await collect_events(http.model(is_self_hosted=True, **endpoint))
    failure = final_message(events).failure
    assert failure is not None
    return failure


async def test_a_server_that_does_not_run_is_not_asked_again(http: HttpAdapter):
    failure = await failure_of(http, provider="own", base_url="http://127.0.0.1:9")

    assert (failure.code, failure.retryable) == ("model_unreachable", False)
    assert failure.message == (
        "own could not be reached: the connection was refused."
        " Start its server, or correct models.providers.own.baseUrl."
    )
    assert http.sleeps == []


async def test_ollama_that_does_not_run_is_named_with_the_command(http: HttpAdapter):
    failure = await failure_of(http, provider="ollama", base_url="http://127.0.0.1:9")

    assert (failure.code, http.sleeps) == ("ollama_stopped", [])
    assert failure.message.endswith("Start Ollama: `ollama serve`.")


async def test_a_model_that_ollama_has_not_pulled_is_named_with_the_command(http: HttpAdapter):
    http.script(status(404, "model 'the-model' not found"))
    failure = await failure_of(http, provider="ollama")

    assert (failure.code, failure.params["model"]) == ("ollama_model_missing", "the-model")
    assert failure.message.endswith("Pull the model: `ollama pull the-model`.")


async def test_a_path_that_another_server_does_not_know_is_no_missing_model(http: HttpAdapter):
    http.script(status(404, "model 'the-model' not found"))

    assert (await failure_of(http, provider="own")).code == "model_not_found"


async def test_a_server_that_loads_its_model_is_waited_for(http: HttpAdapter):
    http.script(*[LOADING] * 9, GOOD)
    events = await collect_events(http.model(is_self_hosted=True, profile=SLOW))

    assert final_message(events).content == (Text("Yes."),)
    assert http.sleeps == [LOADING_SECONDS] * 9


async def test_a_server_that_never_ends_loading_is_given_up(http: HttpAdapter):
    http.script(*[LOADING] * 33)
    events = await collect_events(http.model(is_self_hosted=True, profile=SLOW))

    assert final_message(events).stop_reason == "error"
    assert sum(http.sleeps[:29]) == 58.0
    assert len(http.sleeps) == 29 + 3


async def test_an_api_on_the_web_that_is_loading_is_asked_as_often_as_any_other(http: HttpAdapter):
    http.script(*[LOADING] * 4)

    assert final_message(await http.ask()).stop_reason == "error"
    assert len(http.sleeps) == 3


async def test_the_first_token_may_take_longer_than_the_usual_limit(http: HttpAdapter, monkeypatch: pytest.MonkeyPatch):
    loaded = asyncio.Event()
    http.script(reply(hold(loaded), say("Yes."), stop()))
    async with Net(idle_timeout=10) as net:
        asked = asyncio.create_task(
            collect_events(HttpAdapter(http.api, http.upstream, net).model(is_self_hosted=True, profile=SLOW))
        )
        await http.upstream.wait_received(1)
        advance_loop_clock(monkeypatch, 30)
        await asyncio.sleep(0)
        loaded.set()

        assert final_message(await asked).content == (Text("Yes."),)
    assert len(http.upstream.requests) == 1


@pytest.mark.parametrize("is_self_hosted", [True, False])
async def test_a_long_request_that_timed_out_is_not_read_again_by_a_slow_machine(
    http: HttpAdapter, is_self_hosted: bool
):
    http.script(*[reply(stall())] * 4)
    impatient = replace(PROFILE, timeout_seconds=0.2)
    events = await collect_events(http.model(is_self_hosted=is_self_hosted, profile=impatient))
    failure = final_message(events).failure

    assert failure is not None
    assert len(http.upstream.requests) == (1 if is_self_hosted else 4)
    assert ("too slow for this model" in failure.message) == is_self_hosted
