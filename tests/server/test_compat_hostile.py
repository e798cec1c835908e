"""Any JSON in any field of a request to a compatible endpoint: a response in the format of its API, and never a 5xx."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.harness import LOCAL_TOKEN, ServerHarness, open_server, script_answer
from upstream import Upstream

VALUES: list[Any] = [
    *(None, True, 0, -1.5, 10**30, "", "x", "a/b", "/", "\x00", "🙂" * 100, "../..", [], {}, [[]], [None], [{}]),
    *([{"type": ["x"]}], [{"type": {"a": 1}, "text": "x"}], [{"type": "text"}], [{"type": "text", "text": 5}]),
    *({"type": ["x"]}, {"type": None}, [{"role": "user"}], [{"role": "user", "content": {"a": 1}}], [{"role": 5}]),
    *([{"role": "user", "content": [{"type": "text", "text": "\x00"}]}], {"include_usage": "x"}),
]
DOORS = {
    "/v1/messages": ("model", "messages", "system", "stream", "tools", "tool_choice", "max_tokens", "metadata"),
    "/v1/chat/completions": ("model", "messages", "stream", "stream_options", "n", "response_format", "functions"),
}


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    script_answer(upstream)
    async with open_server(tmp_path, upstream, FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE="100000") as server:
        yield server


@pytest.mark.parametrize("path", DOORS)
async def test_any_value_in_any_field_is_answered_or_refused(server: ServerHarness, path: str) -> None:
    usual = {"model": "researcher", "messages": [{"role": "user", "content": "?"}]}
    for field in DOORS[path]:
        for value in VALUES:
            response = await server.local.request("POST", path, {**usual, field: value})
            assert response.status in (200, 400, 404), (field, value, response)
            if response.status != 200:
                assert response.json["error"]["message"], (field, value)
    assert not any(LOCAL_TOKEN.encode() in response.body for response in server.responses)


@pytest.mark.parametrize("path", DOORS)
@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"5", b"[" * 100_000, b'{"messages":' + b"[" * 100_000])
async def test_what_is_no_request_is_refused_in_the_shape_of_the_api(
    server: ServerHarness, path: str, data: bytes
) -> None:
    response = await server.request("POST", path, token=LOCAL_TOKEN, data=data)
    assert response.status == 400
    assert json.loads(response.body)["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", DOORS)
async def test_an_event_is_one_line_also_for_those_who_end_lines_at_odd_signs(
    tmp_path: Path, upstream: Upstream, path: str
) -> None:
    text = "a\u2028b\u2029c\x85d ậ"
    script_answer(upstream, text)
    async with open_server(tmp_path, upstream) as server:
        body = {"model": "researcher", "messages": [{"role": "user", "content": "?"}], "stream": True, "max_tokens": 99}
        response = await server.local.request("POST", path, body)
    events = [line.removeprefix("data: ") for line in response.body.decode().splitlines() if line.startswith("data: {")]
    assert text in "".join(str(value) for event in events for value in _texts(json.loads(event)))
    assert len(response.body.decode().splitlines()) == response.body.count(b"\n")


def _texts(value: Any) -> list[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]
