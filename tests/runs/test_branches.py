"""Retry and edit create branches, which can be switched."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.harness import ServerHarness, answer_text, open_server, parse_events
from upstream import Upstream, reply, say, stop


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    upstream.script(lambda request: reply(say(f"Answer {len(upstream.requests)}."), stop()))
    async with open_server(tmp_path, upstream) as opened:
        yield opened


def _texts(history: dict[str, Any]) -> list[str]:
    return ["".join(block["text"] for block in message["content"]) for message in history["messages"]]


async def _sent_texts(upstream: Upstream) -> list[str]:
    """The messages of the last request, without the system prompt."""
    messages = upstream.requests[-1].body["messages"]
    return [str(message["content"]) for message in messages if message["role"] != "system"]


async def test_a_retry_answers_the_same_question_again_and_replaces_the_answer_that_is_shown(
    server: ServerHarness, upstream: Upstream
):
    client = server.local
    session_id = await client.create_session()
    await client.ask_for_events(session_id, "One?")
    await client.ask_for_events(session_id, "Two?")
    history = await client.history(session_id)
    second = history["messages"][3]["id"]
    response = await client.request("POST", f"/v2/sessions/{session_id}/messages/{second}/retry", {})
    assert answer_text(parse_events(response.body)) == "Answer 3."
    assert _texts(await client.history(session_id)) == ["One?", "Answer 1.", "Two?", "Answer 3."]
    assert await _sent_texts(upstream) == ["One?", "Answer 1.", "Two?"], (
        "the old answer is not a part of the conversation"
    )
    turn = (await client.history(session_id))["turns"][1]
    assert turn["answers"] == [second, turn["message_id"]]


async def test_an_edited_question_is_a_branch_and_the_old_one_can_be_shown_again(
    server: ServerHarness, upstream: Upstream
):
    client = server.local
    session_id = await client.create_session()
    await client.ask_for_events(session_id, "One?")
    await client.ask_for_events(session_id, "Two?")
    before = await client.history(session_id)
    first = before["messages"][0]["id"]
    path = f"/v2/sessions/{session_id}/messages/{first}/edit"
    response = await client.request("POST", path, {"content": "Uno?"})
    assert answer_text(parse_events(response.body)) == "Answer 3."
    after = await client.history(session_id)
    assert _texts(after) == ["Uno?", "Answer 3."]
    assert await _sent_texts(upstream) == ["Uno?"]
    assert after["turns"][0]["questions"] == [first, after["messages"][0]["id"]]
    assert (await client.request("PATCH", f"/v2/sessions/{session_id}", {"head": first})).status == 200
    assert _texts(await client.history(session_id)) == _texts(before)
    await client.ask_for_events(session_id, "Three?")
    assert _texts(await client.history(session_id)) == [
        "One?",
        "Answer 1.",
        "Two?",
        "Answer 2.",
        "Three?",
        "Answer 4.",
    ]


async def test_a_message_of_another_session_cannot_be_retried_or_edited(server: ServerHarness):
    client = server.local
    one, two = await client.create_session(), await client.create_session()
    await client.ask_for_events(one, "One?")
    message_id = (await client.history(one))["messages"][0]["id"]
    for path, body in (("retry", {}), ("edit", {"content": "Mine now"})):
        refused = await client.request("POST", f"/v2/sessions/{two}/messages/{message_id}/{path}", body)
        assert (refused.status, refused.error) == (404, "not_found")
    assert _texts(await client.history(one)) == ["One?", "Answer 1."]
    assert (await client.history(two))["messages"] == []


async def test_the_same_conversation_is_carried_on_by_the_next_question(server: ServerHarness, upstream: Upstream):
    client = server.local
    session_id = await client.create_session()
    for question in ("One?", "Two?", "Three?"):
        await client.ask_for_events(session_id, question)
    assert await _sent_texts(upstream) == ["One?", "Answer 1.", "Two?", "Answer 2.", "Three?"]
