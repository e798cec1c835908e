"""The arguments of a call while they are streamed."""

import json
from typing import Any

import jiter
import pytest

from footnote.models.accumulate import Accumulator
from footnote.protocol.stream import ToolCallDelta


def previews(*pieces: str) -> list[dict[str, Any]]:
    fold = Accumulator("footnote/model")
    index = fold.open_call("c1", "write_file").index
    events = [fold.append(index, piece) for piece in pieces]
    return [event.arguments for event in events if isinstance(event, ToolCallDelta)]


@pytest.mark.parametrize("size", [1, 3, 7, 50])
@pytest.mark.parametrize(
    "arguments",
    [
        {"file_path": "/a.js", "content": 'if (a) { b("}\\\\"); }\n' * 40, "last": 1},
        {"content": "x" * 900, "options": {"deep": [{"a": 1}, {"b": [2]}], "last": True}},
        {},
    ],
)
def test_after_the_last_piece_they_are_whole(arguments: dict[str, Any], size: int):
    text = json.dumps(arguments)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]

    assert previews(*pieces)[-1] == arguments
    assert previews(*pieces[:-1], pieces[-1] + "\n")[-1] == arguments


@pytest.mark.parametrize("first", ['{"content": "', "{}", '{"a": 1}', "[" * 50, "{"])
@pytest.mark.parametrize("piece", ["}", "{}", '"}', '"{}'])
def test_no_stream_of_braces_makes_them_be_read_at_every_piece(first: str, piece: str, monkeypatch: pytest.MonkeyPatch):
    read = 0
    from_json = jiter.from_json

    def counted(*value: Any, **more: Any) -> Any:
        nonlocal read
        read += 1
        return from_json(*value, **more)

    monkeypatch.setattr(jiter, "from_json", counted)
    previews(first, *[piece] * 5_000)

    assert read < 200


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (json.dumps('{"query": "giá vàng"}'), {"query": "giá vàng"}),
        ('""', {}),
        ('"gold"', None),
        (json.dumps("[1]"), None),
        ('"\\ud800"', None),
        (json.dumps('{"query": '), None),
    ],
)
def test_arguments_in_a_json_string_are_those_of_the_object_in_it(text: str, arguments: dict[str, Any] | None):
    fold = Accumulator("footnote/model")
    fold.append(fold.open_call("c1", "web_search").index, text)
    list(fold.finish("toolUse", None))
    assert fold.message is not None
    [call] = fold.message.calls
    assert (call.arguments, call.invalid) == ((arguments, None) if arguments is not None else ({}, text))
