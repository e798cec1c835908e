"""A stream gives the same events wherever it is split, and an error wherever it is truncated."""

import json
import random

import pytest

from footnote.protocol.messages import AssistantMessage, Block, Text, Thinking, ToolCall
from footnote.protocol.stream import Done, Failed
from matrix.adapters import HttpAdapter, collect_events, final_message, last_event
from matrix.recorded_response import model_with_response
from upstream import ModelReply, Wire, call, cut, parallel_calls, raw, redacted, reply, say, stop, think, usage
from upstream.server import Api, render_body

APIS: tuple[Api, ...] = ("anthropic", "openai")
WIRES = {
    "regular": Wire(),
    "crlf": Wire(crlf=True),
    "bare": Wire(space=False, event_lines=False, last_newline=False),
    "comments": Wire(comments=True, ascii_json=True),
    "details": Wire(reasoning="reasoning_details"),
}


def rich_answer(wire: Wire) -> ModelReply:
    """Everything that an answer can contain, with characters of one to four bytes."""
    return reply(
        think("Để tôi", " xem 🤔", signature="c2ln"),
        redacted("ZGF0YQ=="),
        say("Xin chào", ", 世界\u2028", "🚀!"),
        parallel_calls(
            call("web_search", {"query": "cổ phiếu 📈"}, id="call_a", fragments=3),
            call("list_files", "", id="call_b"),
        ),
        usage(input=7, output=9, cache_read=2),
        stop("toolUse"),
        wire=wire,
    )


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("api", APIS)
async def test_a_stream_split_at_any_byte_gives_the_same_events(api: Api, wire: str):
    data = render_body(api, rich_answer(WIRES[wire]))
    whole = await collect_events(model_with_response(api, data))

    assert isinstance(last_event(whole), Done)
    for at in range(1, len(data)):
        assert await collect_events(model_with_response(api, data[:at], data[at:])) == whole, f"split at byte {at}"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("api", APIS)
async def test_a_stream_in_single_bytes_and_in_random_pieces_gives_the_same_events(api: Api, wire: str):
    data = render_body(api, rich_answer(WIRES[wire]))
    whole = await collect_events(model_with_response(api, data))

    assert await collect_events(model_with_response(api, *(data[at : at + 1] for at in range(len(data))))) == whole
    for seed in range(20):
        cuts = sorted(random.Random(seed).sample(range(1, len(data)), 25))
        pieces = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        assert await collect_events(model_with_response(api, *pieces)) == whole, f"seed {seed}"


@pytest.mark.parametrize("wire", ["regular", "crlf"])
@pytest.mark.parametrize("api", APIS)
async def test_a_stream_cut_off_at_any_byte_ends_once_with_the_beginning_of_the_answer(api: Api, wire: str):
    data = render_body(api, rich_answer(WIRES[wire]))
    whole = final_message(await collect_events(model_with_response(api, data)))

    for length in range(len(data)):
        end = last_event(await collect_events(model_with_response(api, data[:length])))
        assert is_beginning(end.message, whole), f"cut off after {length} bytes"
        if isinstance(end, Done):
            assert end.message.content == whole.content, f"done after {length} bytes"
        else:
            assert end.message.failure is not None
            assert (end.reason, end.message.stop_reason) == ("error", "error")


def is_beginning(partial: AssistantMessage, whole: AssistantMessage) -> bool:
    return len(partial.content) <= len(whole.content) and all(map(_begins, partial.content, whole.content))


def _begins(part: Block, whole: Block) -> bool:
    match part, whole:
        case Text(), Text():
            return whole.text.startswith(part.text)
        case Thinking(), Thinking():
            signed = part.signature in (None, whole.signature) and part.redacted == whole.redacted
            return signed and whole.text.startswith(part.text)
        case ToolCall(), ToolCall():
            named = (part.id, part.name) == (whole.id, whole.name)
            if part.invalid is not None:
                return named and json.dumps(whole.arguments, ensure_ascii=False).startswith(part.invalid)
            return named and part.arguments in ({}, whole.arguments)
        case _:
            return False


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64, "random", 100_000])
async def test_pieces_of_any_size_over_a_real_connection_give_the_same_events(http: HttpAdapter, piece):
    http.script(rich_answer(Wire()), rich_answer(Wire(piece=piece)))

    assert await http.ask() == await http.ask()


@pytest.mark.parametrize("share", [0.3, 0.45, 0.6, 0.85])
async def test_a_connection_cut_anywhere_keeps_the_beginning(http: HttpAdapter, share: float):
    data = render_body(http.api, rich_answer(Wire()))
    http.script(rich_answer(Wire()), reply(raw(data[: int(len(data) * share)]), cut()))
    whole = final_message(await http.ask())

    end = last_event(await http.ask())

    assert isinstance(end, Failed)
    assert is_beginning(end.message, whole)
