"""Model endpoints of all kinds: behind a proxy, without tools, found automatically."""

import asyncio
import logging
from pathlib import Path

import pytest

from footnote import App
from footnote.net.proxies import Proxies
from interaction.test_turns import answer_text, environment, follow
from upstream import Upstream, reply, say, status, stop


async def test_a_request_goes_through_the_proxy_that_the_environment_names(upstream: Upstream, tmp_path: Path):
    upstream.script(reply(say("Through."), stop()))
    variables = environment("anthropic", upstream, tmp_path) | {
        "FOOTNOTE_MODELS_PROVIDERS_ANTHROPIC_BASE_URL": "http://model.example",
        "HTTP_PROXY": upstream.url,
    }
    async with App.open(environ=variables) as app:
        assert answer_text(await follow(await app.ask("Hi?"))) == "Through."
    assert upstream.requests[0].headers["host"] == "model.example"


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://api.anthropic.com/v1/messages", "http://proxy:3128"),
        ("http://127.0.0.1:11434/v1", None),
        ("http://[::1]:11434/v1", None),
        ("http://localhost:8080/v1", None),
        ("https://models.corp.example/v1", None),
        ("https://corp.example/v1", None),
        ("https://notcorp.example/v1", "http://proxy:3128"),
    ],
)
def test_proxies_are_chosen_as_other_programs_choose_them(url: str, proxy: str | None):
    variables = {"HTTPS_PROXY": "http://proxy:3128", "http_proxy": "http://proxy:3128", "NO_PROXY": ".corp.example, x"}
    assert Proxies.from_environment(variables).for_url(url) == proxy


@pytest.mark.parametrize("api", ["anthropic", "openai"])
async def test_a_model_that_takes_no_tools_answers_without_them(
    api: str, upstream: Upstream, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    refusal = "registry.ollama.ai/library/gemma2:2b does not support tools"
    upstream.script(status(400, message=refusal), reply(say("As I am."), stop()))
    async with App.open(environ=environment(api, upstream, tmp_path)) as app:
        with caplog.at_level(logging.WARNING):
            assert answer_text(await follow(await app.ask("Hi?"))) == "As I am."
    assert ["tools" in request.body for request in upstream.requests] == [True, False]
    assert "does not take tools" in caplog.text


async def test_a_running_ollama_is_found_and_its_first_model_asked(upstream: Upstream, tmp_path: Path):
    upstream.key = None
    upstream.script(reply(say("From Ollama."), stop()))

    async def tags(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"object": "list", "data": [{"id": "qwen3:4b"}, {"id": "gemma"}]}'
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(tags, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        variables = {"FOOTNOTE_MODELS_PROVIDERS_OLLAMA_BASE_URL": f"http://127.0.0.1:{port}/v1"}
        async with App.open(environ={"FOOTNOTE_HOME": str(tmp_path), **variables}) as app:
            run = await app.ask("Hi?")
    assert run.model_id == "ollama/qwen3:4b"
