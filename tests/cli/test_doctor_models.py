"""`footnote doctor` asks the model a question that needs a tool, and says which style, window and tools it has."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cli.doctor_report import KEY, doctor, ok
from cli.process import environment, run_footnote
from footnote.cli.local_checks import CheckContext
from footnote.cli.model_checks import OWN_SERVER_SECONDS, check_models
from footnote.config.load import load
from footnote.net.client import Net
from loop_clock import advance_loop_clock
from upstream import ModelReply, call, reply, say, stop, think
from upstream.model_server import JsonServer, Ollama, OllamaModel, routes

SMALL, LARGE = "qwen2.5:1.5b", "mistral-small:24b"
MODELS = {SMALL: OllamaModel(), LARGE: OllamaModel(count=23_572_403_200, trained=131_072)}
CALLED = reply(call("current_weather", {"city": "Hanoi"}), stop("toolUse"))
WRITTEN = reply(say('<tool_call>\n{"name": "current_weather", "arguments": {"city": "Hanoi"}}\n</tool_call>'), stop())


async def report(
    home: Path, name: str, answer: ModelReply = CALLED, window: int = 4_096, **variables: str
) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    ollama = Ollama({name: MODELS[name]}, window=window, answer=lambda *_: answer)
    async with ollama.serve() as server:
        found = await doctor(home, FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL=f"{server.url}/v1", **variables)
    assert len(ollama.chats) == 1
    return found


async def test_a_small_model_is_guided_by_the_word_of_ollama(tmp_path: Path) -> None:
    code, found = await report(tmp_path, SMALL)

    assert code == 0
    assert found["style"] == ok(f"ollama/{SMALL} is guided: 1.54 billion parameters (Ollama's word)")
    (tools,) = found["tools"]
    assert tools["status"] == "OK"
    assert tools["message"].startswith(f"ollama/{SMALL} called a tool as it should (10 + 5 tokens, ")
    assert tools["message"].endswith("; it gets none")


async def test_the_window_is_that_of_the_loaded_model(tmp_path: Path) -> None:
    _, found = await report(tmp_path, LARGE, window=32_768)

    assert found["window"] == ok(f"Ollama gives ollama/{LARGE} 32,768 tokens")


async def test_a_window_that_ollama_cuts_at_is_pointed_out_with_what_raises_it(tmp_path: Path) -> None:
    code, found = await report(tmp_path, SMALL)

    assert code == 0
    (window,) = found["window"]
    assert window["status"] == "WARN"
    assert window["message"] == (
        f"Ollama gives ollama/{SMALL} 4,096 of its 32,768 tokens, and drops the beginning of anything longer without a"
        " word; Footnote keeps within it"
    )
    for step in ("OLLAMA_CONTEXT_LENGTH=16384 ollama serve", "PARAMETER num_ctx 16384", "`ollama ps`"):
        assert step in window["remedy"]


async def test_a_setting_beyond_what_the_server_gives_is_pointed_out(tmp_path: Path) -> None:
    profiles = json.dumps({f"ollama/{SMALL}": {"window": 32_768}})
    _, found = await report(tmp_path, SMALL, FOOTNOTE_MODELS_PROFILES=profiles)

    assert found["window"][0]["message"] == (
        f"Ollama gives ollama/{SMALL} 4,096 tokens, but models.profiles says 32,768"
    )


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (CALLED, "OK", "called a tool as it should"),
        (reply(think("A tool."), say("I look."), *CALLED.steps), "OK", "called a tool as it should"),
        (WRITTEN, "OK", "wrote its call of a tool into the text, from which Footnote reads it"),
        (reply(call("current_weather", {"town": "Hanoi"}), stop("toolUse")), "WARN", "called a tool wrongly"),
        (reply(call("weather", {"city": "Hanoi"}), stop("toolUse")), "WARN", "called a tool wrongly"),
        (reply(say("It is sunny."), stop()), "WARN", "answered a question that needs a tool without calling it"),
    ],
)
async def test_how_a_large_model_used_the_tool_is_said(
    tmp_path: Path, answer: ModelReply, status: str, said: str
) -> None:
    code, found = await report(tmp_path, LARGE, answer)

    assert code == 0
    assert found["style"] == ok(f"ollama/{LARGE} is agentic: 23.6 billion parameters (Ollama's word)")
    (tools,) = found["tools"]
    assert tools["status"] == status
    assert tools["message"].startswith(f"ollama/{LARGE} {said} (")
    if status == "WARN":
        assert f'models.profiles["ollama/{LARGE}"].style = "guided"' in tools["remedy"]


async def test_a_style_that_is_set_is_named(tmp_path: Path) -> None:
    profiles = json.dumps({f"ollama/{LARGE}": {"style": "guided"}})
    _, found = await report(tmp_path, LARGE, reply(say("Sunny."), stop()), FOOTNOTE_MODELS_PROFILES=profiles)

    assert found["style"] == ok(f"ollama/{LARGE} is guided: models.profiles.ollama/{LARGE}.style says so")
    assert found["tools"][0]["status"] == "OK"


async def test_a_model_that_ollama_knows_to_call_no_tools_is_guided_and_offered_none(tmp_path: Path) -> None:
    plain = OllamaModel(count=27_432_406_640, capabilities=("completion", "vision"))
    ollama = Ollama({"gemma3:27b": plain})
    async with ollama.serve() as server:
        code, found = await doctor(tmp_path, FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL=f"{server.url}/v1")

    assert code == 0
    assert found["style"] == ok("ollama/gemma3:27b is guided: it cannot call tools (Ollama's word)")
    assert found["tools"][0]["message"].startswith("ollama/gemma3:27b cannot call tools (10 + 5 tokens")
    assert "tools" not in ollama.chats[0]


@pytest.mark.parametrize(
    ("answers", "model", "remedy"),
    [
        (
            {"GET /props?model=m-7b&autoload=false": {"default_generation_settings": {"n_ctx": 4_096}}},
            {"id": "m-7b", "meta": {"n_ctx_train": 32_768}},
            "Start it with -c 16384 (--ctx-size), which --parallel divides among its slots.",
        ),
        (
            {"GET /api/v1/models": {"models": [{"key": "m-7b", "max_context_length": 32_768}]}},
            {"id": "m-7b"},
            "Raise the context length in the settings of the model in LM Studio, and load it again.",
        ),
    ],
    ids=["llama.cpp", "LM Studio"],
)
async def test_every_server_has_its_own_way_to_a_larger_window(
    tmp_path: Path, answers: dict[str, Any], model: dict[str, Any], remedy: str
) -> None:
    async with JsonServer(routes(answers | {"GET /v1/models": {"data": [model]}})) as server:
        variables = {
            "FOOTNOTE_MODELS_DEFAULT": "own/m-7b",
            "FOOTNOTE_MODELS_PROVIDERS_OWN_TYPE": "openai",
            "FOOTNOTE_MODELS_PROVIDERS_OWN_BASE_URL": f"{server.url}/v1",
        }
        code, found = await doctor(tmp_path, **variables)

    assert found["style"] == ok("own/m-7b is guided: 7 billion parameters (its name)")
    assert found["window"][0]["remedy"] == remedy
    assert (code, found["tools"][0]["status"]) == (1, "FAIL")  # the path for questions is not found


async def test_a_model_that_was_not_pulled_fails_with_the_command(tmp_path: Path) -> None:
    async with Ollama(MODELS).serve() as server:
        variables = {"FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL": f"{server.url}/v1"}
        code, found = await doctor(tmp_path, FOOTNOTE_MODELS_DEFAULT="ollama/qwen3:4b", **variables)

    assert code == 1
    assert found["style"] == ok("ollama/qwen3:4b is guided: 4 billion parameters (its name)")
    (tools,) = found["tools"]
    assert tools["status"] == "FAIL"
    assert "`ollama pull qwen3:4b`" in tools["message"]


async def test_no_question_is_asked_where_that_is_not_wanted(tmp_path: Path) -> None:
    ollama = Ollama(MODELS)
    async with ollama.serve() as server:
        url = f"{server.url}/v1"
        env = environment(tmp_path, OPENAI_API_KEY=KEY, FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL=url)
        env["FOOTNOTE_MODELS_DEFAULT"] = f"ollama/{SMALL}"
        code, out, _ = await run_footnote("doctor", "--no-question", env=env)

    assert code == 0
    assert f"OK    style: ollama/{SMALL} is guided: " in out
    assert " tools: " not in out
    assert ollama.chats == []


async def test_a_model_of_several_agents_is_asked_once(tmp_path: Path) -> None:
    agents = [{"id": name, "model": f"ollama/{SMALL}"} for name in ("a", "b")]
    (tmp_path / "agents.json").write_text(json.dumps({"agents": agents}))
    _, found = await report(tmp_path, SMALL, FOOTNOTE_MODELS_DEFAULT=f"ollama/{SMALL}")

    assert len(found["style"]) == 1


async def test_a_model_that_does_not_answer_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ollama = Ollama({SMALL: MODELS[SMALL]})
    ollama.is_ready.clear()
    async with ollama.serve() as server, Net() as net:
        configuration = load(tmp_path, None, {"FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL": f"{server.url}/v1"})
        checks = check_models(CheckContext(configuration, (), net))
        await anext(checks)
        following = asyncio.ensure_future(anext(checks))
        while ("POST", "/v1/chat/completions") not in server.requests:
            await asyncio.sleep(0.01)
        advance_loop_clock(monkeypatch, OWN_SERVER_SECONDS)
        found = [await following, *[result async for result in checks]]
        ollama.is_ready.set()

    [tools] = [result for result in found if result.check == "tools"]
    assert (tools.status, tools.message) == ("WARN", f"ollama/{SMALL} did not answer a question within 120 seconds")


async def test_it_says_who_takes_the_second_look(tmp_path: Path) -> None:
    checker = "bespoke-minicheck:latest"
    ollama = Ollama({LARGE: MODELS[LARGE], checker: OllamaModel(size="7.7B")}, answer=lambda *_: CALLED)
    async with ollama.serve() as server:
        variables = {"FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL": f"{server.url}/v1"}

        async def second_look(name: str) -> tuple[int, list[dict[str, Any]]]:
            code, found = await doctor(tmp_path, **variables, FOOTNOTE_CITATIONS_MODEL=name)
            return code, found["second look"]

        assert await second_look("session") == (
            0,
            ok("the model of the run, if it has more than 4 billion parameters"),
        )
        assert await second_look("off") == (0, ok("nobody takes one: citations.model is off"))
        named = "ollama/bespoke-minicheck (citations.model): the server answers, a model for checking"
        assert await second_look("ollama/bespoke-minicheck") == (0, ok(named))
        code, [absent] = await second_look("ollama/qwen3")
        assert (code, absent["status"], absent["remedy"]) == (0, "WARN", "ollama pull qwen3")
        code, [keyless] = await second_look("openai/gpt-5")
        assert (code, keyless["status"]) == (0, "WARN")
        assert "OPENAI_API_KEY" in keyless["message"] + keyless["remedy"]
