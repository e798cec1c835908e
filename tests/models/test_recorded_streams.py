"""Streams recorded byte for byte from real servers (`fixtures/wire`)."""

from pathlib import Path

import pytest

from footnote.protocol.messages import AssistantMessage, Text, Usage
from footnote.protocol.stream import Done, Start, TextDelta, TextEnd, TextStart
from matrix.adapters import collect_events
from matrix.recorded_response import model_with_response

WORDS = ["I", "'m", " here", " to", " help", " you", " with", " your"]
RECORDED: dict[str, tuple[str, str, Usage]] = {
    "llamacpp_messages.sse": ("anthropic", "max_tokens", Usage(26, 8)),
    "llamacpp_chat.sse": ("openai", "length", Usage(1, 8, cache_read=25)),
}


@pytest.mark.parametrize("name", RECORDED)
async def test_a_recorded_stream_gives_the_same_events_wherever_it_is_split(name: str, wire_fixtures: Path):
    api, word, usage = RECORDED[name]
    data = (wire_fixtures / name).read_bytes()
    text = "".join(WORDS)
    whole = AssistantMessage((Text(text),), "length", "recorded/model", usage, word)

    for at in range(len(data)):
        assert await collect_events(model_with_response(api, data[:at], data[at:])) == [
            Start("recorded/model"),
            TextStart(0),
            *(TextDelta(0, one) for one in WORDS),
            TextEnd(0, text),
            Done("length", whole),
        ]
