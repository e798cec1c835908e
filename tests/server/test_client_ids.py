"""A message with a `client_id` is stored once, however often it is sent."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from server.harness import ApiClient, ApiResponse, answer_text, open_server, parse_events, script_answer
from upstream import Upstream, reply, say, stall


async def send(client: ApiClient, session_id: str, client_id: str = "first", content: str = "Why?") -> ApiResponse:
    body = {"content": content, "client_id": client_id}
    return await client.request("POST", f"/v2/sessions/{session_id}/messages", body, accept="application/json")


async def questions(client: ApiClient, session_id: str) -> list[Any]:
    history = await client.request("GET", f"/v2/sessions/{session_id}/history")
    return [message for message in history.json["messages"] if message["role"] == "user"]


async def test_the_same_message_again_is_the_same_run(tmp_path: Path, upstream: Upstream) -> None:
    upstream.script(reply(say("Half"), stall()))
    async with open_server(tmp_path, upstream) as server:
        session_id = await server.local.create_session()
        started = [await send(server.local, session_id) for _ in range(3)]
        assert [one.status for one in started] == [202] * 3
        assert [one.json for one in started] == [started[0].json] * 3
        refused = await send(server.local, session_id, "second")
        assert (refused.status, refused.error) == (409, "run_active")
        await server.local.request("POST", f"/v2/runs/{started[0].json['run_id']}/cancel")
        assert len(await questions(server.local, session_id)) == 1


async def test_of_messages_at_the_same_time_one_is_stored(tmp_path: Path, upstream: Upstream) -> None:
    script_answer(upstream)
    async with open_server(tmp_path, upstream) as server:
        session_id = await server.local.create_session()
        started = await asyncio.gather(*(send(server.local, session_id) for _ in range(8)))
        assert [one.status for one in started] == [202] * 8
        assert len({one.json["run_id"] for one in started}) == 1
        assert len(await questions(server.local, session_id)) == 1


async def test_after_its_end_and_after_a_restart_the_run_is_streamed_again(tmp_path: Path, upstream: Upstream) -> None:
    script_answer(upstream)
    async with open_server(tmp_path, upstream) as server:
        session_id = await server.local.create_session()
        path, body = f"/v2/sessions/{session_id}/messages", {"content": "Why?", "client_id": "first"}
        first = await server.local.request("POST", path, body)
        again = await server.local.request("POST", path, body)
        assert (again.status, parse_events(again.body)) == (first.status, parse_events(first.body))
        assert answer_text(parse_events(again.body)) == "Because."
    async with open_server(tmp_path, upstream) as server:
        later = await server.local.request("POST", path, body)
        assert (later.status, parse_events(later.body)) == (first.status, parse_events(first.body))
        assert len(await questions(server.local, session_id)) == 1


async def test_an_edit_that_is_sent_twice_makes_one_branch(tmp_path: Path, upstream: Upstream) -> None:
    script_answer(upstream)
    async with open_server(tmp_path, upstream) as server:
        session_id = await server.local.create_session()
        await server.local.ask_for_events(session_id)
        (question,) = await questions(server.local, session_id)
        path = f"/v2/sessions/{session_id}/messages/{question['id']}/edit"
        edits = [await server.local.request("POST", path, {"content": "How?", "client_id": "x"}) for _ in range(2)]
        assert edits[0].headers["footnote-run"] == edits[1].headers["footnote-run"]


async def test_an_id_counts_within_its_session(tmp_path: Path, upstream: Upstream) -> None:
    script_answer(upstream)
    async with open_server(tmp_path, upstream) as server:
        ann = await server.add_user("ann")
        theirs = await send(ann, await ann.create_session())
        mine = [await send(server.local, await server.local.create_session()) for _ in range(2)]
        assert len({one.json["run_id"] for one in (theirs, *mine)}) == 3
        stolen = await send(server.local, theirs.json["session_id"])
        assert (stolen.status, stolen.error) == (404, "not_found")


@pytest.mark.parametrize("client_id", ["", "a" * 101, "a b", "a\x00", "a\n", "ü", 7])
async def test_an_id_is_short_and_plain(tmp_path: Path, upstream: Upstream, client_id: Any) -> None:
    async with open_server(tmp_path, upstream) as server:
        assert (await send(server.local, await server.local.create_session(), client_id)).status in (400, 422)
