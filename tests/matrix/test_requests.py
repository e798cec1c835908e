"""What is sent: the fields of a request, and the round that brings tool results back.

The upstream refuses, and fails the test, when a request breaks the official types or the API's rules; these tests
say beyond that what the request looks like.
"""

import json

import pytest

from footnote.models.base import Context, Options
from footnote.models.profiles import Profile
from footnote.protocol.messages import (
    ToolCall,
    user_message,
)
from matrix.adapters import PROFILE, HttpAdapter, collect_events, final_message
from matrix.history import BLIND, FILES, MARK, SEARCH, assistant_answer, result, result_ids
from upstream import call, redacted, reply, say, stop, think


async def test_an_anthropic_request_in_full(anthropic: HttpAdapter):
    body = await anthropic.request_body(
        user_message("Why?"), system="Be brief.", tools=(SEARCH, FILES), options=Options(max_tokens=500)
    )

    assert body == {
        "model": "the-model",
        "stream": True,
        "max_tokens": 500,
        "system": [{"type": "text", "text": "Be brief.", **MARK}],
        "tools": [
            {"name": "web_search", "description": "Searches.", "input_schema": SEARCH.input_schema},
            {"name": "list_files", "description": "Lists.", "input_schema": FILES.input_schema, **MARK},
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Why?", **MARK}]}],
    }


async def test_an_openai_request_in_full(openai: HttpAdapter):
    body = await openai.request_body(
        user_message("Why?"), system="Be brief.", tools=(SEARCH,), options=Options(max_tokens=500)
    )

    function = {"name": "web_search", "description": "Searches.", "parameters": SEARCH.input_schema}
    assert body == {
        "model": "the-model",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 500,
        "tools": [{"type": "function", "function": function}],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
    }


async def test_without_tools_there_is_no_tools_field(http: HttpAdapter):
    assert "tools" not in await http.request_body(user_message("Why?"))


@pytest.mark.parametrize("system", ["", "  \n"])
async def test_without_a_system_prompt_there_is_none_in_the_request(http: HttpAdapter, system: str):
    body = await http.request_body(user_message("Why?"), system=system)

    assert "system" not in body
    assert [one["role"] for one in body["messages"]] == ["user"]


@pytest.mark.parametrize("slash", ["", "/"])
async def test_a_base_url_may_end_in_a_slash(http: HttpAdapter, slash: str):
    http.script(reply(say("Yes."), stop()))

    await collect_events(http.model(base_url=f"{http.upstream.url}/proxy/of/ours{slash}"))

    path = {"anthropic": "/proxy/of/ours/v1/messages", "openai": "/proxy/of/ours/chat/completions"}
    assert http.upstream.requests[0].path == path[http.provider]


async def test_a_server_without_a_key_is_sent_none(openai: HttpAdapter):
    openai.upstream.key = None
    openai.script(reply(say("Yes."), stop()))

    await openai.ask()

    assert "authorization" not in openai.upstream.requests[0].headers


async def test_other_servers_than_openai_get_the_older_name_of_the_limit(openai: HttpAdapter):
    openai.script(reply(say("Yes."), stop()))

    await collect_events(openai.model(provider="ollama"), options=Options(max_tokens=500))

    body = openai.upstream.requests[0].body
    assert (body["max_tokens"], "max_completion_tokens" in body) == (500, False)


async def test_more_than_the_model_can_say_is_not_asked_for(http: HttpAdapter):
    body = await http.request_body(user_message("Why?"), options=Options(max_tokens=10**6))

    assert body.get("max_tokens", body.get("max_completion_tokens")) == PROFILE.max_output


async def test_sampling_parameters_are_never_sent_to_anthropic(anthropic: HttpAdapter):
    body = await anthropic.request_body(user_message("Why?"), options=Options(temperature=0.5))

    assert not body.keys() & {"temperature", "top_p", "top_k"}


async def test_the_temperature_goes_to_models_that_take_one(openai: HttpAdapter):
    plain = await openai.request_body(user_message("Why?"), options=Options(temperature=0.5), profile=BLIND)
    thinks = Profile(thinking="effort")
    thoughtful = await openai.request_body(user_message("Why?"), options=Options(temperature=0.5), profile=thinks)

    assert (plain["temperature"], "temperature" in thoughtful) == (0.5, False)


@pytest.mark.parametrize("budget", [1, 1024, 5_000, 63_999, 10**6])
@pytest.mark.parametrize("max_tokens", [None, 1, 2_000, 10**6])
async def test_a_thinking_budget_always_leaves_room_for_the_answer(
    anthropic: HttpAdapter, budget: int, max_tokens: int | None
):
    body = await anthropic.request_body(
        user_message("Why?"), options=Options(thinking_budget=budget, max_tokens=max_tokens)
    )

    thinking_budget = body["thinking"]["budget_tokens"]
    assert 1024 <= thinking_budget <= body["max_tokens"] - 1024 <= PROFILE.max_output
    assert thinking_budget == min(max(budget, 1024), PROFILE.max_output - 1024)


@pytest.mark.parametrize(("budget", "effort"), [(1024, "low"), (8_192, "medium"), (32_000, "high")])
async def test_models_that_take_an_effort_get_one(http: HttpAdapter, budget: int, effort: str):
    style = "adaptive" if http.api == "anthropic" else "effort"
    body = await http.request_body(
        user_message("Why?"), options=Options(thinking_budget=budget), profile=Profile(thinking=style)
    )

    if http.api == "anthropic":
        assert body["output_config"] == {"effort": effort}
        assert body["thinking"]["type"] == "adaptive"
    else:
        assert body["reasoning_effort"] == effort


async def test_a_model_that_does_not_think_is_not_asked_to(http: HttpAdapter):
    body = await http.request_body(user_message("Why?"), options=Options(thinking_budget=5_000), profile=BLIND)

    assert not body.keys() & {"thinking", "output_config", "reasoning_effort"}


async def test_a_model_that_nobody_knows_thinks_as_much_as_the_operator_says(anthropic: HttpAdapter):
    body = await anthropic.request_body(
        user_message("Why?"), options=Options(thinking_budget=10_000), profile=Profile()
    )

    assert body["thinking"] == {"type": "enabled", "budget_tokens": 10_000}
    assert body["max_tokens"] > 10_000


async def test_a_round_trip_of_thinking_text_and_parallel_calls(anthropic: HttpAdapter):
    anthropic.script(
        reply(
            think("Hm.", signature="c2ln"),
            redacted("ZGF0YQ=="),
            say("I will look."),
            call("web_search", {"query": "a"}, id="toolu_1"),
            call("web_search", {"query": "b"}, id="toolu_2"),
            call("list_files", "", id="toolu_3"),
            stop("toolUse"),
        ),
        reply(say("Done."), stop()),
    )
    question = user_message("Why?")
    first = final_message(await anthropic.ask(Context("", (question,), (SEARCH, FILES))))
    results = (
        result("toolu_1", "A"),
        result("toolu_2", "B", is_error=True),
        result("toolu_3", "C", "list_files"),
    )

    await anthropic.ask(Context("", (question, first, *results), (SEARCH, FILES)))

    assert anthropic.upstream.requests[1].body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "ZGF0YQ=="},
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": "a"}},
                {"type": "tool_use", "id": "toolu_2", "name": "web_search", "input": {"query": "b"}},
                {"type": "tool_use", "id": "toolu_3", "name": "list_files", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "A"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "B", "is_error": True},
                {"type": "tool_result", "tool_use_id": "toolu_3", "content": "C", **MARK},
            ],
        },
    ]


