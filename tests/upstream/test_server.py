"""The scripted provider speaks what the official clients understand, and refuses what the real one refuses."""

import asyncio
from typing import Any

import aiohttp
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from upstream import (
    Upstream,
    Wire,
    call,
    cite,
    cut,
    hold,
    parallel_calls,
    redacted,
    refuse,
    reply,
    reset,
    say,
    stall,
    status,
    stop,
    think,
    usage,
)

RICH = (
    think("Để", " xem", signature="c2ln"),
    say("Xin", " chào 🚀"),
    parallel_calls(call("search", {"q": "cổ"}, id="call_a"), call("list", "", id="call_b")),
    usage(input=7, output=9, cache_read=2, reasoning=3),
    stop("toolUse"),
)
QUESTION: Any = {"model": "m", "messages": [{"role": "user", "content": "Why?"}]}


async def test_the_official_anthropic_client_reads_the_stream(upstream: Upstream):
    upstream.script(reply(redacted("ZGF0YQ=="), *RICH))
    headers = {"x-api-key": upstream.key or ""}
    official = AsyncAnthropic(api_key=upstream.key, base_url=upstream.url, default_headers=headers, max_retries=0)
    async with official, official.messages.stream(**QUESTION, max_tokens=100) as stream:
        whole = await stream.get_final_message()

    assert [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in whole.content] == [
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "thinking", "thinking": "Để xem", "signature": "c2ln"},
        {"type": "text", "text": "Xin chào 🚀"},
        {"type": "tool_use", "id": "call_a", "name": "search", "input": {"q": "cổ"}},
        {"type": "tool_use", "id": "call_b", "name": "list", "input": {}},
    ]
    assert (whole.stop_reason, whole.usage.input_tokens, whole.usage.output_tokens) == ("tool_use", 7, 9)


async def test_the_official_anthropic_client_reads_citations(upstream: Upstream):
    upstream.script(reply(say("So "), cite("it", " is", passages=("1.2",)), say("."), stop()))
    headers = {"x-api-key": upstream.key or ""}
    found = {
        "type": "search_result",
        "source": "https://example.org",
        "title": "Oxygen",
        "content": [{"type": "text", "text": "[1.1] A."}, {"type": "text", "text": "[1.2] B."}],
        "citations": {"enabled": True},
    }
    messages: Any = [
        *QUESTION["messages"],
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [found]}]},
    ]
    official = AsyncAnthropic(api_key=upstream.key, base_url=upstream.url, default_headers=headers, max_retries=0)
    async with official, official.messages.stream(model="m", messages=messages, max_tokens=100) as stream:
        whole = await stream.get_final_message()

    assert [getattr(block, "text", "") for block in whole.content] == ["So ", "it is", "."]
    [citation] = getattr(whole.content[1], "citations", None) or []
    assert citation.model_dump() == {
        "type": "search_result_location",
        "source": "https://example.org",
        "title": "Oxygen",
        "cited_text": "[1.2] B.",
        "search_result_index": 0,
        "start_block_index": 1,
        "end_block_index": 2,
    }


async def test_the_official_openai_client_reads_the_stream(upstream: Upstream):
    upstream.script(reply(*RICH))
    official = AsyncOpenAI(api_key=upstream.key, base_url=f"{upstream.url}/v1", max_retries=0)
    counted: Any = {"stream_options": {"include_usage": True}}
    async with official, official.chat.completions.stream(**QUESTION, **counted) as stream:
        whole = await stream.get_final_completion()

    answer = whole.choices[0]
    assert answer.message.content == "Xin chào 🚀"
    assert [(one.id, one.function.name, one.function.arguments) for one in answer.message.tool_calls or ()] == [
        ("call_a", "search", '{"q": "cổ"}'),
        ("call_b", "list", ""),
    ]
    assert answer.finish_reason == "tool_calls"
    assert whole.usage is not None
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (9, 9)


@pytest.fixture
async def client(upstream: Upstream):
    headers = {"authorization": f"Bearer {upstream.key}"}
    async with aiohttp.ClientSession(upstream.url, headers=headers) as session:
        yield session


def post_question(client: aiohttp.ClientSession, **more: Any) -> Any:
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Why?"}]} | more
    return client.post("/v1/chat/completions", json=body)


async def test_a_request_that_the_real_api_would_refuse_is_refused_and_noted(
    upstream: Upstream, client: aiohttp.ClientSession
):
    upstream.script(reply(say("never"), stop()))

    async with post_question(client, speling=1) as response:
        body = await response.json()

    assert response.status == 400
    assert body["error"]["message"] == "speling: Extra inputs are not permitted"
    assert upstream.problems == ["speling: Extra inputs are not permitted"]
    upstream.problems.clear()


async def test_a_request_beyond_the_script_is_noted(upstream: Upstream, client: aiohttp.ClientSession):
    async with post_question(client) as response:
        assert response.status == 400

    assert upstream.problems == ["request 1 has no answer in the script"]
    upstream.problems.clear()


async def test_a_path_of_no_api_is_noted(upstream: Upstream, client: aiohttp.ClientSession):
    async with client.post("/v2/messages", json={}) as response:
        assert response.status == 400

    assert upstream.problems == ["POST /v2/messages is neither of the two APIs"]
    upstream.problems.clear()


async def test_a_function_answers_every_request_from_its_place_on(upstream: Upstream, client: aiohttp.ClientSession):
    upstream.script(status(500), lambda request: reply(say(request.body["model"]), stop()))

    async with (
        post_question(client) as first,
        post_question(client) as second,
        post_question(client, model="other") as third,
    ):
        texts = [await one.text() for one in (second, third)]

    assert first.status == 500
    assert ['"content":"m"' in texts[0], '"content":"other"' in texts[1]] == [True, True]


async def test_a_held_answer_goes_on_when_it_is_let(upstream: Upstream, client: aiohttp.ClientSession):
    gate = asyncio.Event()
    upstream.script(reply(say("a"), hold(gate), say("b"), stop()))

    async with post_question(client) as response:
        await response.content.readany()
        gate.set()
        assert (await response.text()).endswith("data: [DONE]\n\n")


@pytest.mark.parametrize("end", [cut(), reset()], ids=["cut", "reset"])
async def test_a_broken_answer_breaks_the_clients_connection(
    upstream: Upstream, client: aiohttp.ClientSession, end: Any
):
    upstream.script(reply(say("a"), end))

    with pytest.raises(aiohttp.ClientError):
        async with post_question(client) as response:
            await response.read()


async def test_the_moment_when_a_client_goes_away_is_noted(upstream: Upstream, client: aiohttp.ClientSession):
    upstream.script(reply(say("a"), stall()))

    async with post_question(client) as response:
        await response.content.readany()
        response.close()
    await upstream.requests[0].connection.closed.wait()

    assert upstream.requests[0].connection.closed_at is not None


async def test_every_byte_can_be_a_piece_of_its_own(upstream: Upstream, client: aiohttp.ClientSession):
    upstream.script(reply(say("a"), stop(), wire=Wire(piece=1)))

    async with post_question(client) as response:
        sizes = {len(chunk) async for chunk, _ in response.content.iter_chunks()}

    assert sizes - {0} == {1}


async def test_a_refusal_is_written_as_each_provider_writes_it(upstream: Upstream, client: aiohttp.ClientSession):
    upstream.script(reply(refuse("No weapons")))

    async with post_question(client) as response:
        text = await response.text()

    assert '"delta":{"refusal":"No weapons"}' in text
    assert '"finish_reason":"stop"' in text
