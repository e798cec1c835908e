"""The events of good answers: text, thinking and tool calls, in order, with their indexes."""

from typing import Any, get_args

import pytest

from footnote.protocol.messages import AssistantMessage, Text, Thinking, ToolCall, Usage
from footnote.protocol.stream import (
    Done,
    Start,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from matrix.adapters import Adapter, HttpAdapter, collect_events, final_message
from upstream import Wire, call, error_event, event, parallel_calls, redacted, reply, say, stop, think

SEARCH = {"query": "Cổ phiếu HPG 🚀", "count": 5}
COUNTED = Usage(input=10, output=5)


async def test_plain_text_opens_grows_closes_and_is_done(adapter: Adapter):
    adapter.script(reply(say("Hello", ", wor", "ld."), stop()))

    assert await adapter.ask() == [
        Start(adapter.id),
        TextStart(0),
        TextDelta(0, "Hello"),
        TextDelta(0, ", wor"),
        TextDelta(0, "ld."),
        TextEnd(0, "Hello, world."),
        Done(
            "stop",
            AssistantMessage((Text("Hello, world."),), "stop", adapter.id, COUNTED, adapter.raw("stop")),
        ),
    ]


async def test_thinking_text_and_a_call_come_in_order_under_rising_indexes(adapter: Adapter):
    adapter.script(
        reply(
            think("Let me", " see."),
            say("I will search."),
            call("web_search", SEARCH, id="call_7", fragments=1),
            stop("toolUse"),
        )
    )
    found = ToolCall("call_7", "web_search", SEARCH)

    events = await adapter.ask()

    assert [one for one in events if not isinstance(one, ToolCallDelta | Done)] == [
        Start(adapter.id),
        ThinkingStart(0),
        ThinkingDelta(0, "Let me"),
        ThinkingDelta(0, " see."),
        ThinkingEnd(0, "Let me see."),
        TextStart(1),
        TextDelta(1, "I will search."),
        TextEnd(1, "I will search."),
        ToolCallStart(2, "call_7", "web_search"),
        ToolCallEnd(2, found),
    ]
    assert final_message(events).content == (Thinking("Let me see."), Text("I will search."), found)
    assert events[-1] == Done("toolUse", final_message(events))


async def test_a_signature_stays_with_its_thinking(anthropic: HttpAdapter):
    anthropic.script(reply(think("Hm", "m.", signature="c2lnbmVk"), say("Yes."), stop()))

    assert final_message(await anthropic.ask()).content == (Thinking("Hmm.", signature="c2lnbmVk"), Text("Yes."))


async def test_a_signature_in_pieces_is_put_together(anthropic: HttpAdapter):
    pieces = [
        event(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "signature_delta", "signature": piece},
            }
        )
        for piece in ("c2ln", "bmVk")
    ]
    anthropic.script(reply(think("Hm."), *pieces, stop()))

    assert final_message(await anthropic.ask()).content == (Thinking("Hm.", signature="c2lnbmVk"),)


async def test_redacted_thinking_is_a_block_without_text_that_keeps_its_data(anthropic: HttpAdapter):
    anthropic.script(reply(redacted("ZW5jcnlwdGVk"), say("Yes."), stop()))

    events = await anthropic.ask()

    assert events[1:4] == [ThinkingStart(0), ThinkingEnd(0, ""), TextStart(1)]
    assert final_message(events).content == (Thinking("", redacted="ZW5jcnlwdGVk"), Text("Yes."))


async def test_calls_whose_fragments_arrive_in_turns_are_kept_apart(http: HttpAdapter):
    first, second = {"query": "one"}, {"query": "two", "count": 2}
    http.script(
        reply(
            parallel_calls(
                call("web_search", first, id="call_a", fragments=5),
                call("read_page", second, id="call_b", fragments=7),
            ),
            stop("toolUse"),
        )
    )

    events = await http.ask()

    assert final_message(events).content == (
        ToolCall("call_a", "web_search", first),
        ToolCall("call_b", "read_page", second),
    )
    assert [one.index for one in events if isinstance(one, ToolCallDelta)][:4] == [0, 1, 0, 1]
    assert [one.index for one in events if isinstance(one, ToolCallEnd)] == [0, 1]


