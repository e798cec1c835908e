"""Any JSON in any field of a request to a door: an answer in the shape of its API, and never a 5xx."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.house import LOCAL_TOKEN, House, open_house, script_answer
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
async def door(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    script_answer(upstream)
    async with open_house(tmp_path, upstream, FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE="100000") as house:
        yield house


@pytest.mark.parametrize("path", DOORS)
async def test_any_value_in_any_field_is_answered_or_refused(door: House, path: str) -> None:
    usual = {"model": "researcher", "messages": [{"role": "user", "content": "?"}]}
    for field in DOORS[path]:
        for value in VALUES:
            answer = await door.local.request("POST", path, {**usual, field: value})
            assert answer.status in (200, 400, 404), (field, value, answer)
            if answer.status != 200:
                assert answer.json["error"]["message"], (field, value)
    assert not any(LOCAL_TOKEN.encode() in answer.body for answer in door.responses)


@pytest.mark.parametrize("path", DOORS)
@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"5", b"[" * 100_000, b'{"messages":' + b"[" * 100_000])
async def test_what_is_no_request_is_refused_in_the_shape_of_the_api(door: House, path: str, data: bytes) -> None:
    answer = await door.request("POST", path, token=LOCAL_TOKEN, data=data)
    assert answer.status == 400
    assert json.loads(answer.body)["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", DOORS)
async def test_an_event_is_one_line_also_for_those_who_end_lines_at_odd_signs(
    tmp_path: Path, upstream: Upstream, path: str
) -> None:
    said = "a\u2028b\u2029c\x85d ậ"
    script_answer(upstream, said)
    async with open_house(tmp_path, upstream) as house:
        ask = {"model": "researcher", "messages": [{"role": "user", "content": "?"}], "stream": True, "max_tokens": 99}
        answer = await house.local.request("POST", path, ask)
    events = [line.removeprefix("data: ") for line in answer.body.decode().splitlines() if line.startswith("data: {")]
    assert said in "".join(str(value) for event in events for value in _texts(json.loads(event)))
    assert len(answer.body.decode().splitlines()) == answer.body.count(b"\n")


def _texts(value: Any) -> list[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]
