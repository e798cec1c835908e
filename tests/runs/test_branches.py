"""Retry and edit: branches beside what was said, which can be shown again."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.house import House, Person, answer_text, open_house, parse_events
from upstream import Upstream, reply, say, stop


@pytest.fixture
async def house(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    upstream.script(lambda request: reply(say(f"Answer {len(upstream.requests)}."), stop()))
    async with open_house(tmp_path, upstream) as opened:
        yield opened


async def _history(person: Person, session_id: str) -> dict[str, Any]:
    return (await person.request("GET", f"/v2/sessions/{session_id}/history?turns=true")).json


def _texts(history: dict[str, Any]) -> list[str]:
    return ["".join(block["text"] for block in message["content"]) for message in history["messages"]]


async def _sent_texts(upstream: Upstream) -> list[str]:
    """The conversation of the last request, without the system prompt."""
    messages = upstream.requests[-1].body["messages"]
    return [str(message["content"]) for message in messages if message["role"] != "system"]


async def test_a_retry_answers_the_same_question_again_and_replaces_the_answer_that_is_shown(
    house: House, upstream: Upstream
):
    person = house.local
    session_id = await person.create_session()
    await person.ask_for_events(session_id, "One?")
    await person.ask_for_events(session_id, "Two?")
    history = await _history(person, session_id)
    second = history["messages"][3]["id"]
    answer = await person.request("POST", f"/v2/sessions/{session_id}/messages/{second}/retry", {})
    assert answer_text(parse_events(answer.body)) == "Answer 3."
    assert _texts(await _history(person, session_id)) == ["One?", "Answer 1.", "Two?", "Answer 3."]
    assert await _sent_texts(upstream) == ["One?", "Answer 1.", "Two?"], (
        "the old answer is not a part of the conversation"
    )
    turn = (await _history(person, session_id))["turns"][1]
    assert turn["answers"] == [second, turn["message_id"]]


async def test_an_edited_question_is_a_branch_and_the_old_one_can_be_shown_again(house: House, upstream: Upstream):
    person = house.local
    session_id = await person.create_session()
    await person.ask_for_events(session_id, "One?")
    await person.ask_for_events(session_id, "Two?")
    before = await _history(person, session_id)
    first = before["messages"][0]["id"]
    path = f"/v2/sessions/{session_id}/messages/{first}/edit"
    answer = await person.request("POST", path, {"content": "Uno?"})
    assert answer_text(parse_events(answer.body)) == "Answer 3."
    after = await _history(person, session_id)
    assert _texts(after) == ["Uno?", "Answer 3."]
    assert await _sent_texts(upstream) == ["Uno?"]
    assert after["turns"][0]["questions"] == [first, after["messages"][0]["id"]]
    assert (await person.request("PATCH", f"/v2/sessions/{session_id}", {"head": first})).status == 200
    assert _texts(await _history(person, session_id)) == _texts(before)
    await person.ask_for_events(session_id, "Three?")
    assert _texts(await _history(person, session_id)) == [
        "One?",
        "Answer 1.",
        "Two?",
        "Answer 2.",
        "Three?",
        "Answer 4.",
    ]


async def test_a_message_of_another_session_cannot_be_retried_or_edited(house: House):
    person = house.local
    one, two = await person.create_session(), await person.create_session()
    await person.ask_for_events(one, "One?")
    message_id = (await _history(person, one))["messages"][0]["id"]
    for path, body in (("retry", {}), ("edit", {"content": "Mine now"})):
        refused = await person.request("POST", f"/v2/sessions/{two}/messages/{message_id}/{path}", body)
        assert (refused.status, refused.error) == (404, "not_found")
    assert _texts(await _history(person, one)) == ["One?", "Answer 1."]
    assert (await _history(person, two))["messages"] == []


async def test_the_same_conversation_is_carried_on_by_the_next_question(house: House, upstream: Upstream):
    person = house.local
    session_id = await person.create_session()
    for question in ("One?", "Two?", "Three?"):
        await person.ask_for_events(session_id, question)
    assert await _sent_texts(upstream) == ["One?", "Answer 1.", "Two?", "Answer 2.", "Three?"]
