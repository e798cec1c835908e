"""What the OpenAI chat completions API refuses although the SDK's types allow it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from upstream.sdk_types import openai_problems
from upstream.surrogates import lone_surrogates

_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_MAX_ID = 40


def request_problems(
    headers: Mapping[str, str], body: Any, key: str | None, extensions: frozenset[str] = frozenset()
) -> list[str]:
    """Everything for which the real API would respond with 400 or 401; empty for a valid request.

    `extensions`: fields of messages, and of their calls, that a compatible server knows beyond the official API.
    """
    found = [*_headers(headers, key), *lone_surrogates(body)]
    if types := openai_problems(_sdk_problems(body, extensions)):
        return [*found, *types]
    return [*found, *_settings(body), *_tools(body), *_messages(body["messages"])]


def _sdk_problems(body: Any, extensions: frozenset[str]) -> Any:
    if not extensions or not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        return body
    return body | {"messages": [_without(extensions, message) for message in body["messages"]]}


def _without(extensions: frozenset[str], fields: dict[str, Any]) -> dict[str, Any]:
    """A message, and each of its calls, without the extensions of a server."""
    known = {name: value for name, value in fields.items() if name not in extensions}
    if isinstance(calls := known.get("tool_calls"), list):
        known["tool_calls"] = [_without(extensions, call) for call in calls]
    return known


def _headers(headers: Mapping[str, str], key: str | None) -> Iterator[str]:
    expected = None if key is None else f"Bearer {key}"
    if headers.get("authorization") != expected:
        yield "authorization: incorrect API key provided"
    if not headers.get("content-type", "").startswith("application/json"):
        yield "content-type: must be application/json"


def _settings(body: dict[str, Any]) -> Iterator[str]:
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield "max_tokens: not together with max_completion_tokens"
    for name in ("max_tokens", "max_completion_tokens"):
        if name in body and body[name] < 1:
            yield f"{name}: must be at least 1"


def _tools(body: dict[str, Any]) -> Iterator[str]:
    if "tools" not in body:
        yield from (f"{name}: only with tools" for name in ("tool_choice", "parallel_tool_calls") if name in body)
        return
    if not body["tools"]:
        yield "tools: [] is too short"
    names = [tool["function"]["name"] for tool in body["tools"]]
    if len(names) != len(set(names)):
        yield "tools: function names must be unique"
    yield from (f"tools: name {name!r} is invalid" for name in names if not _TOOL_NAME.match(name))


def _messages(messages: list[dict[str, Any]]) -> Iterator[str]:
    if not any(message["role"] == "user" for message in messages):
        yield "messages: no message of the user"
    if messages and messages[-1]["role"] == "assistant":
        yield "messages: the last message must not be of the assistant"
    for at, message in enumerate(messages):
        yield from (f"messages.{at}: {fault}" for fault in _message(message))
        yield from (f"messages.{at}: {fault}" for fault in _answers(at, messages))


def _message(message: dict[str, Any]) -> Iterator[str]:
    content = message.get("content")
    match message["role"]:
        case "assistant":
            if not content and not message.get("tool_calls"):
                yield "an assistant message needs content or tool_calls"
            if "tool_calls" in message and not message["tool_calls"]:
                yield "tool_calls: [] is too short"
            for call in message.get("tool_calls", ()):
                yield from _call(call)
        case "user" if not content:
            yield "a user message needs content"
        case _:
            pass
    if isinstance(content, list):
        yield from ("empty text part" for part in content if part["type"] == "text" and not part["text"])


def _call(call: dict[str, Any]) -> Iterator[str]:
    if not 0 < len(call["id"]) <= _MAX_ID:
        yield f"tool call id of {len(call['id'])} characters, 1 to {_MAX_ID} are allowed"
    if not _TOOL_NAME.match(call["function"]["name"]):
        yield f"tool call name {call['function']['name']!r} is invalid"
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        yield "tool call arguments are not JSON"
    else:
        if not isinstance(arguments, dict):
            yield "tool call arguments are not a JSON object"


def _answers(at: int, messages: list[dict[str, Any]]) -> Iterator[str]:
    """Tool messages follow the message with their calls, one for each call; there is no other tool message."""
    if messages[at]["role"] == "tool":
        before = next((one for one in reversed(messages[:at]) if one["role"] != "tool"), None)
        known = [call["id"] for call in (before or {}).get("tool_calls", ())]
        if messages[at]["tool_call_id"] not in known:
            yield "a tool message must answer a call of the message before it"
        return
    called = [call["id"] for call in messages[at].get("tool_calls", ())]
    if len(called) != len(set(called)):
        yield "tool call ids must be unique"
    answered_ids: list[str] = []
    for message in messages[at + 1 :]:
        if message["role"] != "tool":
            break
        answered_ids.append(message["tool_call_id"])
    yield from (f"tool call {one!r} is not answered" for one in called if answered_ids.count(one) != 1)
