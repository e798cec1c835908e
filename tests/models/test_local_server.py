"""What local servers say of a model: each in its own form, once for all who ask, and nothing in their way if they do
not."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from footnote.models.base import Endpoint
from footnote.models.local_server import (
    SETTLED_SECONDS,
    UNKNOWN_SECONDS,
    LocalModelFacts,
    LocalServers,
    probe_local_server,
)
from footnote.net.client import Net
from loop_clock import advance_loop_clock
from upstream.model_server import JsonReply, JsonServer, Ollama, OllamaModel, routes


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    async with Net() as opened:
        yield opened


def endpoint(server: JsonServer, key: str | None = None) -> Endpoint:
    return Endpoint("own", f"{server.url}/v1", key, is_self_hosted=True)


async def facts_of(net: Net, answers: dict[str, Any], model: str = "m") -> LocalModelFacts:
    async with JsonServer(routes(answers)) as server:
        return await probe_local_server(endpoint(server), model, net)


async def test_ollama_gives_a_model_that_is_not_loaded_its_default_window(net: Net):
    async with Ollama({"qwen2.5:1.5b": OllamaModel()}).serve() as server:
        facts = await probe_local_server(endpoint(server), "qwen2.5:1.5b", net)

    assert facts == LocalModelFacts(
        kind="ollama", window=4_096, max_window=32_768, parameters=1.543714304, has_tools=True, is_loaded=False
    )


@pytest.mark.parametrize(
    ("model", "loaded", "window"),
    [
        (OllamaModel(num_ctx=16_384), {}, 16_384),
        (OllamaModel(num_ctx=99_999), {}, 32_768),
        (OllamaModel(trained=2_048), {}, 2_048),
        (OllamaModel(), {"m:latest": 8_192}, 8_192),
        (OllamaModel(num_ctx=16_384), {"m:latest": 8_192}, 8_192),
        (OllamaModel(), {"other:latest": 8_192}, 4_096),
    ],
)
async def test_the_window_in_ollama_is_that_of_the_loaded_model_else_that_of_its_modelfile(
    net: Net, model: OllamaModel, loaded: dict[str, int], window: int
):
    async with Ollama({"m:latest": model}, loaded=loaded).serve() as server:
        facts = await probe_local_server(endpoint(server), "m", net)

    assert (facts.window, facts.is_loaded) == (window, "m:latest" in loaded)


@pytest.mark.parametrize(("size", "billions"), [("7.6B", 7.6), ("134.52M", 0.13452), ("", None), ("big", None)])
async def test_the_size_in_ollama_is_a_count_or_a_word(net: Net, size: str, billions: float | None):
    model = OllamaModel(count=None, size=size, capabilities=("completion",))
    async with Ollama({"m:latest": model}).serve() as server:
        facts = await probe_local_server(endpoint(server), "m", net)

    assert facts.parameters == pytest.approx(billions)
    assert facts.has_tools is False


async def test_a_model_of_ollamas_cloud_has_its_whole_window(net: Net):
    shown = {"details": {"family": "gptoss"}, "model_info": {"gptoss.context_length": 131_072}}
    answers = {"POST /api/show": shown | {"remote_host": "https://ollama.com:443"}, "GET /api/ps": {"models": []}}

    assert (await facts_of(net, answers)).window == 131_072


async def test_llama_cpp_says_the_window_of_one_slot(net: Net):
    answers = {
        "GET /props?model=m&autoload=false": {"default_generation_settings": {"n_ctx": 8_192}, "total_slots": 2},
        "GET /v1/models": {"data": [{"id": "m", "meta": {"n_ctx_train": 32_768, "n_params": 1_543_714_304}}]},
    }

    assert await facts_of(net, answers) == LocalModelFacts(
        kind="llama.cpp", window=8_192, max_window=32_768, parameters=1.543714304, is_loaded=True
    )


async def test_lm_studio_says_all_in_its_list(net: Net):
    config = {"context_length": 16_384, "flash_attention": True}
    entry = {
        "key": "qwen/qwen3-4b",
        "params_string": "4B",
        "max_context_length": 262_144,
        "loaded_instances": [{"id": "qwen/qwen3-4b", "config": config}],
        "capabilities": {"vision": False, "trained_for_tool_use": True},
    }
    loaded = await facts_of(net, {"GET /api/v1/models": {"models": [{"key": "x"}, entry]}}, "qwen/qwen3-4b")
    waiting = await facts_of(net, {"GET /api/v1/models": {"models": [entry | {"loaded_instances": []}]}}, entry["key"])

    assert loaded == LocalModelFacts(
        kind="lmstudio", window=16_384, max_window=262_144, parameters=4, has_tools=True, is_loaded=True
    )
    assert (waiting.window, waiting.is_loaded) == (4_096, False)


@pytest.mark.parametrize(
    ("more", "window", "is_loaded", "has_tools"),
    [
        ({"state": "loaded", "loaded_context_length": 8_192, "capabilities": ["tool_use"]}, 8_192, True, True),
        ({"state": "not-loaded", "capabilities": []}, 4_096, False, False),
        ({"state": "not-loaded"}, 4_096, False, None),
    ],
)
async def test_an_older_lm_studio_says_it_of_one_model(
    net: Net, more: dict[str, Any], window: int, is_loaded: bool, has_tools: bool | None
):
    entry = {"id": "qwen/qwen3-4b", "max_context_length": 32_768}
    facts = await facts_of(net, {"GET /api/v0/models/qwen%2Fqwen3-4b": entry | more}, "qwen/qwen3-4b")

    assert facts == LocalModelFacts(
        kind="lmstudio", window=window, max_window=32_768, has_tools=has_tools, is_loaded=is_loaded
    )


async def test_vllm_says_the_window_in_the_list_of_models(net: Net):
    listed = {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 16_384, "owned_by": "vllm"}]}

    assert await facts_of(net, {"GET /v1/models": listed}) == LocalModelFacts(
        kind="vllm", window=16_384, max_window=16_384, is_loaded=True
    )


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"GET /v1/models": {"data": [{"id": "m"}]}},
        {"GET /v1/models": {"data": None}, "POST /api/show": [], "GET /props?model=m&autoload=false": "no"},
        {"POST /api/show": {"model_info": {"x.context_length": "many"}}},
        {"POST /api/show": JsonReply({"error": "busy"}, 500)},
        {"GET /props?model=m&autoload=false": {"default_generation_settings": {"n_ctx": 0}}},
    ],
)
async def test_a_server_that_says_nothing_of_use_leaves_all_open(net: Net, answers: dict[str, Any]):
    facts = await facts_of(net, answers)

    assert (facts.parameters, facts.has_tools, facts.max_window) == (None, None, None)


async def test_the_key_goes_to_the_server(net: Net):
    received = list[str]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        writer.write(b"HTTP/1.1 404 -\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        await probe_local_server(Endpoint("own", url, "sk-own"), "m", net)

    assert all("authorization: bearer sk-own" in head for head in received)


# Asked once ---------------------------------------------------------------------------------------------------


async def test_runs_at_the_same_time_ask_once(net: Net):
    async with Ollama({"m:latest": OllamaModel()}).serve() as server:
        servers = LocalServers(net)
        known = await asyncio.gather(*(servers.facts(endpoint(server), "m") for _ in range(20)))
        await servers.close()

    assert {facts.window for facts in known} == {4_096}
    assert server.requests.count(("POST", "/api/show")) == 1


async def test_a_loaded_model_is_asked_about_again_after_a_while(net: Net):
    now = 0.0
    ollama = Ollama({"m:latest": OllamaModel()}, loaded={"m:latest": 8_192})
    async with ollama.serve() as server:
        servers = LocalServers(net, lambda: now)
        assert (await servers.facts(endpoint(server), "m")).window == 8_192
        ollama.loaded["m:latest"] = 16_384
        assert (await servers.facts(endpoint(server), "m")).window == 8_192
        now += SETTLED_SECONDS
        assert (await servers.facts(endpoint(server), "m")).window == 16_384
        await servers.close()


async def test_a_model_that_is_not_loaded_is_asked_about_the_next_time(net: Net):
    ollama = Ollama({"m:latest": OllamaModel()})
    async with ollama.serve() as server:
        servers = LocalServers(net)
        assert (await servers.facts(endpoint(server), "m")).window == 4_096
        ollama.loaded["m:latest"] = 16_384
        assert (await servers.facts(endpoint(server), "m")).window == 16_384
        await servers.close()


async def test_a_server_that_does_not_run_leaves_all_open_and_is_asked_again_soon(net: Net):
    now = 0.0
    async with Ollama({"m:latest": OllamaModel()}).serve() as server:
        place = endpoint(server)
    servers = LocalServers(net, lambda: now)
    assert await servers.facts(place, "m") == LocalModelFacts()
    now += UNKNOWN_SECONDS
    assert await servers.facts(place, "m") == LocalModelFacts()
    await servers.close()


async def test_a_server_that_hangs_is_given_up(net: Net, monkeypatch: pytest.MonkeyPatch):
    hanging = asyncio.Event()

    async def hang(*_: Any) -> JsonReply:
        hanging.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with JsonServer(hang) as server:
        servers = LocalServers(net)
        asked = asyncio.create_task(servers.facts(endpoint(server), "m"))
        await hanging.wait()
        advance_loop_clock(monkeypatch, 3.0)

        assert await asked == LocalModelFacts()
        await servers.close()


async def test_who_stops_waiting_stops_nobody_else(net: Net):
    release = asyncio.Event()
    ollama = Ollama({"m:latest": OllamaModel()})

    async def late(method: str, path: str, body: Any) -> Any:
        await release.wait()
        return await ollama._handle(method, path, body)

    async with JsonServer(late) as server:
        servers = LocalServers(net)
        first = asyncio.create_task(servers.facts(endpoint(server), "m"))
        second = asyncio.create_task(servers.facts(endpoint(server), "m"))
        await asyncio.sleep(0)
        first.cancel()
        release.set()

        assert (await second).window == 4_096
        await servers.close()
