"""The formats in which OpenAI-compatible servers send thinking: each becomes one thinking block."""

from typing import Any

import pytest

from footnote.models.base import Endpoint
from footnote.models.stream import build_model
from footnote.protocol.messages import Block, Text, Thinking, ToolCall
from footnote.protocol.stream import Failed
from matrix.adapters import PROFILE, HttpAdapter, collect_events, final_message, last_event
from matrix.recorded_response import RecordedResponse, model_of
from matrix.test_mixed_chunks import chunk
from upstream import call, cut, reply, say, stop

ANSWER = "<think>\nLet me see: 1 < 2.\n</think>\n\nYes, <think> is a word."
SPLIT = [("thinking", "Let me see: 1 < 2.\n"), ("text", "Yes, <think> is a word.")]


def thinking_and_text(content: tuple[Block, ...]) -> list[tuple[str, str]]:
    kinds = {Thinking: "thinking", Text: "text"}
    return [(kinds[type(block)], block.text) for block in content if isinstance(block, Thinking | Text)]


def record(text: str) -> dict[str, Any]:
    return {"type": "reasoning.text", "text": text, "index": 0}


@pytest.mark.parametrize(
    "piece",
    [
        lambda text: {"thinking": text},
        lambda text: {"reasoning_details": [record(text)]},
        lambda text: {"reasoning_details": [{"type": "reasoning.summary", "summary": text, "index": 0}]},
        lambda text: {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]},
        lambda text: {"content": [{"type": "thinking", "thinking": text}]},
        lambda text: {"reasoning": text, "reasoning_details": [record(text)]},
        lambda text: {"reasoning": text, "reasoning_content": text, "thinking": text},
    ],
    ids=["thinking", "records", "summaries", "parts", "plain parts", "reasoning and records", "three fields"],
)
async def test_thinking_is_shown_once_in_whatever_form_it_comes(openai: HttpAdapter, piece: Any):
    openai.script(reply(chunk(piece("Let me")), chunk(piece(" see.")), say("Yes."), stop()))

    assert thinking_and_text(final_message(await openai.ask()).content) == [
        ("thinking", "Let me see."),
        ("text", "Yes."),
    ]


async def test_records_that_repeat_at_the_end_what_a_field_said_are_not_shown_again(openai: HttpAdapter):
    openai.script(
        reply(chunk({"reasoning": "Hm."}), chunk({"reasoning_details": [record("Hm.")]}), say("Yes."), stop())
    )

    content = final_message(await openai.ask()).content

    assert content == (Thinking("Hm.", details=(record("Hm."),)), Text("Yes."))


@pytest.mark.parametrize(
    ("pieces", "thought", "expected"),
    [
        ([("Let me", "Let me"), (None, " see.")], "Let me see.", "Let me see."),
        ([("Let me", None), (None, " see.")], "Let me see.", " see."),
        ([("Let", None), (" me", None), (None, "Let m"), (None, "e see.")], "Let me see.", "Let me see."),
        ([("Let", None), (" me", "Let"), (None, " me"), (None, " see.")], "Let me see.", "Let me see."),
        ([("Let me", "In short"), (None, " see.")], "Let me see.", "In short see."),
        ([(None, "ha"), (None, "ha")], "haha", "haha"),
    ],
)
async def test_what_only_records_say_is_shown_after_a_field_too(
    openai: HttpAdapter, pieces: list[tuple[str | None, str | None]], thought: str, expected: str
):
    chunks = [
        chunk(({"reasoning": field} if field else {}) | ({"reasoning_details": [record(words)]} if words else {}))
        for field, words in pieces
    ]
    openai.script(reply(*chunks, say("Yes."), stop()))

    content = final_message(await openai.ask()).content

    assert content == (Thinking(thought, details=(record(expected),)), Text("Yes."))


@pytest.mark.parametrize("odd", [{}, [], 5, {"budget": 3}, True])
async def test_a_field_that_holds_something_else_is_passed_by(openai: HttpAdapter, odd: Any):
    openai.script(reply(chunk({"thinking": odd, "content": "Yes."}), stop()))

    assert final_message(await openai.ask()).content == (Text("Yes."),)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 8, 9, 100])
