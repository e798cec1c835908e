"""The question to the user before a research run, over HTTP between a real server and a scripted model."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.protocol.plans import Clarification
from footnote.research import clarify
from footnote.research.clarify import parse_clarification
from server.harness import ServerHarness, open_server
from upstream import Upstream, hold, reply, say, stall, status, stop

PATH = "/v2/clarifications"
NOTHING = {"question": None, "answers": []}
MERCURY = {"question": "Which Mercury do you mean?", "answers": ["The planet", "The metal", "The god"]}


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with open_server(tmp_path, upstream) as server:
        yield server


async def ask(server: ServerHarness, content: str = "Tell me all about Mercury", **more: str) -> Any:
    response = await server.local.request("POST", PATH, {"content": content, **more})
    assert response.status == 200, response.json
    return response.json


async def test_a_question_with_its_answers_is_handed_on(server: ServerHarness, upstream: Upstream) -> None:
    upstream.script(reply(say(json.dumps(MERCURY)), stop()))
    assert await ask(server, locale="vi") == MERCURY
    (request,) = upstream.requests
    system, asked = request.body["messages"]
    assert "Vietnamese" in system["content"]
    assert "Tell me all about Mercury" in asked["content"]
    assert "tools" not in request.body


async def test_a_clear_question_is_not_asked_about(server: ServerHarness, upstream: Upstream) -> None:
    upstream.script(reply(say('{"question": null, "answers": []}'), stop()))
    assert await ask(server) == NOTHING


async def test_a_model_that_fails_asks_nothing(server: ServerHarness, upstream: Upstream) -> None:
    upstream.script(status(401))
    assert await ask(server) == NOTHING
    upstream.script(lambda _: status(500))
    assert await ask(server) == NOTHING


async def test_a_slow_model_asks_nothing(
    server: ServerHarness, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clarify, "TIMEOUT_SECONDS", 0.3)
    upstream.script(reply(say('{"question": "Which Mercury'), stall()))
    assert await ask(server) == NOTHING
    connection = upstream.requests[0].connection
    await asyncio.wait_for(connection.closed.wait(), 30)


async def test_an_agent_can_do_without(tmp_path: Path, upstream: Upstream) -> None:
    home = tmp_path / ".footnote"
    home.mkdir()
    agents = [{"id": "asks"}, {"id": "quiet", "research": {"clarify": False}}]
    (home / "agents.json").write_text(json.dumps({"agents": agents}))
    upstream.script(reply(say(json.dumps(MERCURY)), stop()))
    async with open_server(tmp_path, upstream) as server:
        assert await ask(server, agent_id="quiet") == NOTHING
        assert upstream.requests == []
        assert await ask(server, agent_id="asks") == MERCURY


async def test_without_a_model_nothing_is_asked(tmp_path: Path) -> None:
    async with open_server(tmp_path) as server:
        assert await ask(server) == NOTHING


async def test_a_small_model_is_not_asked(server: ServerHarness, upstream: Upstream) -> None:
    assert await ask(server, model="openai/qwen2.5-1.5b-instruct") == NOTHING
    assert upstream.requests == []


async def test_what_does_not_exist_is_an_error(server: ServerHarness) -> None:
    for fields, code in (({"agent_id": "nobody"}, "agent_not_found"), ({"model": "nothing/at-all"}, None)):
        response = await server.local.request("POST", PATH, {"content": "Why?", **fields})
        assert response.status == 400
        assert code in (None, response.json["error"]["code"])


async def test_a_user_cannot_ask_more_models_at_once_than_runs(tmp_path: Path, upstream: Upstream) -> None:
    end = asyncio.Event()
    upstream.script(reply(hold(end), say(json.dumps(MERCURY)), stop()))
    async with open_server(tmp_path, upstream, FOOTNOTE_LIMITS_RUNS_PER_USER="1") as server:
        first = asyncio.create_task(ask(server))
        await upstream.wait_received(1)
        assert await ask(server) == NOTHING
        end.set()
        assert await first == MERCURY
    assert len(upstream.requests) == 1


async def test_requests_count_towards_the_limit_of_the_user(tmp_path: Path, upstream: Upstream) -> None:
    upstream.script(lambda _: reply(say("none"), stop()))
    async with open_server(tmp_path, upstream, FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE="2") as server:
        ada = await server.add_user("ada")
        statuses = [(await ada.request("POST", PATH, {"content": "Why?"})).status for _ in range(8)]
    assert statuses[0] == 200
    assert statuses[-1] == 429


@pytest.mark.parametrize(
    "text",
    [
        '{"question": "Which one?", "answers": ["A", "B"]}',
        '```json\n{"question": "Which one?", "options": ["A", "B"]}\n```',
        '<think>{"question": null}</think>{"clarification": "Which one?", "choices": [{"label": "A"}, {"label": "B"}]}',
        '{"question": "Which one?", "answers": {"a": "A", "b": "B"}}',
        '{"question": "Which one?", "answers": "1. A\\n2. B"}',
        '{"question": "Which one?", "answers": ["A", "a", "B", "Other", "Something else"]}',
        "I have one question.\n**Which one?**\n- A\n- B",
    ],
)
def test_a_clarification_is_read_in_any_form(text: str) -> None:
    assert parse_clarification(text) == Clarification("Which one?", ("A", "B"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "No clarification is needed.",
        "The question is clear.",
        '{"question": ""}',
        '{"question": "none", "answers": ["A", "B"]}',
        '{"question": "Which one?"}',
        '{"question": "Which one?", "answers": ["A"]}',
        '{"question": "Which one", "answers": ["A", "B"]}',
        json.dumps({"question": f"{'Which ' * 40}?", "answers": ["A", "B"]}),
        json.dumps({"question": "Which one?", "answers": ["A" * 81, "B"]}),
        "Which one?",
        '{"question": "Which one?", "answers": ["A", "B',
        "[" * 50_000,
    ],
)
def test_anything_else_asks_nothing(text: str) -> None:
    assert parse_clarification(text) == Clarification()


def test_there_are_at_most_five_answers() -> None:
    text = json.dumps({"question": "哪一个？", "answers": list("abcdefg")})
    assert parse_clarification(text) == Clarification("哪一个？", tuple("abcde"))


@given(st.text(max_size=300) | st.text(alphabet='{}[]":,?\n-1aquestionwr ', max_size=300))
def test_any_answer_can_be_read(text: str) -> None:
    found = parse_clarification(text)
    assert (found.question is None) == (not found.answers)
    assert len(found.question or "") <= 200
    assert all(0 < len(one) <= 80 for one in found.answers)
