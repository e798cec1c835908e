"""The validator of requests: for each rule a request that breaks it, and valid requests."""

from copy import deepcopy
from typing import Any

import pytest

from upstream import anthropic_rules, openai_rules

KEY = "sk-key"
ANTHROPIC_HEADERS = {
    "x-api-key": KEY,
    "anthropic-version": "2026-10-21",
    "content-type": "application/json",
}
OPENAI_HEADERS = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}

USE = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "x"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"}
SAYS = {"type": "text", "text": "Hi"}
FOUND = {
    "type": "search_result",
    "source": "https://example.org",
    "title": "Oxygen",
    "content": [SAYS],
    "citations": {"enabled": True},
}
TOOL = {"name": "search", "description": "d", "input_schema": {"type": "object", "properties": {}}}

ANTHROPIC: dict[str, Any] = {
    "model": "claude",
    "max_tokens": 4096,
    "stream": True,
    "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
    "thinking": {"type": "enabled", "budget_tokens": 2048},
    "tools": [TOOL],
    "messages": [
        {"role": "user", "content": "Why?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "redacted_thinking", "data": "d"},
                SAYS,
                USE,
            ],
        },
        {"role": "user", "content": [RESULT, {"type": "text", "text": "And?"}]},
    ],
}

MADE = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
OPENAI: dict[str, Any] = {
    "model": "gpt",
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_completion_tokens": 100,
    "tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}],
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": None, "tool_calls": [MADE]},
        {"role": "tool", "tool_call_id": "call_1", "content": "found"},
    ],
}


def with_change(body: Any, path: str, value: Any) -> Any:
    """A copy of `body` with `value` at `path` (`messages.1.role`); the value `...` removes the field."""
    copy = deepcopy(body)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = copy
    for part in parents:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return copy


def test_a_good_request_has_no_problems():
    assert anthropic_rules.request_problems(ANTHROPIC_HEADERS, ANTHROPIC, KEY) == []
    assert openai_rules.request_problems(OPENAI_HEADERS, OPENAI, KEY) == []


def test_search_results_in_the_result_of_a_tool_have_no_problems():
    body = with_change(ANTHROPIC, "messages.2.content.0.content", [SAYS, FOUND, FOUND, SAYS])

    assert anthropic_rules.request_problems(ANTHROPIC_HEADERS, body, KEY) == []


