"""An agent as a model of the OpenAI Chat Completions API: the official client against the real server."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from server.harness import LOCAL_TOKEN, ServerHarness, open_server, parse_events
from upstream import Upstream, call, cut, reply, say, stall, status, stop, think, usage

WRITE = call("write_file", {"file_path": "/report.md", "content": "# R\n"})


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with open_server(tmp_path, upstream) as server:
        yield server


@pytest.fixture
async def client(server: ServerHarness) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key=LOCAL_TOKEN, max_retries=0) as client:
        yield client


def request_body(text: str = "Why?", **more: Any) -> dict[str, Any]:
    return {"model": "researcher", "messages": [{"role": "user", "content": text}], **more}


async def test_a_stream_is_the_text_and_the_thoughts_of_the_agent_without_its_calls(
    client: AsyncOpenAI, upstream: Upstream
) -> None:
    upstream.script(
        reply(think("Hm."), say("I write."), WRITE, usage(20, 7), stop("toolUse")),
        reply(say("Giá của ", "股价 là 42 🙂."), usage(30, 9, cache_read=4, reasoning=3), stop()),
    )
    stream = await client.chat.completions.create(**request_body(stream=True, stream_options={"include_usage": True}))
    chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert [(delta.role, delta.content, getattr(delta, "reasoning_content", None)) for delta in deltas] == [
        ("assistant", "", None),
        (None, None, "Hm."),
        (None, "I write.", None),
        (None, "\n\n", None),
        (None, "Giá của ", None),
        (None, "股价 là 42 🙂.", None),
        (None, None, None),
    ]
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    *before, last = chunks
    assert [chunk.usage for chunk in before] == [None] * len(before)
    assert last.choices == []
    assert (last.usage.prompt_tokens, last.usage.completion_tokens, last.usage.total_tokens) == (54, 16, 70)
    assert last.usage.prompt_tokens_details.cached_tokens == 4
    assert {(chunk.id, chunk.model, chunk.object) for chunk in chunks} == {
        (last.id, "researcher", "chat.completion.chunk")
    }


async def test_without_the_wish_for_it_no_chunk_speaks_of_usage(client: AsyncOpenAI, upstream: Upstream) -> None:
    upstream.script(reply(say("42"), stop()))
    stream = await client.chat.completions.create(**request_body(stream=True))
    assert [(len(chunk.choices), chunk.usage) async for chunk in stream] == [(1, None)] * 3


async def test_the_helper_of_the_client_puts_the_stream_together(client: AsyncOpenAI, upstream: Upstream) -> None:
    upstream.script(reply(say("Giá ", "42"), stop()))
    async with client.chat.completions.stream(**request_body()) as stream:
        completion = await stream.get_final_completion()
    assert completion.choices[0].message.content == "Giá 42"


async def test_an_answer_at_once(client: AsyncOpenAI, upstream: Upstream) -> None:
    upstream.script(
        reply(think("Hm."), say("One."), WRITE, usage(10, 5), stop("toolUse")), reply(say("Two."), stop("length"))
    )
    completion = await client.chat.completions.create(
        **request_body(temperature=0.1, max_tokens=3, stop=["x"], user="u")
    )
    (choice,) = completion.choices
    assert (choice.message.role, choice.message.content) == ("assistant", "One.\n\nTwo.")
    assert choice.message.reasoning_content == "Hm."
    assert (choice.finish_reason, choice.message.tool_calls) == ("length", None)
    assert (completion.object, completion.usage.total_tokens) == ("chat.completion", 30)


async def test_what_was_said_before_is_the_conversation_before_the_question(
    client: AsyncOpenAI, upstream: Upstream
) -> None:
    upstream.script(reply(say("Since 1999."), stop()))
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "assistant", "content": "Hello! What do you want to know?"},
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "She."},
        {"role": "user", "content": [{"type": "text", "text": "Since when?"}]},
    ]
    await client.chat.completions.create(model="researcher", messages=messages)
    sent = [(one["role"], one["content"]) for one in upstream.requests[0].body["messages"] if one["role"] != "system"]
    question = "<instructions>\nBe brief.\n\nBe kind.\n</instructions>\n\nSince when?"
    assert sent == [
        ("user", "(The assistant begins.)"),
        ("assistant", "Hello! What do you want to know?"),
        ("user", "Who?"),
        ("assistant", "She."),
        ("user", question),
    ]


@pytest.mark.parametrize("model", ["gpt-none", "nobody/none"])
async def test_an_unknown_model_is_not_found(client: AsyncOpenAI, model: str) -> None:
    with pytest.raises(openai.NotFoundError) as raised:
        await client.chat.completions.create(**request_body(model=model))
    assert (raised.value.code, raised.value.type) == ("model_not_found", "invalid_request_error")


async def test_a_wrong_key_is_an_authentication_error(server: ServerHarness) -> None:
    async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="wrong", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError) as raised:
            await client.chat.completions.create(**request_body())
        assert raised.value.code == "invalid_api_key"
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"tools": [{"type": "function", "function": {"name": "t"}}]}, "tools"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"functions": [{"name": "t"}]}, "functions"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": "?"}, {"role": "tool", "content": "A"}]}, "messages"),
        ({"messages": [{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}]}, "tool_calls"),
        ({"n": 2}, "n"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": []}, "last message"),
        ({"messages": 5}, "messages"),
    ],
)
async def test_what_an_agent_cannot_do_is_refused_by_its_name(
    client: AsyncOpenAI, more: dict[str, Any], named: str
) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        await client.chat.completions.create(**request_body(**more))
    assert raised.value.type == "invalid_request_error"
    assert named in raised.value.message


async def test_a_failure_at_once_is_an_error_that_is_not_tried_again(server: ServerHarness, upstream: Upstream) -> None:
    upstream.script(status(400, "no"))
    async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key=LOCAL_TOKEN, max_retries=2) as client:
        with pytest.raises(openai.InternalServerError) as raised:
            await client.chat.completions.create(**request_body())
    assert raised.value.type == "server_error"
    assert len(upstream.requests) == 1


async def test_a_failure_in_a_stream_is_an_error(client: AsyncOpenAI, upstream: Upstream) -> None:
    upstream.script(reply(say("Half"), cut()))
    with pytest.raises(openai.APIError) as raised:
        async for _ in await client.chat.completions.create(**request_body(stream=True)):
            pass
    assert raised.value.type == "server_error"


async def test_a_client_that_goes_away_stops_its_run(
    client: AsyncOpenAI, server: ServerHarness, upstream: Upstream
) -> None:
    upstream.script(reply(say("Half"), stall()))
    stream = await client.chat.completions.create(**request_body(stream=True))
    async for chunk in stream:
        if chunk.choices[0].delta.content == "Half":
            break
    run_id = stream.response.headers["footnote-run"]
    await stream.close()
    async with asyncio.timeout(30):
        await upstream.requests[0].connection.closed.wait()
    events = parse_events((await server.local.request("GET", f"/v2/runs/{run_id}/events")).body)
    assert [one["delta"]["stop_reason"] for one in events if one["type"] == "message_delta"] == ["aborted"]


async def test_the_agents_are_the_models(client: AsyncOpenAI) -> None:
    page = await client.models.list()
    assert [(model.id, model.object, model.owned_by) for model in page.data] == [("researcher", "model", "footnote")]
