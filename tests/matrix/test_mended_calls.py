"""Histories that really happen and that no API takes as they are: calls without results, odd ids, empty messages."""

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
    user,
)
from matrix.adapters import HttpAdapter
from matrix.history import answer, answered_ids, result

ORPHAN = ToolCall("one", "web_search", {"query": "x"})


@pytest.mark.parametrize("after", [(), (user("Go on."),), ("answer", user("Go on."))], ids=["end", "user", "both"])
async def test_a_call_without_a_result_gets_an_error_result(http: HttpAdapter, after: tuple[Any, ...]):
    orphaned = answer(ORPHAN, by=http.id, reason="aborted")
    later = [answer(Text("Well."), by=http.id) if one == "answer" else one for one in after]

    body = await http.asked_with(user("Why?"), orphaned, *later)

    assert answered_ids(body) == ["one"]
    assert "No result" in json.dumps(body["messages"])


async def test_of_two_calls_only_the_orphan_gets_an_error_result(http: HttpAdapter):
    both = answer(ORPHAN, ToolCall("two", "web_search", {}), by=http.id, reason="aborted")

    body = await http.asked_with(user("Why?"), both, result("two", "Found it."))

    assert answered_ids(body) == ["one", "two"]
    assert json.dumps(body).count("No result") == 1
    assert "Found it." in json.dumps(body)


async def test_a_call_whose_arguments_were_cut_goes_back_whole_with_an_error_result(http: HttpAdapter):
    cut = ToolCall("one", "web_search", {}, invalid='{"query": "cổ')

    body = await http.asked_with(user("Why?"), answer(cut, by=http.id, reason="length"))

    assert answered_ids(body) == ["one"]
    assert "not valid JSON" in json.dumps(body)


async def test_a_result_without_its_call_is_left_out(http: HttpAdapter):
    body = await http.asked_with(result("gone", "Lost"), user("Why?"), result("gone", "Lost"), user("And?"))

    assert answered_ids(body) == []
    assert "Lost" not in json.dumps(body)


EMPTY_HISTORIES: dict[str, tuple[Message, ...]] = {
    "nothing": (),
    "an empty question": (user(""),),
    "whitespace": (user(" \n\t"),),
    "no parts": (UserMessage(()),),
    "an empty part beside a text": (UserMessage((Text(""), Text("Why?"))),),
    "an empty answer": (user("Why?"), answer(by="x/y"), user("And?")),
    "an answer of whitespace": (user("Why?"), answer(Text("  "), by="x/y"), user("And?")),
    "an answer at the end": (user("Why?"), answer(Text("Because."), by="x/y")),
    "an answer at the beginning": (answer(Text("Because."), by="x/y"), user("Why?")),
    "only an answer": (answer(Text("Because."), by="x/y"),),
    "empty thinking": (user("Why?"), answer(Thinking(""), by="x/y"), user("And?")),
    "two questions": (user("Why?"), user("And how?")),
    "two answers": (user("Why?"), answer(Text("A"), by="x/y"), answer(Text("B"), by="x/y"), user("And?")),
    "an empty result": (
        user("Why?"),
        answer(ORPHAN, by="x/y"),
        ToolResultMessage("one", "web_search", ()),
    ),
    "a result of whitespace": (user("Why?"), answer(ORPHAN, by="x/y"), result("one", " ")),
    "the same id twice": (
        user("Why?"),
        answer(ORPHAN, ORPHAN, by="x/y"),
        result("one", "1"),
        result("one", "2"),
        answer(ORPHAN, by="x/y"),
        result("one", "3"),
    ),
    "a tool with an impossible name": (
        user("Why?"),
        answer(ToolCall("one", "búsqueda web! " * 9, {}), by="x/y"),
        result("one", "1"),
    ),
    "a tool without a name": (user("Why?"), answer(ToolCall("", "", {}), by="x/y")),
    "a foreign block alone": (user("Why?"), answer(Foreign({"type": "of_tomorrow"}), by="x/y"), user("And?")),
}


@pytest.mark.parametrize("history", EMPTY_HISTORIES)
async def test_histories_with_nothing_in_them_are_mended(http: HttpAdapter, history: str):
    await http.asked_with(*EMPTY_HISTORIES[history])


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

    await http.asked_with(user("Why?"), answer(*content, by=http.id, reason="aborted"), user("Go on."))


LONG_ID = "call_" + "ab|c+/=é😀" * 50
OTHER_LONG_ID = LONG_ID[:-1] + "!"


async def test_foreign_ids_are_changed_the_same_way_on_both_sides(http: HttpAdapter):
    calls = [ToolCall(one, "web_search", {}) for one in (LONG_ID, OTHER_LONG_ID)]

    body = await http.asked_with(
        user("Why?"),
        answer(*calls, by="other/model"),
        result(OTHER_LONG_ID, "second"),
        result(LONG_ID, "first"),
    )

    first, second = answered_ids(body)
    assert first != second
    assert max(len(first), len(second)) <= (64 if http.api == "anthropic" else 40)
    text = json.dumps(body)
    assert text.count(f'"{first}"') == text.count(f'"{second}"') == 2
    assert text.index("first") < text.index("second")


async def test_results_under_one_id_go_to_the_calls_in_order(http: HttpAdapter):
    twins = answer(ToolCall("one", "web_search", {"n": 1}), ToolCall("one", "web_search", {"n": 2}), by=http.id)

    body = await http.asked_with(user("Why?"), twins, result("one", "first"), result("one", "second"))

    text = json.dumps(body)
    assert (text.count("first"), text.count("second")) == (1, 1)
    assert text.index("first") < text.index("second")


async def test_a_result_of_nothing_says_so(http: HttpAdapter):
    asked = answer(ToolCall("one", "web_search", {}), by=http.id)

    body = await http.asked_with(user("Why?"), asked, ToolResultMessage("one", "web_search", ()))

    assert json.dumps(body).count("(no output)") == 1


async def test_a_changed_id_is_the_same_in_every_request_so_that_caches_fit(http: HttpAdapter):
    history = (user("Why?"), answer(ToolCall(LONG_ID, "a", {}), by="other/model"), result(LONG_ID, "1"))

    once = await http.asked_with(*history)
    again = await http.asked_with(*history, answer(Text("So."), by="other/model"), user("And?"))

    assert answered_ids(once) == answered_ids(again)
