"""Runs over HTTP: started, followed, resumed, abandoned, cancelled, and ended with the server."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from footnote.protocol.errors import UpstreamError
from footnote.server.http_server import GRACE_SECONDS
from footnote.server.responses import PING, EventStream
from footnote.server.route import Route, RouteCall
from server.harness import LOCAL_TOKEN, ServerHarness, answer_text, open_server, parse_events
from upstream import Upstream, call, hold, reply, say, stop


def messages_path(session_id: str) -> str:
    return f"/v2/sessions/{session_id}/messages"


@pytest.fixture
async def quiet_server(tmp_path: Path, upstream: Upstream) -> AsyncGenerator[ServerHarness, None]:
    """A server whose model has no script yet."""
    async with open_server(tmp_path, upstream) as server:
        yield server


async def test_a_question_is_answered_with_the_events_of_its_run(server: ServerHarness):
    session_id = await server.local.create_session()
    response = await server.local.request("POST", messages_path(session_id), {"content": "Why?"})
    events = parse_events(response.body)
    head = events[0]["message"]

    assert {name: response.headers[name] for name in ("content-type", "cache-control", "x-accel-buffering")} == {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
    }
    assert (response.headers["footnote-run"], response.headers["footnote-session"]) == (head["run_id"], session_id)
    assert (answer_text(events), events[-1]["type"]) == ("Because.", "message_stop")
    view = (await server.local.request("GET", f"/v2/runs/{head['run_id']}")).json
    assert (view["state"], view["stop_reason"], view["message_id"]) == ("done", "stop", head["id"])


async def test_who_wants_json_gets_the_run_and_follows_it_when_they_like(server: ServerHarness):
    session_id = await server.local.create_session()
    started = await server.local.request(
        "POST", messages_path(session_id), {"content": "Why?"}, accept="application/json"
    )
    followed = await server.local.request("GET", f"/v2/runs/{started.json['run_id']}/events")

    assert (started.status, set(started.json)) == (
        202,
        {"run_id", "session_id", "message_id", "question_id", "timestamp"},
    )
    assert answer_text(parse_events(followed.body)) == "Because."


async def test_who_asks_is_told_the_ids_of_question_and_answer_at_once(server: ServerHarness):
    path = messages_path(await server.local.create_session())
    ids = (await server.local.request("POST", path, {"content": "Why?"}, accept="application/json")).json
    await server.local.request("GET", f"/v2/runs/{ids['run_id']}/events")
    again = (
        await server.local.request("POST", f"{path}/{ids['message_id']}/retry", {}, accept="application/json")
    ).json
    await server.local.request("GET", f"/v2/runs/{again['run_id']}/events")
    other = {"content": "How?"}
    changed = await server.local.request("POST", f"{path}/{ids['question_id']}/edit", other, accept="application/json")
    await server.local.request("GET", f"/v2/runs/{changed.json['run_id']}/events")

    assert again["question_id"] == ids["question_id"]
    assert again["message_id"] != ids["message_id"]
    history = (await server.local.request("GET", path.replace("/messages", "/history"))).json
    shown = [(message["role"], message["id"]) for message in history["messages"]]
    assert shown == [("user", changed.json["question_id"]), ("assistant", changed.json["message_id"])]
    assert changed.json["question_id"] != ids["question_id"]


async def test_a_stream_goes_on_after_any_event_byte_for_byte(server: ServerHarness):
    events = await server.local.ask_for_events(await server.local.create_session())
    path = f"/v2/runs/{events[0]['message']['run_id']}/events"
    whole = (await server.local.request("GET", path)).body
    frames = whole.split(b"\n\n")[:-1]
    for place, event in enumerate(events):
        rest = await server.local.request("GET", path, last_event_id=str(event["id"]))
        assert rest.body == b"".join(frame + b"\n\n" for frame in frames[place + 1 :])


@pytest.mark.parametrize("last", ["x", "-1", "1.0", "1" * 19, "１", "1, 2"])
async def test_a_last_event_id_that_was_never_one_is_a_400(server: ServerHarness, last: str):
    events = await server.local.ask_for_events(await server.local.create_session())
    sent = last.encode().decode("latin-1")
    response = await server.local.request(
        "GET", f"/v2/runs/{events[0]['message']['run_id']}/events", last_event_id=sent
    )
    assert (response.status, response.error) == (400, "invalid_request")


async def test_a_run_goes_on_without_its_client(quiet_server: ServerHarness, upstream: Upstream):
    go_on = asyncio.Event()
    upstream.script(reply(say("One, "), hold(go_on), say("two."), stop()))
    session_id = await quiet_server.local.create_session()
    async with _open(quiet_server, session_id) as response:
        await _read_until(response, b"One, ")
        run_id = response.headers["footnote-run"]
    go_on.set()
    followed = await quiet_server.local.request("GET", f"/v2/runs/{run_id}/events")
    assert answer_text(parse_events(followed.body)) == "One, two."
    history = (await quiet_server.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert history["messages"][-1]["content"] == [{"type": "text", "text": "One, two."}]


async def test_a_second_question_has_to_wait_for_the_first(quiet_server: ServerHarness, upstream: Upstream):
    go_on = asyncio.Event()
    upstream.script(reply(say("One."), hold(go_on), stop()))
    session_id = await quiet_server.local.create_session()
    async with _open(quiet_server, session_id) as response:
        await _read_until(response, b"One.")
        second = await quiet_server.local.request("POST", messages_path(session_id), {"content": "And?"})
        assert (second.status, second.error) == (409, "run_active")
        go_on.set()
        await response.read()


async def test_a_cancelled_run_ends_its_streams_and_keeps_what_came(quiet_server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("One, "), hold(asyncio.Event()), stop()))
    session_id = await quiet_server.local.create_session()
    async with _open(quiet_server, session_id) as response:
        await _read_until(response, b"One, ")
        run_id = response.headers["footnote-run"]
        cancelled = await quiet_server.local.request("POST", f"/v2/runs/{run_id}/cancel")
        rest = await response.read()
    assert (cancelled.json["state"], cancelled.json["stop_reason"]) == ("cancelled", "aborted")
    assert parse_events(rest)[-1]["type"] == "message_stop"
    again = await quiet_server.local.request("POST", f"/v2/runs/{run_id}/cancel")
    assert again.json == cancelled.json


async def test_a_session_is_deleted_with_the_run_that_is_active(quiet_server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("One, "), hold(asyncio.Event()), stop()))
    session_id = await quiet_server.local.create_session()
    async with _open(quiet_server, session_id) as response:
        await _read_until(response, b"One, ")
        run_id = response.headers["footnote-run"]
        assert (await quiet_server.local.request("DELETE", f"/v2/sessions/{session_id}")).status == 204
        await response.read()
    assert (await quiet_server.local.request("GET", f"/v2/runs/{run_id}")).error == "not_found"
    assert (await quiet_server.local.request("GET", f"/v2/sessions/{session_id}")).error == "not_found"


async def test_a_disabled_users_run_ends_at_once(quiet_server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("One, "), hold(asyncio.Event()), stop()))
    ann = await quiet_server.add_user("ann")
    session_id = await ann.create_session()
    async with _open(quiet_server, session_id, ann.token) as response:
        await _read_until(response, b"One, ")
        await quiet_server.local.request("PATCH", f"/v2/users/{ann.id}", {"disabled": True})
        assert parse_events(await response.read())[-1]["type"] == "message_stop"


@pytest.mark.parametrize(
    ("fields", "language", "title"),
    [
        ({}, "vi-VN,vi;q=0.9,en;q=0.5", "Liệt kê tệp"),
        ({"locale": "zh"}, "vi", "列出文件"),
        ({"locale": "zh-Hans-CN"}, "vi", "列出文件"),
        ({"locale": "vi_VN.UTF-8", "attachments": None}, "zh", "Liệt kê tệp"),
        ({"locale": "fr"}, "vi", "Liệt kê tệp"),
        ({"locale": ""}, "vi", "Liệt kê tệp"),
        ({"locale": None}, "vi", "Liệt kê tệp"),
        ({"locale": "fr-CA"}, "de", "List files"),
        ({}, "fr", "List files"),
    ],
)
async def test_a_call_is_named_in_the_language_of_who_asks(
    quiet_server: ServerHarness, upstream: Upstream, fields: dict[str, str | None], language: str, title: str
):
    upstream.script(reply(call("list_files", {}), stop("toolUse")), reply(say("None."), stop()))
    session_id = await quiet_server.local.create_session()
    body = {"content": "Which files?", **fields}
    response = await quiet_server.local.request("POST", messages_path(session_id), body, accept_language=language)
    blocks = [one["content_block"] for one in parse_events(response.body) if one["type"] == "content_block_start"]
    assert blocks[0]["tool_content_message"] == title


@pytest.mark.parametrize(
    ("content", "title"),
    [("Which files?", "List files"), ("Có những tệp nào?", "Liệt kê tệp"), ("有哪些文件？", "列出文件")],
)
@pytest.mark.parametrize("headers", [{}, {"accept_language": "*"}, {"accept_language": "de"}])
async def test_a_client_that_names_no_language_of_ours_gets_titles_in_the_language_of_the_question(
    quiet_server: ServerHarness, upstream: Upstream, content: str, title: str, headers: dict[str, str]
):
    rounds = (reply(call("list_files", {}), stop("toolUse")), reply(say("None."), stop()))
    upstream.script(*rounds, *rounds)
    session_id = await quiet_server.local.create_session()
    posted = await quiet_server.local.request("POST", messages_path(session_id), {"content": content}, **headers)
    message_id = parse_events(posted.body)[0]["message"]["id"]
    again = await quiet_server.local.request("POST", f"{messages_path(session_id)}/{message_id}/retry", {}, **headers)
    for response in (posted, again):
        blocks = [one["content_block"] for one in parse_events(response.body) if one["type"] == "content_block_start"]
        assert blocks[0]["tool_content_message"] == title


@pytest.mark.parametrize("locale", ["vi VN", "-vi", "tiếng Việt", "vi-", "toolonglanguage", "vi" + "-abcdefgh" * 7, 7])
async def test_what_is_no_language_is_the_senders_mistake(server: ServerHarness, locale: object):
    session_id = await server.local.create_session()
    message_id = (await server.local.ask_for_events(session_id))[0]["message"]["id"]
    for path, body in (
        ("", {"content": "Why?"}),
        (f"/{message_id}/retry", {}),
        (f"/{message_id}/edit", {"content": "?"}),
    ):
        response = await server.local.request("POST", f"{messages_path(session_id)}{path}", {**body, "locale": locale})
        assert (response.status, response.error) == (400, "invalid_request")


async def test_answers_can_be_tried_again_and_questions_changed(server: ServerHarness):
    session_id = await server.local.create_session()
    events = await server.local.ask_for_events(session_id)
    message_id = events[0]["message"]["id"]
    again = await server.local.request("POST", f"{messages_path(session_id)}/{message_id}/retry")
    changed = await server.local.request("POST", f"{messages_path(session_id)}/{message_id}/edit", {"content": "How?"})

    assert [answer_text(parse_events(response.body)) for response in (again, changed)] == ["Because.", "Because."]
    history = (await server.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert [one["content"][0]["text"] for one in history["messages"]] == ["How?", "Because."]
    shown = await server.local.request("PATCH", f"/v2/sessions/{session_id}", {"head": message_id})
    assert shown.status == 200
    history = (await server.local.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert [one["content"][0]["text"] for one in history["messages"]] == ["Why?", "Because."]


# The stream itself, with events of the test ----------------------------------------------------------------


class ControlledStream:
    """A route that streams what the test puts into a queue."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.sent = 0
        self.closed = asyncio.Event()

    @property
    def table(self) -> tuple[Route, ...]:
        return (Route("GET", "/v2/pieces", self._stream, "ControlledStream", streams=True),)

    async def wait_until_stuck(self) -> None:
        """Waits until the stream takes no more pieces, however often the event loop turns."""
        sent, turns = 0, 0
        while turns < 500 or not sent:
            sent, turns = self.sent, turns + 1 if sent == self.sent else 0
            await asyncio.sleep(0)

    async def _stream(self, call: RouteCall) -> EventStream:
        return EventStream(call.site, self._pieces())

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            while (piece := await self.queue.get()) is not None:
                if isinstance(piece, Exception):
                    raise piece
                self.sent += 1
                yield piece
        finally:
            self.closed.set()


