"""Following a run: any number of followers, from any event, at any speed."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from footnote.db import runs as db
from runs.fold import FoldedTurn, blocks_of_history
from server.harness import ServerHarness, open_server
from upstream import Upstream, call, parallel_calls, pause, reply, say, stall, stop, think

WRITE = {"file_path": "/report.md", "content": "# Report\n\nĐiện Biên Phủ, 北京\n"}


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with open_server(tmp_path, upstream) as opened:
        yield opened


def _script(upstream: Upstream) -> None:
    calls = parallel_calls(
        call("write_file", WRITE, id="c1"), call("list_files", {}, id="c2"), call("nothing", {}, id="c3")
    )
    upstream.script(
        reply(think("Hm, ", "let me see."), say("I write ", "a report."), calls, stop("toolUse")),
        reply(say(*(f"word{number} — điều 第{number} " for number in range(40))), pause(0.05), say("End."), stop()),
    )


def _ids(stream: bytes) -> list[int]:
    return [int(line[4:]) for line in stream.split(b"\n") if line.startswith(b"id: ")]


async def test_whoever_comes_back_at_any_event_gets_the_rest_byte_for_byte(server: ServerHarness, upstream: Upstream):
    _script(upstream)
    client = server.local
    session_id = await client.create_session()
    live = (await client.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?"})).body
    ids = _ids(live)
    assert ids == list(range(1, len(ids) + 1))
    folded = FoldedTurn()
    folded.feed(live)
    view = (await client.request("GET", f"/v2/sessions/{session_id}/history?turns=true")).json
    run_id = view["turns"][0]["run_id"]
    frames = live.split(b"\n\n")[:-1]
    for at in range(len(frames) + 1):
        rest = await client.run_events(run_id, at)
        assert rest == b"".join(frame + b"\n\n" for frame in frames[at:])
        again = FoldedTurn()
        again.feed(b"".join(frame + b"\n\n" for frame in frames[:at]) + rest)
        assert again.shown == folded.shown
    assert blocks_of_history(view, folded.message_id or "") == folded.shown["blocks"]


async def test_three_followers_at_once_see_the_same_while_it_happens(server: ServerHarness, upstream: Upstream):
    _script(upstream)
    client = server.local
    run_id = await client.start_run(await client.create_session())
    streams = await asyncio.gather(*(client.run_events(run_id) for _ in range(3)))
    assert streams[0] == streams[1] == streams[2]
    assert streams[0] == await client.run_events(run_id)
    folded = FoldedTurn()
    folded.feed(streams[0])
    assert folded.ended
    assert folded.shown["stop_reason"] == "stop"


async def test_a_follower_that_does_not_read_holds_nobody_up(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say(*["x" * 2000] * 3000), stop()))
    client = server.local
    run_id = await client.start_run(await client.create_session())
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    head = f"GET /v2/runs/{run_id}/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {client.token}\r\n\r\n"
    writer.write(head.encode())
    await writer.drain()
    await reader.readline()
    stream = await client.run_events(run_id)
    assert stream.endswith(b'data: {"type":"message_stop"}\n\n')
    assert len(stream) > 6_000_000
    writer.close()


async def test_a_run_goes_on_when_nobody_follows_it(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("First "), pause(0.1), say("and last."), stop()))
    client = server.local
    session_id = await client.create_session()
    headers = {"authorization": f"Bearer {client.token}"}
    async with server.http.post(
        f"{server.url}/v2/sessions/{session_id}/messages", json={"content": "Why?"}, headers=headers
    ) as response:
        await response.content.readany()
    view = (await client.request("GET", f"/v2/sessions/{session_id}/history?turns=true")).json
    run_id = view["turns"][0]["run_id"]
    stream = await client.run_events(run_id)
    assert b"and last." in stream


async def test_cancelling_reaches_the_upstream_socket_and_keeps_what_came(server: ServerHarness, upstream: Upstream):
    """The model sends nothing more, and the supervisor does not run: only the test can end the run."""
    upstream.script(reply(say("So far "), stall()))
    server.app.runner._supervisor.stop()
    client = server.local
    session_id = await client.create_session()
    run_id = await client.start_run(session_id)
    request = await upstream.wait_received(1)
    following = asyncio.create_task(client.run_events(run_id))
    async with aclosing(server.app.runner.follow(run_id)) as pieces:
        async for piece in pieces:
            if b"So far" in piece:
                break
    response = await client.request("POST", f"/v2/runs/{run_id}/cancel")
    await request.connection.closed.wait()
    assert response.json["state"] == "cancelled"
    folded = FoldedTurn()
    folded.feed(await following)
    assert folded.shown["stop_reason"] == "aborted"
    assert folded.shown["blocks"] == [{"type": "text", "text": "So far "}]
    history = (await client.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert blocks_of_history(history, folded.message_id or "") == folded.shown["blocks"]


async def test_cancelling_what_has_ended_changes_nothing(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("Done."), stop()))
    client = server.local
    run_id = await client.start_run(await client.create_session())
    await client.run_events(run_id)
    response = await client.request("POST", f"/v2/runs/{run_id}/cancel")
    assert (response.status, response.json["state"]) == (200, "done")


async def test_a_second_message_while_a_run_is_active_is_refused(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    client = server.local
    session_id = await client.create_session()
    run_id = await client.start_run(session_id)
    for path in ("messages", "messages/nothing/retry"):
        body: dict[str, Any] = {"content": "And?"} if path == "messages" else {}
        refused = await client.request("POST", f"/v2/sessions/{session_id}/{path}", body)
        assert (refused.status, refused.error) in ((409, "run_active"), (404, "not_found"))
    history = (await client.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert history["active_run"] == {"run_id": run_id}
    assert [message["role"] for message in history["messages"]] == ["user"], "the answer stands in the events"
    await client.request("POST", f"/v2/runs/{run_id}/cancel")


async def test_of_many_messages_at_once_one_starts_a_run(server: ServerHarness, upstream: Upstream):
    upstream.script(lambda _: reply(say("Wait."), stall()))
    client = server.local
    session_id = await client.create_session()
    path = f"/v2/sessions/{session_id}/messages"
    answers = await asyncio.gather(
        *(client.request("POST", path, {"content": "Why?"}, accept="application/json") for _ in range(10))
    )
    assert sorted(response.status for response in answers) == [202, *[409] * 9]
    await client.request("POST", f"/v2/runs/{next(a for a in answers if a.status == 202).json['run_id']}/cancel")


async def test_events_that_are_no_longer_kept_are_told_as_a_gap(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("One ", "two ", "three."), stop()))
    client = server.local
    run_id = await client.start_run(await client.create_session())
    whole = await client.run_events(run_id)
    await server.app._database.write(db.prune_events(time.time() + 1))
    pruned = await client.run_events(run_id, 2)
    assert b"event: gap\n" in pruned
    assert pruned.endswith(b'data: {"type":"message_stop"}\n\n')
    gap_id = _ids(pruned)[0]
    last = whole.split(b"\n\n")[gap_id:]
    assert pruned.split(b"\n\n")[1:] == last
    assert await client.run_events(run_id, gap_id) == b"\n\n".join(last), "who has them already misses nothing"


async def test_a_follower_with_an_id_that_was_never_sent_begins_again(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("Done."), stop()))
    client = server.local
    run_id = await client.start_run(await client.create_session())
    whole = await client.run_events(run_id)
    again = await client.run_events(run_id, 77_000)
    assert again == b'id: 0\nevent: round_restart\ndata: {"type":"round_restart","from_index":0}\n\n' + whole


async def test_a_line_that_is_silent_is_kept_alive_by_pings_without_an_id(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    client = server.local
    run_id = await client.start_run(await client.create_session())
    pieces = [piece async for piece in _until_idle(server, run_id)]
    assert pieces[-1] == b""
    await client.request("POST", f"/v2/runs/{run_id}/cancel")


async def _until_idle(server: ServerHarness, run_id: str) -> AsyncIterator[bytes]:
    pieces = server.app.runner.follow(run_id, idle_seconds=0.01)
    async for piece in pieces:
        yield piece
        if not piece:
            break
    await pieces.aclose()


async def test_more_runs_than_may_be_carried_on_at_once_wait_their_turn(tmp_path: Path, upstream: Upstream):
    upstream.script(reply(say("First."), stall()), lambda _: reply(say("Next."), stop()))
    async with open_server(tmp_path, upstream, FOOTNOTE_LIMITS_RUNS_AT_ONCE="1") as server:
        client = server.local
        first = await client.start_run(await client.create_session())
        await upstream.wait_received(1)
        second = await client.start_run(await client.create_session())
        third = await client.start_run(await client.create_session())
        states = [(await client.request("GET", f"/v2/runs/{run}")).json["state"] for run in (first, second, third)]
        assert states == ["running", "queued", "queued"]
        cancelled = await client.request("POST", f"/v2/runs/{third}/cancel")
        assert cancelled.json["state"] == "cancelled", "one that waits can be cancelled"
        await client.request("POST", f"/v2/runs/{first}/cancel")
        assert b"Next." in await client.run_events(second)


async def test_a_user_has_so_many_runs_at_once_and_a_clear_error_after_that(tmp_path: Path, upstream: Upstream):
    upstream.script(lambda _: reply(say("Wait."), stall()))
    async with open_server(tmp_path, upstream, FOOTNOTE_LIMITS_RUNS_PER_USER="2") as server:
        client = server.local
        runs = [await client.start_run(await client.create_session()) for _ in range(2)]
        session_id = await client.create_session()
        refused = await client.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?"})
        assert (refused.status, refused.error) == (429, "limit_reached")
        assert "retry-after" in {name.lower() for name in refused.headers}
        history = (await client.request("GET", f"/v2/sessions/{session_id}/history")).json
        assert history["messages"] == []
        other = await server.add_user("ann")
        runs.append(await other.start_run(await other.create_session()))
        for person_, run in ((client, runs[0]), (client, runs[1]), (other, runs[2])):
            await person_.request("POST", f"/v2/runs/{run}/cancel")
    assert len(upstream.requests) <= 3, "the model was not asked for what was refused"


async def test_an_answer_that_cannot_be_had_ends_the_run_with_its_reason(server: ServerHarness, upstream: Upstream):
    client = server.local
    session_id = await client.create_session()
    refused = await client.request(
        "POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?", "model": "no/model"}
    )
    assert refused.status == 400
    assert "no" in refused.json["error"]["message"]
    assert upstream.requests == []


async def test_a_question_of_nothing_but_space_is_refused(server: ServerHarness, upstream: Upstream):
    client = server.local
    session_id = await client.create_session()
    refused = await client.request("POST", f"/v2/sessions/{session_id}/messages", {"content": " \n\t "})
    assert (refused.status, refused.json["error"]["message"]) == (400, "The question is empty.")
    assert upstream.requests == []


async def test_deleting_a_session_ends_its_run(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    client = server.local
    session_id = await client.create_session()
    run_id = await client.start_run(session_id)
    request = await upstream.wait_received(1)
    assert (await client.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
    await request.connection.closed.wait()
    assert (await client.request("GET", f"/v2/runs/{run_id}")).status == 404
    assert (await client.request("GET", f"/v2/sessions/{session_id}/history")).status == 404


async def test_the_connection_may_be_lost_at_any_byte(server: ServerHarness, upstream: Upstream):
    _script(upstream)
    client = server.local
    run_id = await client.start_run(await client.create_session())
    folded = FoldedTurn()
    headers = {"authorization": f"Bearer {client.token}"}
    while not folded.ended:
        if folded.last_id:
            headers["last-event-id"] = str(folded.last_id)
        async with (
            aiohttp.ClientSession() as http,
            http.get(f"{server.url}/v2/runs/{run_id}/events", headers=headers) as response,
        ):
            piece = await response.content.read(997)
            whole, mark, _ = piece.rpartition(b"\n\n")
            folded.feed(whole + mark)
            if not mark and piece:
                rest = await response.content.readuntil(b"\n\n")
                folded.feed(piece + rest)
    whole = FoldedTurn()
    whole.feed(await client.run_events(run_id))
    assert folded.shown == whole.shown