@pytest.mark.parametrize("arguments", ["", "{}", "  "])
async def test_empty_arguments_are_an_empty_object(adapter: Adapter, arguments: str):
    adapter.script(reply(call("list_files", arguments), stop("toolUse")))

    assert final_message(await adapter.ask()).calls == (ToolCall("call_1", "list_files", {}),)


async def test_arguments_so_far_only_ever_grow_towards_the_final_ones(adapter: Adapter):
    final = {"path": "/tin-tức.md", "lines": ["Cổ phiếu", "🚀 up", ""], "deep": {"a": {"b": "\\\"'"}}, "n": 7}
    adapter.script(reply(call("write_file", final, fragments=60), stop("toolUse")))

    events = await adapter.ask()
    arguments = [one.arguments for one in events if isinstance(one, ToolCallDelta)]

    assert final_message(events).calls == (ToolCall("call_1", "write_file", final),)
    assert len(arguments) > 20
    assert all(leads_to(earlier, later) for earlier, later in zip(arguments, [*arguments[1:], final], strict=True))
    assert arguments[-1] == final


def leads_to(earlier: Any, later: Any) -> bool:
    """`later` extends `earlier`: strings and containers only grow at their end."""
    match earlier, later:
        case str(), str():
            return later.startswith(earlier)
        case list(), list():
            return len(earlier) <= len(later) and all(map(leads_to, earlier, later))
        case dict(), dict():
            return all(name in later and leads_to(value, later[name]) for name, value in earlier.items())
        case _:
            return str(later).startswith(str(earlier))


@pytest.mark.parametrize("cut", ['{"query": "cổ phi', '{"query": "x"', '{"query"', "[1, 2]", '"text"', "{]"])
async def test_arguments_that_are_no_whole_object_are_flagged_and_never_repaired(adapter: Adapter, cut: str):
    adapter.script(reply(call("web_search", cut), stop("length")))

    events = await adapter.ask()

    assert final_message(events).calls == (ToolCall("call_1", "web_search", {}, invalid=cut),)
    assert events[-1] == Done("length", final_message(events))


async def test_the_kinds_are_exactly_twelve(adapter: Adapter):
    adapter.script(
        reply(think("Hm."), say("Well."), call("web_search", SEARCH), stop("toolUse")),
        reply(say("So"), error_event()),
    )
    model = adapter.model()

    kinds = {type(one) for one in [*await collect_events(model), *await collect_events(model)]}

    assert kinds == set(get_args(StreamEvent))
    assert len(kinds) == 12


async def test_an_answer_of_twenty_thousand_deltas_arrives_whole(http: HttpAdapter):
    pieces = [f"{number} " for number in range(20_000)]
    http.script(reply(say(*pieces), stop(), wire=Wire(piece=65_536)))

    events = await http.ask()

    assert [one.delta for one in events if isinstance(one, TextDelta)] == pieces
    assert final_message(events).text == "".join(pieces)


async def test_separators_that_are_no_line_ends_stay_text(http: HttpAdapter):
    odd = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
    http.script(reply(say(odd, odd), stop()))

    assert final_message(await http.ask()).text == odd + odd


async def test_escaped_and_plain_characters_of_every_plane_are_the_same(http: HttpAdapter):
    text = "Tiếng Việt, 中文, 🚀👩‍👩‍👧, \x00\x1f"
    http.script(*(reply(say(text), stop(), wire=Wire(ascii_json=escaped)) for escaped in (False, True)))

    assert final_message(await http.ask()).text == text
    assert final_message(await http.ask()).text == text


async def test_half_an_emoji_from_a_server_does_not_break_the_answer(http: HttpAdapter):
    http.script(reply(say("a\ud83d", "\ude80b"), stop(), wire=Wire(ascii_json=True)))

    text = final_message(await http.ask()).text

    assert text == "a\ufffd\ufffdb"
    assert text.encode()