def assistant_message(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def tool_message(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


Q = assistant_message(SAYS)
BAD_ANTHROPIC: dict[str, tuple[str, Any]] = {
    "unknown field": ("speling", 1),
    "unknown field in a block": ("messages.2.content.1.extra", 1),
    "unknown field in a tool": ("tools.0.strictness", 1),
    "unknown block": ("messages.2.content.1", {"type": "of_tomorrow"}),
    "no model": ("model", ...),
    "no max_tokens": ("max_tokens", ...),
    "max_tokens as text": ("max_tokens", "4096"),
    "max_tokens of zero": ("max_tokens", 0),
    "not streamed": ("stream", False),
    "temperature": ("temperature", 1.0),
    "top_p": ("top_p", 0.9),
    "top_k": ("top_k", 5),
    "a small thinking budget": ("thinking.budget_tokens", 1023),
    "a thinking budget without room": ("thinking.budget_tokens", 4096),
    "tools as null": ("tools", None),
    "a tool without a schema": ("tools.0.input_schema", ...),
    "a tool whose schema is no object": ("tools.0.input_schema.type", "string"),
    "a bad tool name": ("tools.0.name", "web search"),
    "a tool name twice": ("tools", [TOOL, TOOL]),
    "no messages": ("messages", []),
    "an empty message": ("messages.0.content", []),
    "an empty text": ("messages.0.content", ""),
    "an empty text block": ("messages.2.content.1.text", ""),
    "a text of whitespace": ("messages.2.content.1.text", " \n"),
    "an empty system text": ("system.0.text", ""),
    "an answer first": ("messages", [tool_message(SAYS), Q]),
    "an answer last": ("messages", [Q, tool_message(SAYS)]),
    "a call without a result": ("messages.2.content", [SAYS]),
    "a call whose result comes later": ("messages", [Q, tool_message(USE), Q, assistant_message(RESULT)]),
    "a result without a call": ("messages", [assistant_message(RESULT)]),
    "a result twice": ("messages.2.content", [RESULT, RESULT]),
    "a result after a text": ("messages.2.content", [SAYS, RESULT]),
    "a call id twice": ("messages.1.content", [USE, USE]),
    "a call id again": (
        "messages",
        [Q, tool_message(USE), assistant_message(RESULT), tool_message(USE), assistant_message(RESULT)],
    ),
    "a bad call id": (
        "messages",
        [Q, tool_message(USE | {"id": "a|b"}), assistant_message(RESULT | {"tool_use_id": "a|b"})],
    ),
    "an empty text in a result": ("messages.2.content.0.content", [{"type": "text", "text": ""}]),
    "a search result in an error": ("messages.2.content.0", RESULT | {"is_error": True, "content": [FOUND]}),
    "a search result without text": ("messages.2.content.0.content", [FOUND | {"content": []}]),
    "a search result with an empty text": (
        "messages.2.content.0.content",
        [FOUND | {"content": [{"type": "text", "text": ""}]}],
    ),
    "a search result without a source": ("messages.2.content.0.content", [FOUND | {"source": None}]),
    "citations for one of two search results": (
        "messages.2.content.0.content",
        [FOUND, FOUND | {"citations": {"enabled": False}}],
    ),
    "input that is no object": ("messages.1.content.3.input", "x"),
    "thinking without a signature": ("messages.1.content.0.signature", ...),
    "thinking with an empty signature": ("messages.1.content.0.signature", ""),
    "five cache marks": (
        "messages.0.content",
        [SAYS | {"cache_control": {"type": "ephemeral"}}] * 4,
    ),
    "a bad cache mark": ("system.0.cache_control", {"type": "for_ever"}),
    "half a character": ("messages.0.content", "a\ud83d"),
    "half a character in a key": ("messages.1.content.3.input", {"\ud83d": 1}),
    "a bad role": ("messages.0.role", "tool"),
}


@pytest.mark.parametrize("case", BAD_ANTHROPIC)
def test_a_bad_anthropic_request_is_found(case: str):
    assert anthropic_rules.request_problems(ANTHROPIC_HEADERS, with_change(ANTHROPIC, *BAD_ANTHROPIC[case]), KEY) != []


@pytest.mark.parametrize(
    "headers",
    [{"x-api-key": "other"}, {"anthropic-version": "2023-06-01"}, {"content-type": "text/plain"}],
)
def test_bad_anthropic_headers_are_found(headers: dict[str, str]):
    assert anthropic_rules.request_problems(ANTHROPIC_HEADERS | headers, ANTHROPIC, KEY) != []


BAD_OPENAI: dict[str, tuple[str, Any]] = {
    "unknown field": ("speling", 1),
    "unknown field in a message": ("messages.2.reasoning_details", []),
    "no model": ("model", ...),
    "not streamed": ("stream", ...),
    "an empty tools list": ("tools", []),
    "tools as null": ("tools", None),
    "a bad tool name": ("tools.0.function.name", "web search"),
    "a tool name twice": ("tools", OPENAI["tools"] * 2),
    "two limits": ("max_tokens", 100),
    "a limit of zero": ("max_completion_tokens", 0),
    "tool_choice without tools": ("tools", ...),
    "no question": ("messages", [{"role": "system", "content": "s"}]),
    "an empty question": ("messages.1.content", ""),
    "an empty part": ("messages.1.content", [{"type": "text", "text": ""}]),
    "an answer of nothing": ("messages.2.tool_calls", ...),
    "an answer last": (
        "messages",
        [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
    ),
    "an empty list of calls": ("messages.2.tool_calls", []),
    "a call without an answer": ("messages", [*OPENAI["messages"][:3], {"role": "user", "content": "x"}]),
    "a call answered twice": ("messages", [*OPENAI["messages"], OPENAI["messages"][3]]),
    "an answer to no call": ("messages.3.tool_call_id", "call_2"),
    "a long call id": ("messages.2.tool_calls.0.id", "c" * 41),
    "arguments that are no JSON": ("messages.2.tool_calls.0.function.arguments", '{"q'),
    "arguments that are no object": ("messages.2.tool_calls.0.function.arguments", "[1]"),
    "arguments as an object": ("messages.2.tool_calls.0.function.arguments", {"q": "x"}),
    "a bad call name": ("messages.2.tool_calls.0.function.name", "a b"),
    "half a character": ("messages.1.content", "a\ud83d"),
}


@pytest.mark.parametrize("case", BAD_OPENAI)
def test_a_bad_openai_request_is_found(case: str):
    body = with_change(OPENAI, *BAD_OPENAI[case])
    if case == "tool_choice without tools":
        body["tool_choice"] = "auto"

    assert openai_rules.request_problems(OPENAI_HEADERS, body, KEY) != []


@pytest.mark.parametrize(
    ("headers", "key"),
    [({"authorization": "Bearer other"}, KEY), ({}, None), ({"content-type": "text/plain"}, KEY)],
)
def test_bad_openai_headers_are_found(headers: dict[str, str], key: str | None):
    assert openai_rules.request_problems(OPENAI_HEADERS | headers, OPENAI, key) != []


def test_fields_of_compatible_servers_are_allowed_by_name():
    body = with_change(OPENAI, "messages.2.reasoning_details", [])

    assert openai_rules.request_problems(OPENAI_HEADERS, body, KEY, frozenset({"reasoning_details"})) == []


def test_a_problem_names_its_place_and_not_the_other_members_of_a_union():
    body = with_change(ANTHROPIC, "messages.2.content.1.extra", 1)

    found = anthropic_rules.request_problems(ANTHROPIC_HEADERS, body, KEY)

    assert "messages.2.UserMessageParam.content.1.TextBlockParam.extra: Extra inputs are not permitted" in found
    assert not any("Image" in one for one in found)