async def test_a_round_trip_of_parallel_calls_over_chat_completions(openai: HttpAdapter):
    openai.script(
        reply(
            say("I will look."),
            call("web_search", {"query": "cổ"}, id="call_1"),
            call("list_files", "", id="call_2"),
            stop("toolUse"),
        ),
        reply(say("Done."), stop()),
    )
    question = user_message("Why?")
    first = final_message(await openai.ask(Context("", (question,), (SEARCH, FILES))))

    await openai.ask(Context("", (question, first, result("call_1", "A"), result("call_2", "B")), (SEARCH, FILES)))

    sent = openai.upstream.requests[1].body["messages"]
    arguments = [json.loads(one["function"].pop("arguments")) for one in sent[1]["tool_calls"]]
    assert arguments == [{"query": "cổ"}, {}]
    assert sent == [
        {"role": "user", "content": "Why?"},
        {
            "role": "assistant",
            "content": "I will look.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "web_search"}},
                {"id": "call_2", "type": "function", "function": {"name": "list_files"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "A"},
        {"role": "tool", "tool_call_id": "call_2", "content": "B"},
    ]


async def test_results_go_back_in_the_order_of_the_calls(http: HttpAdapter):
    calls = [ToolCall(name, "web_search", {}) for name in ("one", "two")]

    body = await http.request_body(
        user_message("Why?"),
        assistant_answer(*calls, by=http.id, reason="toolUse"),
        result("two", "2"),
        result("one", "1"),
    )

    assert result_ids(body) == ["one", "two"]


async def test_what_the_user_says_after_results_comes_after_them(http: HttpAdapter):
    body = await http.request_body(
        user_message("Why?"),
        assistant_answer(ToolCall("one", "web_search", {}), by=http.id, reason="toolUse"),
        result("one", "1"),
        user_message("Stop that."),
    )

    if http.api == "anthropic":
        assert [block["type"] for block in body["messages"][-1]["content"]] == ["tool_result", "text"]
    else:
        assert [one["role"] for one in body["messages"]] == ["user", "assistant", "tool", "user"]
