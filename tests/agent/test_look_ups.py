"""What is judged of an answer: all statements if something was looked up, and one word about it if nothing was."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec import UNSET, to_builtins

from agent.turn_harness import TurnHarness, TurnRecording, tool
from footnote.agent.look_ups import LookUps
from footnote.evidence.sources import Sources
from footnote.models.scripted import ScriptedEnd, ScriptedModel, Step, call, fails, text
from footnote.protocol.events import BlockDelta, BlockStop, CitationsGrowth
from footnote.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    Text,
    ToolResultMessage,
    UserMessage,
    user_message,
)
from footnote.protocol.sources import Citation, Snapshot, Source
from footnote.protocol.tools import ToolResult
from footnote.tools.base import Abilities, Outcome, Tool, ToolContext

PAGE = Snapshot(url="https://example.org/", text="Hanoi has 8.4 million people. It was founded in 1010.")
SOURCE = Source(url=PAGE.url, title="", snippet="", domain="example.org", number=1, status="read", snapshot_id=PAGE.id)
SEARCHED = ToolResultMessage("c1", "web_search", (Text("found"),), artifact={"sources": [to_builtins(SOURCE)]})
ANSWER = "Hanoi has 8.4 million people."


def sources() -> Sources:
    found = Sources()
    found.add(SOURCE, PAGE)
    return found


def unsourced(question: str, answer: str, *results: ToolResultMessage) -> bool:
    return LookUps.of((user_message(question), *results)).is_unsourced(answer, Sources())


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many people live in Hanoi?", ANSWER),
        ("Hà Nội có bao nhiêu dân?", "Hà Nội có 8,4 triệu dân."),
        ("河内有多少人口？", "河内有840万人口。"),
        ("Who designed the bridge?", "The bridge was designed by Gustave Eiffel."),
        ("What did he say?", 'He said: "I came, I saw, I conquered the whole country."'),
        ("Tell me about Hue", "## Hue\n\n- Founded: 1306\n- People: 450,000\n"),
        ("How many people live in Hanoi?", "I think it is a lot. Hanoi had 8.4 million people in 2023."),
    ],
)
def test_an_answer_with_facts_for_which_nothing_was_looked_up_is_unsourced(question: str, answer: str) -> None:
    assert unsourced(question, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Hello!", "Hello! I am Footnote. What would you like to know?"),
        ("Translate into English: Hà Nội có 8,4 triệu dân.", "Hanoi has 8.4 million people."),
        ("Write a poem about Hanoi in 1010", "In 1010 the dragon rose\nabove Thăng Long."),
        ("What is 12 * 30?", "12 × 30 = 360."),
        ("Write a function that adds 2 numbers", "```python\ndef add(a, b):\n    return a + b\n```\nPython has it."),
        ("How do I sort a list in Python?", "Use this:\n\n```python\nsorted([3, 1, 2])\n```\n\nIt is from 1991."),
        ("How many people live in Hanoi?", "Which year do you mean, 2019 or 2023?"),
        ("How many people live in Hanoi?", "I'm sorry, I cannot help with Hanoi in 2023."),
        ("Is Hue nice?", "I think Hue is nicer than Hanoi."),
        ("My sister Anna was born in 1990. How old is she in 2020?", "Anna was born in 1990, so she is 30 in 2020."),
        ("Summarise: Hanoi has 8.4 million people and lies on the Red River.", "Hanoi has 8.4 million people."),
        ("Make it shorter", "Hanoi has 8.4 million people."),
        ("你好", "你好！有什么可以帮您？"),
        ("Dịch sang tiếng Anh: Hà Nội có 8 triệu dân", "Hanoi has 8 million people."),
        ("x " * 800, ANSWER),
    ],
)
def test_what_states_no_facts_of_its_own_is_not(question: str, answer: str) -> None:
    assert not unsourced(question, answer)


def test_an_answer_from_a_file_another_tool_or_a_picture_is_not_unsourced() -> None:
    question = "How many people live there?"
    assert not unsourced(question, ANSWER, ToolResultMessage("c1", "read_file", (Text("Hanoi: 8.4 million people"),)))
    assert not unsourced(question, ANSWER, ToolResultMessage("c1", "mcp__city__count", (Text("8400000"),)))
    assert unsourced(question, ANSWER, ToolResultMessage("c1", "write_file", (Text("Written."),)))
    asked = UserMessage((Text(question), Image("image/png", b"")))
    assert not LookUps.of((asked,)).is_unsourced(ANSWER, Sources())


def test_a_turn_that_goes_on_with_footnotes_to_earlier_sources_has_looked_up() -> None:
    earlier = (user_message("How many?"), SEARCHED, AssistantMessage((Text("8.4 million [1]."),), "m", "stop"))
    follow_up = LookUps.of((*earlier, user_message("And when was it founded?")))
    assert follow_up.judges_everything("It was founded in 1010 [1].", sources())
    assert not follow_up.is_unsourced("It was founded in 1010 [1].", sources())
    assert not follow_up.judges_everything("It was founded in 1010.", sources())
    assert follow_up.is_unsourced("It was founded in 1010.", sources())


def citations_of(recording: TurnRecording) -> dict[int, tuple[Citation, ...]]:
    deltas = (event for event in recording.events if isinstance(event, BlockDelta))
    return {event.index: event.delta.citations for event in deltas if isinstance(event.delta, CitationsGrowth)}


async def answered(*responses: list[Step], history: tuple[Message, ...] = ()) -> TurnRecording:
    messages = (*history, user_message("How many people live in Hanoi?"))
    model = ScriptedModel(responses)
    return await TurnHarness(model, [search_tool()], messages, abilities=Abilities(sources=sources())).play()


def search_tool() -> Tool:
    async def body(_params: Any, _context: ToolContext) -> AsyncIterator[Outcome]:
        yield ToolResult((Text("found"),), artifact={"sources": [to_builtins(SOURCE)]})

    return tool("web_search", body)


async def test_the_last_text_of_a_turn_is_judged_as_a_whole_and_a_text_before_a_call_is_not() -> None:
    answer = "Hanoi has 8.4 million people. It was founded in 1010 [1]. Hue has 450,000."
    recording = await answered(
        [text("In 2019 it was 8 million. I will search."), call("web_search", {})], [text(answer)]
    )
    [(index, citations)] = citations_of(recording).items()
    assert [(answer[one.start : one.end], one.verdict, one.suggestion) for one in citations] == [
        ("Hanoi has 8.4 million people.", "uncited", 1),
        ("It was founded in 1010 [1].", "supported", None),
        ("Hue has 450,000.", "uncited", None),
    ]
    block = [one for one in recording.events if getattr(one, "index", None) == index]
    assert [type(one) for one in block[-2:]] == [BlockDelta, BlockStop]
    stored = recording.stored_messages[-1]
    assert isinstance(stored, AssistantMessage)
    assert stored.content == (Text(answer, citations, is_wholly_judged=True),)
    assert recording.end.delta.unsourced is UNSET


async def test_where_nothing_was_looked_up_nothing_is_marked_and_one_word_says_so() -> None:
    recording = await answered([text(ANSWER)])
    assert citations_of(recording) == {}
    assert recording.end.delta.unsourced is True
    assert recording.stored_messages[-1].content == (Text(ANSWER),)
    recording = await answered([text("Hello!")])
    assert recording.end.delta.unsourced is UNSET


async def test_an_answer_that_breaks_off_is_not_said_to_be_unsourced() -> None:
    for end in (fails(), ScriptedEnd("length")):
        recording = await answered([text(ANSWER), end])
        assert recording.end.delta.unsourced is UNSET
