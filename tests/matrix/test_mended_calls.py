"""Histories that no API accepts unchanged: calls without results, odd ids, empty messages."""

import json
from typing import Any

import pytest

from footnote.protocol.messages import (
    Block,
    Foreign,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user_message,
)
from matrix.adapters import HttpAdapter
from matrix.history import assistant_answer, result, result_ids

ORPHAN = ToolCall("one", "web_search", {"query": "x"})


@pytest.mark.parametrize(
    "after", [(), (user_message("Go on."),), ("answer", user_message("Go on."))], ids=["end", "user", "both"]
)
async def test_a_call_without_a_result_gets_an_error_result(http: HttpAdapter, after: tuple[Any, ...]):
    orphaned = assistant_answer(ORPHAN, by=http.id, reason="aborted")
    later = [assistant_answer(Text("Well."), by=http.id) if one == "answer" else one for one in after]

    body = await http.request_body(user_message("Why?"), orphaned, *later)

    assert result_ids(body) == ["one"]
    assert "No result" in json.dumps(body["messages"])


async def test_of_two_calls_only_the_orphan_gets_an_error_result(http: HttpAdapter):
    both = assistant_answer(ORPHAN, ToolCall("two", "web_search", {}), by=http.id, reason="aborted")

    body = await http.request_body(user_message("Why?"), both, result("two", "Found it."))

    assert result_ids(body) == ["one", "two"]
    assert json.dumps(body).count("No result") == 1
    assert "Found it." in json.dumps(body)


async def test_a_call_whose_arguments_were_cut_goes_back_whole_with_an_error_result(http: HttpAdapter):
    cut = ToolCall("one", "web_search", {}, invalid='{"query": "cổ')

    body = await http.request_body(user_message("Why?"), assistant_answer(cut, by=http.id, reason="length"))

    assert result_ids(body) == ["one"]
    assert "not valid JSON" in json.dumps(body)


async def test_a_result_without_its_call_is_left_out(http: HttpAdapter):
    body = await http.request_body(
        result("gone", "Lost"), user_message("Why?"), result("gone", "Lost"), user_message("And?")
    )

    assert result_ids(body) == []
    assert "Lost" not in json.dumps(body)


EMPTY_HISTORIES: dict[str, tuple[Message, ...]] = {
    "nothing": (),
    "an empty question": (user_message(""),),
    "whitespace": (user_message(" \n\t"),),
    "no parts": (UserMessage(()),),
    "an empty part beside a text": (UserMessage((Text(""), Text("Why?"))),),
    "an empty answer": (user_message("Why?"), assistant_answer(by="x/y"), user_message("And?")),
    "an answer of whitespace": (user_message("Why?"), assistant_answer(Text("  "), by="x/y"), user_message("And?")),
    "an answer at the end": (user_message("Why?"), assistant_answer(Text("Because."), by="x/y")),
    "an answer at the beginning": (assistant_answer(Text("Because."), by="x/y"), user_message("Why?")),
    "only an answer": (assistant_answer(Text("Because."), by="x/y"),),
    "empty thinking": (user_message("Why?"), assistant_answer(Thinking(""), by="x/y"), user_message("And?")),
    "two questions": (user_message("Why?"), user_message("And how?")),
    "two answers": (
        user_message("Why?"),
        assistant_answer(Text("A"), by="x/y"),
        assistant_answer(Text("B"), by="x/y"),
        user_message("And?"),
    ),
    "an empty result": (
        user_message("Why?"),
        assistant_answer(ORPHAN, by="x/y"),
        ToolResultMessage("one", "web_search", ()),
    ),
    "a result of whitespace": (user_message("Why?"), assistant_answer(ORPHAN, by="x/y"), result("one", " ")),
    "the same id twice": (
        user_message("Why?"),
        assistant_answer(ORPHAN, ORPHAN, by="x/y"),
        result("one", "1"),
        result("one", "2"),
        assistant_answer(ORPHAN, by="x/y"),
        result("one", "3"),
    ),
    "a tool with an impossible name": (
        user_message("Why?"),
        assistant_answer(ToolCall("one", "búsqueda web! " * 9, {}), by="x/y"),
        result("one", "1"),
    ),
    "a tool without a name": (user_message("Why?"), assistant_answer(ToolCall("", "", {}), by="x/y")),
    "a foreign block alone": (
        user_message("Why?"),
        assistant_answer(Foreign({"type": "of_tomorrow"}), by="x/y"),
        user_message("And?"),
    ),
}


@pytest.mark.parametrize("history", EMPTY_HISTORIES)
async def test_histories_with_nothing_in_them_are_mended(http: HttpAdapter, history: str):
    await http.request_body(*EMPTY_HISTORIES[history])


@pytest.mark.parametrize(
    "content",
    [
        (Thinking("Hm.", signature="c2ln"),),
        (Thinking("", redacted="ZGF0YQ=="),),
        (Thinking("Hm.", details=({"type": "reasoning.text", "text": "Hm."},)),),
        (Thinking("Hm."),),
    ],
    ids=["signed", "redacted", "records", "unsigned"],
)
async def test_an_answer_that_was_stopped_while_it_thought_goes_back_in_a_form_that_is_taken(
    http: HttpAdapter, content: tuple[Block, ...]
):
    http.upstream.extensions = frozenset({"reasoning_details"})

    await http.request_body(
        user_message("Why?"), assistant_answer(*content, by=http.id, reason="aborted"), user_message("Go on.")
    )


LONG_ID = "call_" + "ab|c+/=é😀" * 50
OTHER_LONG_ID = LONG_ID[:-1] + "!"


async def test_foreign_ids_are_changed_the_same_way_on_both_sides(http: HttpAdapter):
    calls = [ToolCall(one, "web_search", {}) for one in (LONG_ID, OTHER_LONG_ID)]

    body = await http.request_body(
        user_message("Why?"),
        assistant_answer(*calls, by="other/model"),
        result(OTHER_LONG_ID, "second"),
        result(LONG_ID, "first"),
    )

    first, second = result_ids(body)
    assert first != second
    assert max(len(first), len(second)) <= (64 if http.api == "anthropic" else 40)
    text = json.dumps(body)
    assert text.count(f'"{first}"') == text.count(f'"{second}"') == 2
    assert text.index("first") < text.index("second")


async def test_results_under_one_id_go_to_the_calls_in_order(http: HttpAdapter):
    twins = assistant_answer(
        ToolCall("one", "web_search", {"n": 1}), ToolCall("one", "web_search", {"n": 2}), by=http.id
    )

    body = await http.request_body(user_message("Why?"), twins, result("one", "first"), result("one", "second"))

    text = json.dumps(body)
    assert (text.count("first"), text.count("second")) == (1, 1)
    assert text.index("first") < text.index("second")


async def test_a_result_of_nothing_says_so(http: HttpAdapter):
    message = assistant_answer(ToolCall("one", "web_search", {}), by=http.id)

    body = await http.request_body(user_message("Why?"), message, ToolResultMessage("one", "web_search", ()))

    assert json.dumps(body).count("(no output)") == 1


async def test_a_changed_id_is_the_same_in_every_request_so_that_caches_fit(http: HttpAdapter):
    history = (
        user_message("Why?"),
        assistant_answer(ToolCall(LONG_ID, "a", {}), by="other/model"),
        result(LONG_ID, "1"),
    )

    once = await http.request_body(*history)
    again = await http.request_body(*history, assistant_answer(Text("So."), by="other/model"), user_message("And?"))

    assert result_ids(once) == result_ids(again)