async def test_silence_is_broken_by_a_ping_without_an_id(tmp_path: Path):
    pieces = ControlledStream()
    for piece in (b"id: 1\ndata: {}\n\n", b"", b"", None):
        pieces.queue.put_nowait(piece)
    async with open_server(tmp_path, routes=pieces.table) as server:
        response = await server.local.request("GET", "/v2/pieces")
    assert response.body == b"id: 1\ndata: {}\n\n" + PING + PING
    assert parse_events(PING) == [{"type": "ping"}]


async def test_a_client_that_goes_ends_its_stream_at_once(tmp_path: Path):
    pieces = ControlledStream()
    async with open_server(tmp_path, routes=pieces.table) as server:
        async with _get(server, "/v2/pieces"):
            pass
        async with asyncio.timeout(30):
            await pieces.closed.wait()
        assert server.site.streams == set()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            UpstreamError("Try later."),
            {"type": "upstream_error", "message": "Try later.", "retryable": True, "code": "upstream_error"},
        ),
        (
            RuntimeError("secret of the inside"),
            {
                "type": "internal_error",
                "message": "The stream broke off. Follow the run again from its last event.",
                "retryable": True,
                "code": "stream_broken",
            },
        ),
    ],
)
async def test_a_stream_that_fails_says_so_and_ends(tmp_path: Path, error: Exception, expected: dict[str, Any]):
    pieces = ControlledStream()
    for piece in (b"id: 1\ndata: {}\n\n", error):
        pieces.queue.put_nowait(piece)
    async with open_server(tmp_path, routes=pieces.table) as server:
        response = await server.local.request("GET", "/v2/pieces")
    assert parse_events(response.body)[1:] == [{"type": "error", "error": expected}]


