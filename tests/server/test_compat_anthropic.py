"""An agent as a model of the Anthropic Messages API: the official client against the real server."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic

from cli.small_web import FACT, article, env_for
from server.harness import LOCAL_TOKEN, ServerHarness, open_server, parse_events
from upstream import Upstream, call, cut, reply, say, stall, status, stop, think, usage
from web import Web
from web.providers import Hit, SearchServer

WRITE = call("write_file", {"file_path": "/report.md", "content": "# R\n"})


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with open_server(tmp_path, upstream) as server:
        yield server


@pytest.fixture
async def client(server: ServerHarness) -> AsyncIterator[AsyncAnthropic]:
    async with AsyncAnthropic(base_url=server.url, api_key=LOCAL_TOKEN, max_retries=0) as client:
        yield client


def request_body(text: str = "Why?", **more: Any) -> dict[str, Any]:
    return {"model": "researcher", "max_tokens": 1000, "messages": [{"role": "user", "content": text}], **more}


async def test_a_stream_is_the_text_and_the_thoughts_of_the_agent_without_its_calls(
    client: AsyncAnthropic, upstream: Upstream
) -> None:
    upstream.script(
        reply(say("I write."), WRITE, usage(20, 7), stop("toolUse")),
        reply(say("Giá của ", "股价 là 42 🙂."), usage(30, 9, cache_read=4, cache_write=2), stop()),
    )
    async with client.messages.stream(**request_body("Giá?")) as stream:
        events = [event async for event in stream]
        message = await stream.get_final_message()
    assert [event.type for event in events if event.type != "text"] == [
        "message_start",
        *["content_block_start", "content_block_delta", "content_block_stop"],
        *["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"],
        "message_delta",
        "message_stop",
    ]
    assert [block.text for block in message.content] == ["I write.", "Giá của 股价 là 42 🙂."]
    assert (message.role, message.model, message.stop_reason) == ("assistant", "researcher", "end_turn")
    counted = message.usage
    assert (counted.input_tokens, counted.output_tokens, counted.cache_read_input_tokens) == (50, 16, 4)


async def test_an_answer_at_once_has_the_same_blocks(client: AsyncAnthropic, upstream: Upstream) -> None:
    upstream.script(reply(think("Hm, ", "well."), say("Because."), usage(10, 5), stop()))
    response = await client.messages.with_raw_response.create(**request_body())
    message = await response.parse()
    assert [(block.type, getattr(block, block.type)) for block in message.content] == [
        ("thinking", "Hm, well."),
        ("text", "Because."),
    ]
    assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("end_turn", 10, 5)
    assert response.headers["footnote-session"].startswith("session_")


async def test_thoughts_are_streamed_as_thoughts(client: AsyncAnthropic, upstream: Upstream) -> None:
    upstream.script(reply(think("Hm."), say("42"), stop()))
    async with client.messages.stream(**request_body()) as stream:
        message = await stream.get_final_message()
    assert [(block.type, getattr(block, block.type)) for block in message.content] == [
        ("thinking", "Hm."),
        ("text", "42"),
    ]


async def test_an_answer_that_was_cut_says_so(client: AsyncAnthropic, upstream: Upstream) -> None:
    upstream.script(reply(say("42"), stop("length")))
    assert (await client.messages.create(**request_body())).stop_reason == "max_tokens"


async def test_what_was_said_before_is_the_conversation_before_the_question(
    client: AsyncAnthropic, server: ServerHarness, upstream: Upstream
) -> None:
    upstream.script(reply(say("Since 1999."), stop()))
    messages = [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": ""}, text("She.")]},
        {"role": "user", "content": [text("Since"), text("when?")]},
    ]
    response = await client.messages.with_raw_response.create(
        model="researcher", max_tokens=9, messages=messages, system=[text("Be brief.")]
    )
    sent = [(one["role"], one["content"]) for one in upstream.requests[0].body["messages"] if one["role"] != "system"]
    question = "<instructions>\nBe brief.\n</instructions>\n\nSince\n\nwhen?"
    assert sent == [("user", "Who?"), ("assistant", "She."), ("user", question)]
    history = await server.local.request("GET", f"/v2/sessions/{response.headers['footnote-session']}/history")
    assert [(one["role"], one["content"][0]["text"]) for one in history.json["messages"]] == [
        *sent,
        ("assistant", "Since 1999."),
    ]


def text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


async def test_the_session_of_a_call_is_not_listed_among_those_of_people(
    client: AsyncAnthropic, server: ServerHarness, upstream: Upstream
) -> None:
    upstream.script(reply(say("42"), stop()))
    await client.messages.create(**request_body())
    assert (await server.local.request("GET", "/v2/sessions")).json["sessions"] == []


async def test_a_model_of_a_provider_is_used_by_the_first_agent(client: AsyncAnthropic, upstream: Upstream) -> None:
    upstream.script(reply(say("42"), stop()))
    message = await client.messages.create(**request_body(model="openai/gpt-other"))
    assert (message.model, upstream.requests[0].body["model"]) == ("openai/gpt-other", "gpt-other")


@pytest.mark.parametrize("model", ["claude-none", "nobody/none", "researchers"])
async def test_an_unknown_model_is_not_found(client: AsyncAnthropic, model: str) -> None:
    with pytest.raises(anthropic.NotFoundError) as raised:
        await client.messages.create(**request_body(model=model))
    assert raised.value.body["error"]["type"] == "not_found_error"
    assert model.partition("/")[0] in raised.value.body["error"]["message"]


async def test_a_wrong_key_is_an_authentication_error(server: ServerHarness) -> None:
    async with AsyncAnthropic(base_url=server.url, api_key="wrong", max_retries=0) as client:
        with pytest.raises(anthropic.AuthenticationError) as raised:
            await client.messages.create(**request_body())
    assert raised.value.body["type"] == "error"
    assert raised.value.body["error"]["type"] == "authentication_error"


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"tools": [{"name": "t", "input_schema": {"type": "object"}}]}, "tools"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "A"}]}, "last message"),
        ({"messages": []}, "last message"),
        ({"messages": [{"role": "user", "content": " "}]}, "last message"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [5]}]}, "messages[0].content[0]"),
        ({"messages": "?"}, "messages"),
        ({"model": 5}, "model"),
    ],
)
async def test_what_an_agent_cannot_do_is_refused_by_its_name(
    client: AsyncAnthropic, more: dict[str, Any], named: str
) -> None:
    with pytest.raises(anthropic.BadRequestError) as raised:
        await client.messages.create(**request_body(**more))
    assert raised.value.body["error"]["type"] == "invalid_request_error"
    assert named in raised.value.body["error"]["message"]


async def test_a_failure_at_once_is_an_error_that_is_not_tried_again(server: ServerHarness, upstream: Upstream) -> None:
    upstream.script(status(400, "no"))
    async with AsyncAnthropic(base_url=server.url, api_key=LOCAL_TOKEN, max_retries=2) as client:
        with pytest.raises(anthropic.InternalServerError) as raised:
            await client.messages.create(**request_body())
    assert raised.value.body["error"]["type"] == "api_error"
    assert len(upstream.requests) == 1


async def test_a_failure_in_a_stream_is_an_error_event(client: AsyncAnthropic, upstream: Upstream) -> None:
    upstream.script(reply(say("Half"), cut()))
    async with client.messages.stream(**request_body()) as stream:
        with pytest.raises(anthropic.APIStatusError) as raised:
            await stream.until_done()
    assert raised.value.body["error"]["type"] == "api_error"


async def test_a_client_that_goes_away_stops_its_run(
    client: AsyncAnthropic, server: ServerHarness, upstream: Upstream
) -> None:
    upstream.script(reply(say("Half"), stall()))
    async with client.messages.stream(**request_body()) as stream:
        async for word in stream.text_stream:
            assert word == "Half"
            break
        run_id = stream.response.headers["footnote-run"]
    async with asyncio.timeout(30):
        await upstream.requests[0].connection.closed.wait()
    events = parse_events((await server.local.request("GET", f"/v2/runs/{run_id}/events")).body)
    assert [one["delta"]["stop_reason"] for one in events if one["type"] == "message_delta"] == ["aborted"]


async def test_a_client_that_does_not_wait_for_the_whole_answer_stops_its_run(
    client: AsyncAnthropic, upstream: Upstream
) -> None:
    upstream.script(reply(say("Half"), stall()))
    running = asyncio.create_task(client.messages.create(**request_body()))
    request = await upstream.wait_received(1)
    running.cancel()
    await asyncio.wait([running])
    async with asyncio.timeout(30):
        await request.connection.closed.wait()


async def test_cited_sources_are_listed_at_the_end(tmp_path: Path, upstream: Upstream) -> None:
    async with (
        Web() as web,
        SearchServer("brave", lambda _: [Hit("Oxygen *[1]*", web.url("/oxygen"))]) as search_server,
    ):
        web.put("/oxygen", article("Oxygen", FACT))
        upstream.script(
            reply(call("web_search", {"query": "oxygen", "prompt": "Who?"}), stop("toolUse")),
            reply(say(f"{FACT} [1]"), stop()),
            reply(say(f"{FACT} [1]"), stop()),
        )
        settings = env_for(
            tmp_path, web, search_server, upstream=upstream, FOOTNOTE_TOOLS_WEB_SEARCH_DEFAULT_PROVIDER="brave"
        )
        async with (
            open_server(tmp_path, upstream, **settings) as server,
            AsyncAnthropic(base_url=server.url, api_key=LOCAL_TOKEN, max_retries=0) as client,
        ):
            message = await client.messages.create(**request_body("Who isolated oxygen?"))
    *_, answer, sources = [block.text for block in message.content]
    assert answer == f"{FACT} [1]"
    assert sources == f"Sources:\n- [1] Oxygen \\*\\[1\\]\\*: {web.url('/oxygen')}"


async def test_the_limit_of_runs_is_a_rate_limit_and_leaves_nothing_behind(tmp_path: Path, upstream: Upstream) -> None:
    upstream.script(reply(say("Half"), stall()))
    async with (
        open_server(tmp_path, upstream, FOOTNOTE_LIMITS_RUNS_PER_USER="1") as server,
        AsyncAnthropic(base_url=server.url, api_key=LOCAL_TOKEN, max_retries=0) as client,
        client.messages.stream(**request_body()) as stream,
    ):
        async for _ in stream.text_stream:
            break
        with pytest.raises(anthropic.RateLimitError) as raised:
            await client.messages.create(**request_body())
    assert raised.value.body["error"]["type"] == "rate_limit_error"


async def test_the_agents_are_the_models(client: AsyncAnthropic) -> None:
    page = await client.models.list()
    assert [(model.id, model.display_name, model.type) for model in page.data] == [
        ("researcher", "Researcher", "model")
    ]
    assert not page.has_more
