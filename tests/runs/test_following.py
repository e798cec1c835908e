"""Following a run: any number of followers, from any event on, at any pace."""

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
from server.house import House, Person, open_house
from upstream import Upstream, call, pause, reply, say, stall, stop, think, together

WRITE = {"file_path": "/report.md", "content": "# Report\n\nĐiện Biên Phủ, 北京\n"}


@pytest.fixture
async def house(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    async with open_house(tmp_path, upstream) as opened:
        yield opened


def _script(upstream: Upstream) -> None:
    calls = together(call("write_file", WRITE, id="c1"), call("list_files", {}, id="c2"), call("nothing", {}, id="c3"))
    upstream.script(
        reply(think("Hm, ", "let me see."), say("I write ", "a report."), calls, stop("toolUse")),
        reply(say(*(f"word{number} — điều 第{number} " for number in range(40))), pause(0.05), say("End."), stop()),
    )


async def _start(person: Person, session_id: str, question: str = "Why?") -> str:
    started = await person.request(
        "POST", f"/v2/sessions/{session_id}/messages", {"content": question}, accept="application/json"
    )
    assert started.status == 202, started
    return started.json["run_id"]


async def _events(person: Person, run_id: str, after: int | None = None) -> bytes:
    headers = {} if after is None else {"last_event_id": str(after)}
    answer = await person.request("GET", f"/v2/runs/{run_id}/events", **headers)
    assert answer.status == 200, answer
    return answer.body


def _ids(stream: bytes) -> list[int]:
    return [int(line[4:]) for line in stream.split(b"\n") if line.startswith(b"id: ")]


async def test_whoever_comes_back_at_any_event_gets_the_rest_byte_for_byte(house: House, upstream: Upstream):
    _script(upstream)
    person = house.local
    session_id = await person.create_session()
    live = (await person.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?"})).body
    ids = _ids(live)
    assert ids == list(range(1, len(ids) + 1))
    folded = FoldedTurn()
    folded.feed(live)
    view = (await person.request("GET", f"/v2/sessions/{session_id}/history?turns=true")).json
    run_id = view["turns"][0]["run_id"]
    frames = live.split(b"\n\n")[:-1]
    for at in range(len(frames) + 1):
        rest = await _events(person, run_id, at)
        assert rest == b"".join(frame + b"\n\n" for frame in frames[at:])
        again = FoldedTurn()
        again.feed(b"".join(frame + b"\n\n" for frame in frames[:at]) + rest)
        assert again.shown == folded.shown
    assert blocks_of_history(view, folded.message_id or "") == folded.shown["blocks"]


async def test_three_followers_at_once_see_the_same_while_it_happens(house: House, upstream: Upstream):
    _script(upstream)
    person = house.local
    run_id = await _start(person, await person.create_session())
    streams = await asyncio.gather(*(_events(person, run_id) for _ in range(3)))
    assert streams[0] == streams[1] == streams[2]
    assert streams[0] == await _events(person, run_id)
    folded = FoldedTurn()
    folded.feed(streams[0])
    assert folded.ended
    assert folded.shown["stop_reason"] == "stop"


async def test_a_follower_that_does_not_read_holds_nobody_up(house: House, upstream: Upstream):
    upstream.script(reply(say(*["x" * 2000] * 3000), stop()))
    person = house.local
    run_id = await _start(person, await person.create_session())
    host, port = house.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    head = f"GET /v2/runs/{run_id}/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {person.token}\r\n\r\n"
    writer.write(head.encode())
    await writer.drain()
    await reader.readline()
    stream = await _events(person, run_id)
    assert stream.endswith(b'data: {"type":"message_stop"}\n\n')
    assert len(stream) > 6_000_000
    writer.close()


async def test_a_run_goes_on_when_nobody_follows_it(house: House, upstream: Upstream):
    upstream.script(reply(say("First "), pause(0.1), say("and last."), stop()))
    person = house.local
    session_id = await person.create_session()
    headers = {"authorization": f"Bearer {person.token}"}
    async with house.http.post(
        f"{house.url}/v2/sessions/{session_id}/messages", json={"content": "Why?"}, headers=headers
    ) as answer:
        await answer.content.readany()
    view = (await person.request("GET", f"/v2/sessions/{session_id}/history?turns=true")).json
    run_id = view["turns"][0]["run_id"]
    stream = await _events(person, run_id)
    assert b"and last." in stream


async def test_cancelling_reaches_the_upstream_socket_and_keeps_what_came(house: House, upstream: Upstream):
    """The model says nothing more, and nobody looks after the run: nothing else would end it."""
    upstream.script(reply(say("So far "), stall()))
    house.app.runner._supervisor.stop()
    person = house.local
    session_id = await person.create_session()
    run_id = await _start(person, session_id)
    request = await upstream.wait_received(1)
    following = asyncio.create_task(_events(person, run_id))
    async with aclosing(house.app.runner.follow(run_id)) as pieces:
        async for piece in pieces:
            if b"So far" in piece:
                break
    answer = await person.request("POST", f"/v2/runs/{run_id}/cancel")
    await request.connection.closed.wait()
    assert answer.json["state"] == "cancelled"
    folded = FoldedTurn()
    folded.feed(await following)
    assert folded.shown["stop_reason"] == "aborted"
    assert folded.shown["blocks"] == [{"type": "text", "text": "So far "}]
    history = (await person.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert blocks_of_history(history, folded.message_id or "") == folded.shown["blocks"]


async def test_cancelling_what_has_ended_changes_nothing(house: House, upstream: Upstream):
    upstream.script(reply(say("Done."), stop()))
    person = house.local
    run_id = await _start(person, await person.create_session())
    await _events(person, run_id)
    answer = await person.request("POST", f"/v2/runs/{run_id}/cancel")
    assert (answer.status, answer.json["state"]) == (200, "done")


async def test_a_second_message_while_a_run_is_active_is_refused(house: House, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    person = house.local
    session_id = await person.create_session()
    run_id = await _start(person, session_id)
    for path in ("messages", "messages/nothing/retry"):
        body: dict[str, Any] = {"content": "And?"} if path == "messages" else {}
        refused = await person.request("POST", f"/v2/sessions/{session_id}/{path}", body)
        assert (refused.status, refused.error) in ((409, "run_active"), (404, "not_found"))
    history = (await person.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert history["active_run"] == {"run_id": run_id}
    assert [message["role"] for message in history["messages"]] == ["user"], "the answer stands in the events"
    await person.request("POST", f"/v2/runs/{run_id}/cancel")


async def test_of_many_messages_at_once_one_starts_a_run(house: House, upstream: Upstream):
    upstream.script(lambda _: reply(say("Wait."), stall()))
    person = house.local
    session_id = await person.create_session()
    path = f"/v2/sessions/{session_id}/messages"
    answers = await asyncio.gather(
        *(person.request("POST", path, {"content": "Why?"}, accept="application/json") for _ in range(10))
    )
    assert sorted(answer.status for answer in answers) == [202, *[409] * 9]
    await person.request("POST", f"/v2/runs/{next(a for a in answers if a.status == 202).json['run_id']}/cancel")


async def test_events_that_are_no_longer_kept_are_told_as_a_gap(house: House, upstream: Upstream):
    upstream.script(reply(say("One ", "two ", "three."), stop()))
    person = house.local
    run_id = await _start(person, await person.create_session())
    whole = await _events(person, run_id)
    await house.app._database.write(db.prune_events(time.time() + 1))
    pruned = await _events(person, run_id, 2)
    assert b"event: gap\n" in pruned
    assert pruned.endswith(b'data: {"type":"message_stop"}\n\n')
    gap_id = _ids(pruned)[0]
    last = whole.split(b"\n\n")[gap_id:]
    assert pruned.split(b"\n\n")[1:] == last
    assert await _events(person, run_id, gap_id) == b"\n\n".join(last), "who has them already misses nothing"


async def test_a_follower_with_an_id_that_was_never_sent_begins_again(house: House, upstream: Upstream):
    upstream.script(reply(say("Done."), stop()))
    person = house.local
    run_id = await _start(person, await person.create_session())
    whole = await _events(person, run_id)
    again = await _events(person, run_id, 77_000)
    assert again == b'id: 0\nevent: round_restart\ndata: {"type":"round_restart","from_index":0}\n\n' + whole


async def test_a_line_that_is_silent_is_kept_alive_by_pings_without_an_id(house: House, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    person = house.local
    run_id = await _start(person, await person.create_session())
    seen = [piece async for piece in _until_idle(house, run_id)]
    assert seen[-1] == b""
    await person.request("POST", f"/v2/runs/{run_id}/cancel")


async def _until_idle(house: House, run_id: str) -> AsyncIterator[bytes]:
    pieces = house.app.runner.follow(run_id, idle_seconds=0.01)
    async for piece in pieces:
        yield piece
        if not piece:
            break
    await pieces.aclose()


async def test_more_runs_than_may_be_carried_on_at_once_wait_their_turn(tmp_path: Path, upstream: Upstream):
    upstream.script(reply(say("First."), stall()), lambda _: reply(say("Next."), stop()))
    async with open_house(tmp_path, upstream, FOOTNOTE_LIMITS_RUNS_AT_ONCE="1") as house:
        person = house.local
        first = await _start(person, await person.create_session())
        await upstream.wait_received(1)
        second = await _start(person, await person.create_session())
        third = await _start(person, await person.create_session())
        states = [(await person.request("GET", f"/v2/runs/{run}")).json["state"] for run in (first, second, third)]
        assert states == ["running", "queued", "queued"]
        cancelled = await person.request("POST", f"/v2/runs/{third}/cancel")
        assert cancelled.json["state"] == "cancelled", "one that waits can be cancelled"
        await person.request("POST", f"/v2/runs/{first}/cancel")
        assert b"Next." in await _events(person, second)


async def test_a_user_has_so_many_runs_at_once_and_a_clear_error_after_that(tmp_path: Path, upstream: Upstream):
    upstream.script(lambda _: reply(say("Wait."), stall()))
    async with open_house(tmp_path, upstream, FOOTNOTE_LIMITS_RUNS_PER_USER="2") as house:
        person = house.local
        runs = [await _start(person, await person.create_session()) for _ in range(2)]
        session_id = await person.create_session()
        refused = await person.request("POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?"})
        assert (refused.status, refused.error) == (429, "limit_reached")
        assert "retry-after" in {name.lower() for name in refused.headers}
        history = (await person.request("GET", f"/v2/sessions/{session_id}/history")).json
        assert history["messages"] == []
        other = await house.add_user("ann")
        runs.append(await _start(other, await other.create_session()))
        for person_, run in ((person, runs[0]), (person, runs[1]), (other, runs[2])):
            await person_.request("POST", f"/v2/runs/{run}/cancel")
    assert len(upstream.requests) <= 3, "the model was not asked for what was refused"


async def test_an_answer_that_cannot_be_had_ends_the_run_with_its_reason(house: House, upstream: Upstream):
    person = house.local
    session_id = await person.create_session()
    refused = await person.request(
        "POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?", "model": "no/model"}
    )
    assert refused.status == 400
    assert "no" in refused.json["error"]["message"]
    assert upstream.requests == []


async def test_a_question_of_nothing_but_space_is_refused(house: House, upstream: Upstream):
    person = house.local
    session_id = await person.create_session()
    refused = await person.request("POST", f"/v2/sessions/{session_id}/messages", {"content": " \n\t "})
    assert (refused.status, refused.json["error"]["message"]) == (400, "The question is empty.")
    assert upstream.requests == []


async def test_deleting_a_session_ends_its_run(house: House, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    person = house.local
    session_id = await person.create_session()
    run_id = await _start(person, session_id)
    request = await upstream.wait_received(1)
    assert (await person.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
    await request.connection.closed.wait()
    assert (await person.request("GET", f"/v2/runs/{run_id}")).status == 404
    assert (await person.request("GET", f"/v2/sessions/{session_id}/history")).status == 404


async def test_the_connection_may_be_lost_at_any_byte(house: House, upstream: Upstream):
    _script(upstream)
    person = house.local
    run_id = await _start(person, await person.create_session())
    folded = FoldedTurn()
    headers = {"authorization": f"Bearer {person.token}"}
    while not folded.ended:
        if folded.last_id:
            headers["last-event-id"] = str(folded.last_id)
        async with (
            aiohttp.ClientSession() as http,
            http.get(f"{house.url}/v2/runs/{run_id}/events", headers=headers) as answer,
        ):
            piece = await answer.content.read(997)
            whole, mark, _ = piece.rpartition(b"\n\n")
            folded.feed(whole + mark)
            if not mark and piece:
                rest = await answer.content.readuntil(b"\n\n")
                folded.feed(piece + rest)
    whole = FoldedTurn()
    whole.feed(await _events(person, run_id))
    assert folded.shown == whole.shown
