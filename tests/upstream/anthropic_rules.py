"""What the Anthropic Messages API refuses although the SDK's types allow it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from upstream.sdk_types import anthropic_problems
from upstream.surrogates import lone_surrogates

VERSION = "2026-10-21"
_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_MAX_CACHE_MARKS = 4
_MIN_BUDGET = 1024


def request_problems(headers: Mapping[str, str], body: Any, key: str | None) -> list[str]:
    """Everything for which the real API would respond with 400 or 401; empty for a valid request."""
    found = [*_headers(headers, key), *lone_surrogates(body)]
    if types := anthropic_problems(body):
        return [*found, *types]
    return [*found, *_settings(body), *_tools(body), *_messages(body["messages"])]


def _headers(headers: Mapping[str, str], key: str | None) -> Iterator[str]:
    if headers.get("anthropic-version") != VERSION:
        yield f"anthropic-version: {headers.get('anthropic-version')!r} is not {VERSION!r}"
    if headers.get("x-api-key") != key:
        yield "x-api-key: invalid x-api-key"
    if not headers.get("content-type", "").startswith("application/json"):
        yield "content-type: must be application/json"


def _settings(body: dict[str, Any]) -> Iterator[str]:
    if body["max_tokens"] < 1:
        yield "max_tokens: must be at least 1"
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            yield f"{name}: no longer supported"
    thinking = body.get("thinking", {})
    if thinking.get("type") == "enabled":
        if thinking["budget_tokens"] < _MIN_BUDGET:
            yield f"thinking.budget_tokens: must be at least {_MIN_BUDGET}"
        if thinking["budget_tokens"] >= body["max_tokens"]:
            yield "thinking.budget_tokens: must be less than max_tokens"
    marks = _marks(body)
    if marks > _MAX_CACHE_MARKS:
        yield f"cache_control: {marks} marks, at most {_MAX_CACHE_MARKS} are allowed"
    system = body.get("system")
    if system is not None and not isinstance(system, str):
        yield from (f"system.{at}: {fault}" for at, block in enumerate(system) for fault in _text(block))


def _marks(value: Any) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(_marks(one) for one in value.values())
    return sum(_marks(one) for one in value) if isinstance(value, list) else 0


def _tools(body: dict[str, Any]) -> Iterator[str]:
    if "tools" not in body:
        if "tool_choice" in body:
            yield "tool_choice: may only be specified while providing tools"
        return
    names = [tool["name"] for tool in body["tools"]]
    if len(names) != len(set(names)):
        yield "tools: tool names must be unique"
    for tool in body["tools"]:
        if not _TOOL_NAME.match(tool["name"]):
            yield f"tools: name {tool['name']!r} does not match {_TOOL_NAME.pattern}"
        if tool["input_schema"].get("type") != "object":
            yield f"tools: input_schema of {tool['name']!r} is not of type object"


def _messages(messages: list[dict[str, Any]]) -> Iterator[str]:
    if not messages:
        yield "messages: at least one message is required"
        return
    if len({str(settings) for settings in _citation_settings(messages)}) > 1:
        yield "citations: must be enabled for all search results or for none"
    if messages[0]["role"] != "user":
        yield "messages.0: the first message must be of the user"
    if messages[-1]["role"] == "assistant":
        yield "messages: this model does not support assistant message prefill"
    seen: set[str] = set()
    for at, message in enumerate(messages):
        blocks = _blocks(message)
        if not blocks:
            yield f"messages.{at}: content must not be empty"
        yield from (f"messages.{at}.content.{n}: {fault}" for n, one in enumerate(blocks) for fault in _block(one))
        used = [block["id"] for block in blocks if block["type"] == "tool_use"]
        yield from (f"messages.{at}: tool_use id {one!r} is not unique" for one in used if one in seen)
        seen |= set(used)
        if len(used) != len(set(used)):
            yield f"messages.{at}: tool_use ids must be unique"
        yield from _results(at, messages, blocks)


def _citation_settings(messages: list[dict[str, Any]]) -> Iterator[Any]:
    for block in (block for message in messages for block in _blocks(message)):
        parts = block.get("content") if block["type"] == "tool_result" else None
        for part in parts if isinstance(parts, list) else ():
            if part["type"] == "search_result":
                yield part.get("citations")


def _results(at: int, messages: list[dict[str, Any]], blocks: list[dict[str, Any]]) -> Iterator[str]:
    """Each tool_use has its tool_result at the beginning of the very next message, and there is no other
    tool_result."""
    answered_ids = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    called: set[str] = set()
    if at and messages[at - 1]["role"] == "assistant":
        called = {block["id"] for block in _blocks(messages[at - 1]) if block["type"] == "tool_use"}
    for one in sorted(called - set(answered_ids)):
        yield f"messages.{at}: tool_use id {one!r} has no tool_result immediately after"
    for one in answered_ids:
        if one not in called:
            yield f"messages.{at}: unexpected tool_use_id {one!r} in tool_result"
    if len(answered_ids) != len(set(answered_ids)):
        yield f"messages.{at}: more than one tool_result for a tool_use"
    if any(block["type"] != "tool_result" for block in blocks[: len(answered_ids)]):
        yield f"messages.{at}: tool_result blocks must come first"


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _block(block: dict[str, Any]) -> Iterator[str]:
    match block["type"]:
        case "text":
            yield from _text(block)
        case "thinking" if not block["signature"]:
            yield "thinking needs its signature"
        case "tool_use" if not _ID.match(block["id"]):
            yield f"tool_use id {block['id']!r} does not match {_ID.pattern}"
        case "tool_use" if not _TOOL_NAME.match(block["name"]):
            yield f"tool_use name {block['name']!r} does not match {_TOOL_NAME.pattern}"
        case "tool_result" if isinstance(block.get("content"), list):
            yield from (fault for part in block["content"] if part["type"] == "text" for fault in _text(part))
            results = [part for part in block["content"] if part["type"] == "search_result"]
            yield from (fault for result in results for part in result["content"] for fault in _text(part))
            if any(not result["content"] for result in results):
                yield "search_result: content must not be empty"
            if block.get("is_error") and any(part["type"] != "text" for part in block["content"]):
                yield "all content must be type 'text' if 'is_error' is true"
        case _:
            pass


def _text(block: dict[str, Any]) -> Iterator[str]:
    if not block["text"]:
        yield "text content blocks must be non-empty"
    elif not block["text"].strip():
        yield "text content blocks must contain non-whitespace text"