async def test_a_slow_client_delays_nobody_else_and_is_not_buffered_for(tmp_path: Path):
    most, piece = 400, b"data: " + b"x" * 65536 + b"\n\n"
    slow, fast = ControlledStream(), ControlledStream()
    for pieces in (slow, fast):
        for _ in range(most):
            pieces.queue.put_nowait(piece)
        pieces.queue.put_nowait(None)
    table = (*slow.table, Route("GET", "/v2/fast", fast._stream, "Fast", streams=True))
    async with open_server(tmp_path, routes=table) as server, _get(server, "/v2/pieces"):
        response = await server.local.request("GET", "/v2/fast")
        assert len(response.body) == most * len(piece)
        assert slow.sent < most / 2


async def test_streams_end_in_good_order_when_the_server_does(tmp_path: Path):
    pieces = ControlledStream()
    async with open_server(tmp_path, routes=pieces.table) as server:
        pieces.queue.put_nowait(b"data: {}\n\n")
        async with _get(server, "/v2/pieces") as response:
            await _read_until(response, b"data: {}")
            server.serving.stop()
            assert await response.read() == b""
            await asyncio.wait_for(pieces.closed.wait(), 30)


def _get(server: ServerHarness, path: str) -> Any:
    return server.http.get(server.url + path, headers={"authorization": f"Bearer {LOCAL_TOKEN}"})


