"""A new user with Ollama and nothing configured: the model is found, its window is kept, its style fits its size."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from footnote import App
from footnote.protocol.events import ErrorEvent, Event
from interaction.test_search import hits, keyless
from interaction.test_turns import answer_text, follow, results
from upstream import ModelReply, call, reply, say, stop
from upstream.model_server import JsonServer, Ollama, OllamaModel
from web import Web
from web.providers import SearchServer

SMALL, LARGE = "qwen2.5:1.5b", "mistral-small:24b"
MODELS = {SMALL: OllamaModel(), LARGE: OllamaModel(size="23.6B", count=23_572_403_200, trained=131_072)}


def environment(server: JsonServer, home: Path, **more: str) -> dict[str, str]:
    """Everything as on a machine where Ollama runs, but for its port."""
    base = {"FOOTNOTE_HOME": str(home), "FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL": f"{server.url}/v1"}
    return {**base, "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": "http://127.0.0.1:9", **more}


@asynccontextmanager
async def serving(ollama: Ollama, home: Path, **more: str) -> AsyncIterator[App]:
    async with ollama.serve() as server, App.open(environ=environment(server, home, **more)) as app:
        yield app


def errors(events: list[Event]) -> list[ErrorEvent]:
    return [event for event in events if isinstance(event, ErrorEvent)]


async def test_the_first_model_of_a_running_ollama_is_used_with_what_ollama_says_of_it(tmp_path: Path):
    async with serving(Ollama({SMALL: OllamaModel(), LARGE: MODELS[LARGE]}), tmp_path) as app:
        small = await app.model(app.configuration.agent())
        large = await app.model(app.configuration.agent(), f"ollama/{LARGE}")

    assert small.id == f"ollama/{SMALL}"
    assert (small.profile.window, small.profile.billions, small.profile.is_guided) == (4_096, 1.543714304, True)
    assert (large.profile.window, large.profile.tools, large.profile.is_guided) == (4_096, True, False)


async def test_small_talk_with_a_small_model_is_answered(tmp_path: Path):
    ollama = Ollama(MODELS, answer=lambda *_: reply(say("Hello!"), stop()))
    async with serving(ollama, tmp_path) as app:
        events = await follow(await app.ask("Hello, how are you?"))

    assert answer_text(events) == "Hello!"
    assert ollama.cut == 0


async def test_a_model_that_cannot_call_tools_is_guided_whatever_its_size(tmp_path: Path):
    blind = OllamaModel(size="27.4B", count=27_432_406_640, capabilities=("completion", "vision"))
    async with serving(Ollama({"gemma3:27b": blind}), tmp_path) as app:
        model = await app.model(app.configuration.agent())

    assert (model.profile.tools, model.profile.is_guided, model.profile.keeps_tools) == (False, True, False)


async def test_the_window_is_that_of_the_loaded_model_from_the_second_question_on(tmp_path: Path):
    ollama = Ollama({LARGE: MODELS[LARGE]}, window=16_384)
    async with serving(ollama, tmp_path) as app:
        assert (await app.model(app.configuration.agent())).profile.window == 4_096
        await follow(await app.ask("Hello!"))
        assert (await app.model(app.configuration.agent())).profile.window == 16_384


async def test_what_the_settings_say_wins_over_the_server(tmp_path: Path):
    profiles = {f"ollama/{SMALL}": {"window": 2_048, "style": "agentic", "billions": 99, "tools": False}}
    async with serving(Ollama(MODELS), tmp_path, FOOTNOTE_MODELS_PROFILES=json.dumps(profiles)) as app:
        profile = (await app.model(app.configuration.agent())).profile

    assert (profile.window, profile.is_guided, profile.billions, profile.tools) == (2_048, False, 99, False)


# A small window ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [SMALL, LARGE])
async def test_a_long_session_stays_within_a_small_window(name: str, tmp_path: Path):
    """Ollama would drop the beginning of a longer request: the instructions, then the evidence."""
    long = "Swifts sleep on the wing and land only to nest, year after year. " * 30
    ollama = Ollama({name: MODELS[name]}, answer=lambda *_: reply(say(long), stop()))
    async with serving(ollama, tmp_path) as app:
        run = await app.ask(f"Hello! {long}")
        events = await follow(run)
        for turn in range(12):
            run = await app.ask(f"Thanks, please go on with part {turn}. {long}", after=run)
            events = await follow(run)

    assert answer_text(events).startswith("Swifts sleep")
    assert ollama.cut == 0
    assert len(ollama.chats) >= 13


async def test_searches_stay_within_a_small_window(tmp_path: Path, web: Web):
    """Five pages, each of them larger than the whole window, in every turn of a session."""

    def answer(_: str, body: Any) -> ModelReply:
        if body.get("tools") and body["messages"][-1]["role"] == "user":
            return reply(call("web_search", {"query": f"oxygen {len(ollama.chats)}"}), stop("toolUse"))
        return reply(say("Antoine Lavoisier coined the name oxygen in 1777. [1]"), stop())

    ollama = Ollama({LARGE: MODELS[LARGE]}, answer=answer)
    pages = hits(web, "/en/Oxygen", "/en/Normans", "/en/Huguenot", "/en/Pharmacy", "/en/Imperialism")
    async with SearchServer("duckduckgo", pages) as search, ollama.serve() as server:
        settings = keyless(tmp_path, web, search, FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL=f"{server.url}/v1")
        async with App.open(environ=settings) as app:
            run = await app.ask("Who coined the name oxygen in 1777?")
            events = await follow(run)
            for year in range(1778, 1784):
                run = await app.ask(f"Who wrote about oxygen in {year}?", after=run)
                events = await follow(run)

    assert [result.status for result in results(events)] == ["success"]
    assert answer_text(events).startswith("Antoine Lavoisier")
    assert ollama.cut == 0
    answering = [chat["messages"] for chat in ollama.chats if chat["messages"][-1]["role"] == "tool"]
    assert len(answering) == 7
    assert all("Evidence:" in messages[-1]["content"] for messages in answering)


async def test_a_small_model_answers_from_passages_within_a_small_window(tmp_path: Path, web: Web):
    ollama = Ollama(
        {SMALL: MODELS[SMALL]}, answer=lambda *_: reply(say("Antoine Lavoisier coined the name oxygen. [1]"), stop())
    )
    pages = hits(web, "/en/Oxygen", "/en/Normans", "/en/Huguenot", "/en/Pharmacy", "/en/Imperialism")
    async with SearchServer("duckduckgo", pages) as search, ollama.serve() as server:
        settings = keyless(tmp_path, web, search, FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL=f"{server.url}/v1")
        async with App.open(environ=settings) as app:
            run = await app.ask("Who coined the name oxygen in 1777?")
            events = await follow(run)
            for year in range(1778, 1784):
                run = await app.ask(f"Who wrote about oxygen in {year}?", after=run)
                events += await follow(run)

    assert [result.status for result in results(events)] == ["success"] * 7
    assert ollama.cut == 0
    asked = [str(chat["messages"][-1]["content"]) for chat in ollama.chats]
    assert len([text for text in asked if "Question: " in text and "<web_text" in text]) == 7
    assert not any("tools" in chat for chat in ollama.chats)


# What goes wrong -----------------------------------------------------------------------------------------------


async def test_without_ollama_its_model_fails_at_once_and_says_how_to_start_it(tmp_path: Path):
    async with Ollama(MODELS).serve() as server:
        settings = environment(server, tmp_path, FOOTNOTE_MODELS_DEFAULT=f"ollama/{SMALL}")
    async with App.open(environ=settings) as app:
        [error] = errors(await follow(await app.ask("Hello!")))

    assert (error.error.code, error.error.params["provider"]) == ("ollama_stopped", "ollama")
    assert "ollama serve" in error.error.message


async def test_a_model_that_was_not_pulled_is_named_with_the_command(tmp_path: Path):
    async with serving(Ollama(MODELS), tmp_path, FOOTNOTE_MODELS_DEFAULT="ollama/qwen3:4b") as app:
        [error] = errors(await follow(await app.ask("Hello!")))

    assert (error.error.code, error.error.params["model"]) == ("ollama_model_missing", "qwen3:4b")
    assert "ollama pull qwen3:4b" in error.error.message