async def test_a_mark_at_the_beginning_is_found_wherever_it_is_cut(openai: HttpAdapter, size: int):
    openai.script(reply(say(*[ANSWER[at : at + size] for at in range(0, len(ANSWER), size)]), stop()))

    assert thinking_and_text(final_message(await openai.ask()).content) == SPLIT


@pytest.mark.parametrize(
    ("pieces", "content"),
    [
        (["<think>Only", " this </thi"], [("thinking", "Only this </thi")]),
        (["<think>\n\n</think>\n\n", "Yes."], [("text", "Yes.")]),
        (["\n <think>", "Hm.</think>Yes."], [("thinking", "Hm."), ("text", "Yes.")]),
        (["<thi", "nker> is no mark"], [("text", "<thinker> is no mark")]),
        (["<thi"], [("text", "<thi")]),
        (["\n\n"], [("text", "\n\n")]),
        (["So: <think>", "no</think>"], [("text", "So: <think>no</think>")]),
        ([" " * 100, "<think>no</think>"], [("text", " " * 100 + "<think>no</think>")]),
    ],
)
async def test_only_a_mark_at_the_beginning_counts_and_nothing_is_lost(
    openai: HttpAdapter, pieces: list[str], content: list[tuple[str, str]]
):
    openai.script(reply(say(*pieces), stop()))

    assert thinking_and_text(final_message(await openai.ask()).content) == content


async def test_a_mark_after_thinking_that_came_in_a_field_is_text(openai: HttpAdapter):
    openai.script(reply(chunk({"reasoning": "Hm."}), say("<think>Yes."), stop()))

    assert thinking_and_text(final_message(await openai.ask()).content) == [
        ("thinking", "Hm."),
        ("text", "<think>Yes."),
    ]


@pytest.mark.parametrize("is_self_hosted", [True, False])
async def test_a_server_of_ones_own_may_leave_the_opening_tag_to_its_template(
    openai: HttpAdapter, is_self_hosted: bool
):
    openai.script(reply(say("I add.", "\n</th", "ink>\n\n", "Two."), stop()))
    endpoint = Endpoint("own", openai.base_url, openai.upstream.key, is_self_hosted=is_self_hosted)
    model = build_model("openai", endpoint, "deepseek-r1:7b", PROFILE, net=openai.net)
    content = thinking_and_text(final_message(await collect_events(model)).content)

    assert content == (
        [("thinking", "I add.\n"), ("text", "Two.")] if is_self_hosted else [("text", "I add.\n</think>\n\nTwo.")]
    )


async def test_a_server_that_sends_the_thinking_in_a_field_leaves_no_opening_tag_out(openai: HttpAdapter):
    openai.script(reply(chunk({"reasoning_content": "I add."}), say("Two", ", </think> is a tag."), stop()))
    endpoint = Endpoint("own", openai.base_url, openai.upstream.key, is_self_hosted=True)
    model = build_model("openai", endpoint, "deepseek-r1:7b", PROFILE, net=openai.net)
    content = thinking_and_text(final_message(await collect_events(model)).content)

    assert content == [("thinking", "I add."), ("text", "Two, </think> is a tag.")]


async def test_a_call_ends_thinking_that_was_not_closed(openai: HttpAdapter):
    openai.script(reply(say("<think>I look.</th"), call("web_search", {"query": "x"}, id="c1"), stop("toolUse")))

    content = final_message(await openai.ask()).content

    assert content == (Thinking("I look.</th"), ToolCall("c1", "web_search", {"query": "x"}))


@pytest.mark.parametrize(("sent", "expected"), [("<think>Half</th", "Half</th"), ("<thi", "<thi")])
async def test_what_was_held_back_is_kept_when_the_answer_breaks_off(openai: HttpAdapter, sent: str, expected: str):
    payload = b'data: {"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n' % sent.encode()

    events = await collect_events(model_of("openai", RecordedResponse([payload])))

    assert isinstance(last_event(events), Failed)
    assert [sent for _, sent in thinking_and_text(final_message(events).content)] == [expected]


async def test_what_was_held_back_is_kept_when_the_connection_is_cut(openai: HttpAdapter):
    openai.script(reply(say("<think>Half", "</th"), cut()))

    events = await openai.ask()

    assert isinstance(last_event(events), Failed)
    assert thinking_and_text(final_message(events).content) == [("thinking", "Half</th")]
