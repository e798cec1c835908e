"""Runs as the compatible APIs return them, built from events without a client."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cli.run_events import call, end, research, result, say, start, think
from footnote.config.settings import Agent
from footnote.protocol.errors import UsageError
from footnote.protocol.events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    CitationsGrowth,
    ErrorBody,
    Event,
    PlanBlock,
    PlanUpdate,
    RoundRestart,
    ToolResultBlock,
    TurnUsage,
)
from footnote.protocol.messages import AssistantMessage, Text, UserMessage, user_message
from footnote.protocol.plans import PlanItem
from footnote.protocol.sources import Citation
from footnote.server.compat.bridge import (
    MODEL_FAILED,
    RESTARTED,
    STOPPED,
    CompatDelta,
    CompatEncoder,
    CompatEnded,
    CompatEvent,
    CompatFailed,
    CompatResponse,
)
from footnote.server.compat.requests import GREETING_PLACEHOLDER, CompatMessage, build_question

AGENTS = (Agent(id="researcher"), Agent(id="writer"))
SOURCES = [
    {"url": "https://a.example/1", "title": "One [2]\n# *x*", "snippet": "", "domain": "a.example", "number": 1},
    {"url": "https://b.example/2", "title": "", "snippet": "", "domain": "b.example", "number": 2},
    {"url": "https://c.example/3", "title": "Three", "snippet": "", "domain": "c.example", "number": 3},
    {"no": "source"},
]


def encode_all(events: list[Event]) -> list[CompatEvent]:
    teller = CompatEncoder()
    return [one for event in events for one in teller.feed(event)]


def cite(index: int, *numbers: int) -> list[Event]:
    citations = tuple(Citation(f"[{number}]", number, 0, 1, "supported") for number in numbers)
    return [BlockDelta(index, CitationsGrowth(citations))]


def collect_response(events: list[Event]) -> CompatResponse:
    one = CompatResponse()
    for piece in encode_all(events):
        one.feed(piece)
    return one


def test_the_plan_and_the_work_on_its_items_are_left_out_and_their_sources_are_told() -> None:
    item = replace_parent(say(1, "A statement of a reader. [2]") + cite(1, 2), "q1")
    found = BlockStart(2, ToolResultBlock("c1", "web_search", "success", "", {"sources": SOURCES}), "q1")
    plan = [BlockStart(0, PlanBlock((PlanItem("q1", "Why?"),))), BlockStop(0)]
    events = [*start(), *plan, PlanUpdate(0, ()), *item, found, *say(3, "The answer. [1]"), *cite(3, 1), *end()]

    answer = collect_response(events)

    assert [(kind, "".join(parts)) for kind, parts in answer.blocks] == [
        ("text", "The answer. [1]"),
        ("text", "Sources:\n- [1] One \\[2\\] # \\*x\\*: https://a.example/1"),
    ]


def replace_parent(events: list[Event], parent: str) -> list[Event]:
    return [replace(event, parent=parent) for event in events if isinstance(event, BlockStart | BlockDelta | BlockStop)]


def test_calls_results_and_files_are_left_out_and_what_is_told_counts_without_gaps() -> None:
    answer = collect_response(research())
    assert [(kind, "".join(parts)) for kind, parts in answer.blocks] == [
        ("thinking", "Let me think."),
        ("text", "I will search."),
        ("text", "The price\nis **42**.\n\nSee the report."),
    ]
    assert {one.index for one in encode_all(research()) if isinstance(one, CompatDelta)} == {0, 1, 2}


def test_the_cited_sources_and_no_others_are_listed_by_number_and_cannot_break_out_of_their_line() -> None:
    searched = [
        *start(),
        *call(0, "c1", "web_search", "Search"),
        *result(1, "c1", "web_search", "…", artifact={"query": "q", "sources": SOURCES}),
        *say(2, "So. [2] And. [1] Not. [9]"),
        *cite(2, 2, 1, 9),
        *end(),
    ]
    assert collect_response(searched).texts("text") == [
        "So. [2] And. [1] Not. [9]",
        "Sources:\n- [1] One \\[2\\] # \\*x\\*: https://a.example/1\n- [2] b.example: https://b.example/2",
    ]


def test_an_answer_without_footnotes_has_no_list() -> None:
    assert collect_response([*start(), *say(0, "42"), *end()]).texts("text") == ["42"]


def test_the_end_has_reason_and_usage() -> None:
    usage = TurnUsage(1, 2, 3, 4, 5)
    assert encode_all([*start(), *say(0, "42"), *end("length", usage=usage)])[-1] == CompatEnded("length", usage)


@pytest.mark.parametrize(
    ("ending", "error"),
    [
        (end("aborted"), STOPPED),
        (end("error"), MODEL_FAILED),
        (end("error", error=ErrorBody("x", "Said.", True)), ErrorBody("x", "Said.", True)),
    ],
)
def test_a_run_that_did_not_end_well_is_told_once_as_a_failure(ending: list[Event], error: ErrorBody) -> None:
    pieces = encode_all([*start(), *say(0, "Half"), *ending])
    assert [one for one in pieces if isinstance(one, CompatFailed | CompatEnded)] == [CompatFailed(error)]
    assert pieces[-1] == CompatFailed(error)


def test_what_was_told_cannot_be_taken_back() -> None:
    assert encode_all([*start(), *say(0, "Half"), RoundRestart(0), *say(0, "Whole"), *end()])[-1] == CompatFailed(
        RESTARTED
    )


def test_a_restart_of_what_was_not_told_is_no_matter() -> None:
    again = [*start(), *say(0, "A"), *call(1, "c", "x", "X"), RoundRestart(1), *think(1, "B"), *say(2, "C"), *end()]
    assert collect_response(again).texts("text") == ["A", "C"]


def test_the_question_is_the_last_message_and_the_others_come_before_it_by_turns() -> None:
    messages = [
        CompatMessage("user", "A"),
        CompatMessage("user", "B"),
        CompatMessage("assistant", ""),
        CompatMessage("assistant", "C"),
        CompatMessage("user", "D"),
    ]
    question = build_question(AGENTS, "writer", "", messages)
    assert (question.agent_id, question.model, question.text, question.title) == ("writer", None, "D", "D")
    answer = AssistantMessage(content=(Text("C"),), stop_reason="stop", model="writer")
    assert question.history == (user_message("A\n\nB"), answer)


def test_instructions_stand_before_the_question_and_not_in_the_title() -> None:
    question = build_question(AGENTS, "openai/x", "Be brief.", [CompatMessage("user", "Who\nwas " + "she " * 40)])
    assert question.text.startswith("<instructions>\nBe brief.\n</instructions>\n\nWho\nwas she")
    assert question.title.startswith("Who was she")
    assert len(question.title) <= 80
    assert (question.agent_id, question.model) == ("researcher", "openai/x")


def test_a_question_that_is_too_long_is_refused() -> None:
    with pytest.raises(UsageError, match=r"1,000,001 characters"):
        build_question(AGENTS, "writer", "", [CompatMessage("user", "x" * 1_000_001)])


@given(st.lists(st.builds(CompatMessage, st.sampled_from(["user", "assistant"]), st.sampled_from(["", " ", "a", "b"]))))
def test_of_any_messages_the_sides_take_turns_and_no_word_is_lost(messages: list[CompatMessage]) -> None:
    try:
        question = build_question(AGENTS, "writer", "", messages)
    except UsageError:
        with_text = [one for one in messages if one.text.strip()]
        assert not with_text or with_text[-1].role == "assistant"
        return
    sides = [type(message) for message in question.history]
    assert all(one is not other for one, other in pairwise([*sides, UserMessage]))
    words = "".join(message.text for message in question.history) + question.text
    assert "".join(words.replace(GREETING_PLACEHOLDER, "").split()) == "".join(one.text.strip() for one in messages)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], True),
        ([*start(), *say(0, "Half")], True),
        ([*start(), *say(0, "Half"), RoundRestart(0)], True),
        ([*start(), *say(0, "Whole"), *end()[:1]], False),
        ([*start(), *end("error", error=ErrorBody("x", "Said.", True))[:1]], False),
    ],
)
def test_a_run_is_left_to_be_stopped_unless_it_said_that_it_ends(events: list[Event], *, expected: bool) -> None:
    teller = CompatEncoder()
    for event in events:
        teller.feed(event)
    assert teller.needs_cancel is expected
