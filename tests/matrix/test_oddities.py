"""Undocumented behaviour of real servers, which must not change an answer."""

from typing import Any

import pytest

from footnote.protocol.messages import Foreign, Text, Thinking, ToolCall
from footnote.protocol.stream import TextStart, ThinkingEnd, ToolCallEnd, ToolCallStart
from matrix.adapters import Context, HttpAdapter, final_message
from upstream import Wire, call, event, parallel_calls, raw, redacted, reply, say, stop, think

ODD_FRAMES = {
    "crlf": Wire(crlf=True),
    "no space after the colon": Wire(space=False),
    "comments": Wire(comments=True),
    "no event lines": Wire(event_lines=False),
    "no last newline": Wire(last_newline=False),
    "all at once": Wire(crlf=True, space=False, comments=True, event_lines=False, last_newline=False),
}


@pytest.mark.parametrize("wire", ODD_FRAMES)
async def test_frames_of_any_style_give_the_same_events(http: HttpAdapter, wire: str):
    steps = (think("Hm."), say("Yes", "."), call("list_files", {"a": 1}), stop("toolUse"))
    http.script(reply(*steps), reply(*steps, wire=ODD_FRAMES[wire]))

    assert await http.ask() == await http.ask()


async def test_a_payload_over_several_data_lines_is_one(http: HttpAdapter):
    lines = {
        "anthropic": b'event: ping\ndata: {"type":\ndata: "ping"}\n\n',
        "openai": b'data: {"choices":\ndata: []}\n\n',
    }
    http.script(reply(say("Yes"), raw(lines[http.provider]), stop()))

    assert final_message(await http.ask()).content == (Text("Yes"),)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_details"])
async def test_the_reasoning_fields_of_the_common_servers_are_thinking(openai: HttpAdapter, field: Any):
    openai.script(reply(think("Let me", " see."), say("Yes."), stop(), wire=Wire(reasoning=field)))

    content = final_message(await openai.ask()).content

    assert [block.text for block in content] == ["Let me see.", "Yes."]
    assert isinstance(content[0], Thinking)


async def test_a_routers_reasoning_records_are_put_together_and_go_back_unchanged(openai: HttpAdapter):
    openai.upstream.extensions = frozenset({"reasoning_details"})
    wire = Wire(reasoning="reasoning_details")
    openai.script(
        reply(think("Let me", " see.", signature="c2ln"), redacted("ZGF0YQ=="), say("Yes."), stop(), wire=wire),
        reply(say("Again."), stop()),
    )
    records = [
        {
            "type": "reasoning.text",
            "text": "Let me see.",
            "signature": "c2ln",
            "format": "anthropic-claude-v1",
            "index": 0,
        },
        {"type": "reasoning.encrypted", "data": "ZGF0YQ==", "format": "anthropic-claude-v1", "index": 1},
    ]

    first = final_message(await openai.ask())
    await openai.ask(Context("", (first,)))

    assert first.content == (Thinking("Let me see.", details=tuple(records)), Text("Yes."))
    assert openai.upstream.requests[1].body["messages"][1] == {
        "role": "assistant",
        "content": "Yes.",
        "reasoning_details": records,
    }


async def test_reasoning_after_text_has_records_of_its_own(openai: HttpAdapter):
    wire = Wire(reasoning="reasoning_details")
    steps = (think("One.", signature="s1"), say("So"), think("Two.", signature="s2"), stop())
    openai.script(reply(*steps, wire=wire))

    content = final_message(await openai.ask()).content

    signatures = [detail["signature"] for block in content if isinstance(block, Thinking) for detail in block.details]
    assert signatures == ["s1", "s2"]


@pytest.mark.parametrize("index", ["own", "none", "same"])
async def test_calls_are_told_apart_whether_or_not_the_server_numbers_them(openai: HttpAdapter, index: Any):
    one, two = {"query": "one"}, {"query": "two"}
    openai.script(
        reply(
            parallel_calls(call("web_search", one, id="call_a"), call("read_page", two, id="call_b")),
            stop("toolUse"),
            wire=Wire(call_index=index),
        )
    )

    assert final_message(await openai.ask()).content == (
        ToolCall("call_a", "web_search", one),
        ToolCall("call_b", "read_page", two),
    )


async def test_two_calls_of_one_tool_under_one_number_stay_two(openai: HttpAdapter):
    openai.script(
        reply(
            parallel_calls(call("a", {"n": 1}, id="x"), call("a", {"n": 2}, id="y")),
            stop("toolUse"),
            wire=Wire(call_index="same"),
        )
    )

    assert final_message(await openai.ask()).calls == (ToolCall("x", "a", {"n": 1}), ToolCall("y", "a", {"n": 2}))


async def test_fragments_without_a_number_belong_to_the_call_before_them(openai: HttpAdapter):
    pieces = ['{"que', 'ry": ', '"one"}']
    later = [_calls({"function": {"arguments": piece}}) for piece in pieces]
    openai.script(
        reply(_calls({"id": "call_a", "function": {"name": "web_search", "arguments": ""}}), *later, stop("toolUse"))
    )

    assert final_message(await openai.ask()).calls == (ToolCall("call_a", "web_search", {"query": "one"}),)


async def test_a_name_repeated_in_every_delta_is_one_name(openai: HttpAdapter):
    openai.script(reply(call("web_search", {"query": "x"}, fragments=4), stop("toolUse"), wire=Wire(repeat_name=True)))

    events = await openai.ask()

    assert final_message(events).calls == (ToolCall("call_1", "web_search", {"query": "x"}),)
    assert [one.name for one in events if isinstance(one, ToolCallStart)] == ["web_search"]