def _open(server: ServerHarness, session_id: str, token: str = LOCAL_TOKEN) -> Any:
    headers = {"authorization": f"Bearer {token}"}
    return server.http.post(server.url + messages_path(session_id), json={"content": "Why?"}, headers=headers)


async def _read_until(response: aiohttp.ClientResponse, expected: bytes) -> None:
    data = b""
    while expected not in data:
        piece = await response.content.readany()
        assert piece, data
        data += piece


@pytest.mark.slow
async def test_a_client_that_does_not_read_cannot_hold_the_end_up(tmp_path: Path):
    pieces = ControlledStream()
    for _ in range(400):
        pieces.queue.put_nowait(b"data: " + b"x" * 65536 + b"\n\n")
    loop = asyncio.get_running_loop()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.setblocking(False)
        async with open_server(tmp_path, routes=pieces.table) as server:
            host, _, port = server.url.removeprefix("http://").partition(":")
            await loop.sock_connect(deaf, (host, int(port)))
            request = f"GET /v2/pieces HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {LOCAL_TOKEN}\r\n\r\n"
            await loop.sock_sendall(deaf, request.encode())
            await pieces.wait_until_stuck()
            server.serving.stop()
            async with asyncio.timeout(GRACE_SECONDS + 30):  # it would wait for ever
                await server.running
        assert pieces.closed.is_set()