async def test_an_id_repeated_in_every_delta_is_one_call(openai: HttpAdapter):
    delta = [
        _calls({"index": 0, "id": "call_a", "function": {"name": "web_search", "arguments": piece}})
        for piece in ('{"query":', ' "x"}')
    ]
    openai.script(reply(*delta, stop("toolUse")))

    assert final_message(await openai.ask()).calls == (ToolCall("call_a", "web_search", {"query": "x"}),)


async def test_a_call_without_an_id_gets_one_that_no_other_call_has(openai: HttpAdapter):
    nameless = _calls({"index": 0, "function": {"name": "web_search", "arguments": "{}"}})
    openai.script(reply(nameless, stop("toolUse")), reply(nameless, stop("toolUse")))

    ids = {final_message(await openai.ask()).calls[0].id, final_message(await openai.ask()).calls[0].id}

    assert len(ids) == 2
    assert "" not in ids


async def test_a_server_that_counts_its_ids_from_zero_in_each_round_gives_unique_ones(http: HttpAdapter):
    http.script(reply(call("a", {}, id="call_0"), stop("toolUse")), reply(call("b", {}, id="call_0"), stop("toolUse")))

    first = final_message(await http.ask())
    second = final_message(await http.ask(Context("", (first,))))

    assert first.calls[0].id == "call_0"
    assert second.calls[0].id not in ("call_0", "")


async def test_arguments_sent_as_an_object_are_arguments(openai: HttpAdapter):
    whole = _calls({"index": 0, "id": "x", "function": {"name": "a", "arguments": {"n": 1}}})
    openai.script(reply(whole, stop("toolUse")))

    assert final_message(await openai.ask()).calls == (ToolCall("x", "a", {"n": 1}),)


async def test_content_sent_as_parts_is_text(openai: HttpAdapter):
    parts = _delta({"content": [{"type": "text", "text": "Yes"}, {"type": "text", "text": "."}]})
    openai.script(reply(parts, stop()))

    assert final_message(await openai.ask()).text == "Yes."


async def test_text_and_a_call_in_one_delta_are_both_kept(openai: HttpAdapter):
    call_delta = {"index": 0, "id": "x", "function": {"name": "a", "arguments": "{}"}}
    openai.script(reply(say("Hm"), _delta({"content": ".", "tool_calls": [call_delta]}), stop("toolUse")))

    assert final_message(await openai.ask()).content == (Text("Hm."), ToolCall("x", "a", {}))


async def test_a_call_between_two_texts_closes_the_first_and_opens_a_second(openai: HttpAdapter):
    openai.script(reply(say("Before."), call("a", {}, id="x"), say("After."), stop("toolUse")))

    events = await openai.ask()

    assert final_message(events).content == (Text("Before."), ToolCall("x", "a", {}), Text("After."))
    assert [one.index for one in events if isinstance(one, TextStart)] == [0, 2]


async def test_thinking_closes_when_the_answer_begins(http: HttpAdapter):
    http.script(reply(think("Hm."), say("Yes."), stop()))

    events = await http.ask()

    assert events.index(ThinkingEnd(0, "Hm.")) < events.index(TextStart(1))


async def test_events_blocks_and_deltas_of_unknown_kinds_pass_by(anthropic: HttpAdapter):
    block = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
    strange = {"type": "content_block_delta", "index": 0, "delta": {"type": "of_tomorrow", "stuff": 1}}
    anthropic.script(
        reply(
            event({"type": "of_tomorrow", "stuff": [1]}),
            say("Yes"),
            event(strange),
            event({"type": "content_block_start", "index": 7, "content_block": block}),
            event({"type": "content_block_stop", "index": 7}),
            event({"type": "content_block_delta", "index": 99, "delta": {"type": "text_delta", "text": "?"}}),
            stop(),
        )
    )

    answer = final_message(await anthropic.ask())

    assert answer.content == (Text("Yes"), Foreign(block))
    assert answer.stop_reason == "stop"


async def test_text_that_comes_with_the_start_of_its_block_is_kept(anthropic: HttpAdapter):
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Yes"}}
    more = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "."}}
    anthropic.script(reply(event(start), event(more), stop()))

    assert final_message(await anthropic.ask()).text == "Yes."


async def test_input_that_comes_with_the_start_of_its_call_is_kept(anthropic: HttpAdapter):
    start = event(
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "x", "name": "a", "input": {"n": 1}},
        }
    )
    anthropic.script(reply(start, event({"type": "content_block_stop", "index": 0}), stop("toolUse")))

    events = await anthropic.ask()

    assert [one for one in events if isinstance(one, ToolCallEnd)] == [ToolCallEnd(0, ToolCall("x", "a", {"n": 1}))]


async def test_deltas_count_when_a_call_has_both_them_and_an_input_at_its_start(anthropic: HttpAdapter):
    block = {"type": "tool_use", "id": "x", "name": "a", "input": {"n": 1}}
    delta = {"type": "input_json_delta", "partial_json": '{"n": 1}'}
    anthropic.script(
        reply(
            event({"type": "content_block_start", "index": 0, "content_block": block}),
            event({"type": "content_block_delta", "index": 0, "delta": delta}),
            event({"type": "content_block_stop", "index": 0}),
            stop("toolUse"),
        )
    )

    assert final_message(await anthropic.ask()).calls == (ToolCall("x", "a", {"n": 1}),)


def _delta(delta: dict[str, Any]) -> Any:
    return event({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})


def _calls(*calls: dict[str, Any]) -> Any:
    return _delta({"tool_calls": list(calls)})
