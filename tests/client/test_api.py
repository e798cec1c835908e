"""The HTTP client of the API, against the real server and against fake ones."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from client.fake_servers import CannedServer, TruncatingProxy, response, serve
from footnote.client.api import RetryPolicy, ServerApi
from footnote.net.client import Net
from footnote.protocol.errors import (
    FootnoteError,
    LimitReached,
    NotLoggedIn,
    RunActive,
    Unknown,
    UpstreamError,
    UsageError,
)
from footnote.protocol.events import BlockDelta, Event, MessageDelta, MessageStop, TextGrowth
from footnote.protocol.history import PastAssistantMessage, PastText, PastUserMessage
from footnote.protocol.sessions import NewMessage, NewSession
from footnote.protocol.sse import EventDecoder, frame
from server.harness import LOCAL_TOKEN, ServerHarness, open_server
from upstream import Upstream, reply, say, stall, stop

SOON = RetryPolicy(first=0.01, longest=0.05, total=60)


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with open_server(tmp_path, upstream) as server:
        yield server


@pytest.fixture
def api(server: ServerHarness, net: Net) -> ServerApi:
    return ServerApi(net, server.url, LOCAL_TOKEN, retry_policy=SOON)


def text_of(events: list[Event]) -> str:
    return "".join(event.delta.text for event in events if isinstance(event, BlockDelta) and _is_text(event))


def _is_text(event: BlockDelta) -> bool:
    return isinstance(event.delta, TextGrowth)


async def test_a_session_from_its_beginning_to_its_end(api: ServerApi, upstream: Upstream) -> None:
    upstream.script(reply(say("Giá ", "42."), stop()))
    session = await api.create_session(NewSession())
    started = await api.start(session.id, NewMessage("Giá vàng?"))
    events = [event async for _, event in api.follow(started.run_id)]
    assert (text_of(events), events[-1]) == ("Giá 42.", MessageStop())
    history = await api.history(session.id)
    assert isinstance(history.messages[-1], PastAssistantMessage)
    assert history.messages[-1].content == (PastText("Giá 42."),)
    assert [one.id for one in (await api.sessions("gia vang")).sessions] == [session.id]
    assert (await api.sessions("silver & / ? # %")).sessions == ()
    await api.delete_session(session.id)
    assert (await api.sessions()).sessions == ()
    with pytest.raises(Unknown):
        await api.history(session.id)


async def test_pages_of_a_list_follow_each_other(api: ServerApi) -> None:
    session_ids = [(await api.create_session(NewSession(title=f"Session {number}"))).id for number in range(35)]
    first = await api.sessions()
    second = await api.sessions(cursor=first.next_cursor)
    assert [one.id for one in (*first.sessions, *second.sessions)] == session_ids[::-1]
    assert second.next_cursor is None


async def test_cancelling_ends_the_events_in_order(api: ServerApi, upstream: Upstream) -> None:
    upstream.script(reply(say("Half"), stall()))
    session = await api.create_session(NewSession())
    started = await api.start(session.id, NewMessage("?"))
    events: list[Event] = []
    async for _, event in api.follow(started.run_id):
        events.append(event)
        if text_of(events) == "Half" and len(events) == 3:
            await api.cancel(started.run_id)
    assert isinstance(events[-1], MessageStop)
    assert [event.delta.stop_reason for event in events if isinstance(event, MessageDelta)] == ["aborted"]


async def test_a_second_question_while_one_is_answered_is_refused(api: ServerApi, upstream: Upstream) -> None:
    upstream.script(reply(say("Half"), stall()))
    session = await api.create_session(NewSession())
    started = await api.start(session.id, NewMessage("?"))
    with pytest.raises(RunActive):
        await api.start(session.id, NewMessage("?"))
    await api.cancel(started.run_id)


@pytest.mark.parametrize("after", [1400, 1777, 4000])
async def test_a_connection_that_breaks_again_and_again_loses_and_repeats_nothing(
    server: ServerHarness, net: Net, api: ServerApi, upstream: Upstream, after: int
) -> None:
    upstream.script(reply(say(*(f"字{number} " for number in range(200))), stop()))
    session = await api.create_session(NewSession())
    started = await api.start(session.id, NewMessage("?"))
    whole = [numbered async for numbered in api.follow(started.run_id)]
    cutting = TruncatingProxy(server.url, after)
    async with serve(cutting) as url:
        broken = ServerApi(net, url, LOCAL_TOKEN, retry_policy=SOON)
        assert [numbered async for numbered in broken.follow(started.run_id)] == whole
    assert cutting.connections > 3


async def test_a_run_can_be_followed_from_any_event(api: ServerApi, upstream: Upstream) -> None:
    upstream.script(reply(say("A", "B", "C"), stop()))
    session = await api.create_session(NewSession())
    run_id = (await api.start(session.id, NewMessage("?"))).run_id
    whole = [numbered async for numbered in api.follow(run_id)]
    for place, (number, _) in enumerate(whole[:-1]):
        assert [numbered async for numbered in api.follow(run_id, number)] == whole[place + 1 :]


async def test_a_server_that_does_not_come_back_is_given_up(
    server: ServerHarness, net: Net, api: ServerApi, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.script(reply(say("Half"), stall()))
    session = await api.create_session(NewSession())
    started = await api.start(session.id, NewMessage("?"))
    async with serve(TruncatingProxy(server.url, 1)) as url:
        broken = ServerApi(net, url, LOCAL_TOKEN, retry_policy=RetryPolicy(first=0.01, longest=0.02, total=0.1))
        with pytest.raises(UpstreamError, match="did not come back"), caplog.at_level(logging.WARNING):
            _ = [numbered async for numbered in broken.follow(started.run_id)]
    assert f"The connection to {url} was lost" in caplog.text
    await api.cancel(started.run_id)


async def test_a_server_that_is_starting_is_waited_for(net: Net) -> None:
    stop_frame = frame(7, MessageStop())
    canned = CannedServer(
        [
            response(503, b'{"error":{"type":"database_locked","message":"Busy.","retryable":true}}'),
            response(502, b"<html>"),
            response(429, b'{"error":{"type":"limit_reached","message":"Slow.","retryable":true}}', Retry_After="0"),
            response(200, b": hello\n\n" + stop_frame, Content_Type="text/event-stream"),
        ]
    )
    async with serve(canned) as url:
        events = [numbered async for numbered in ServerApi(net, url, LOCAL_TOKEN, retry_policy=SOON).follow("run_1", 6)]
    assert events == [(7, MessageStop())]
    assert [request.count(b"Last-Event-ID: 6") for request in canned.requests] == [1, 1, 1, 1]


async def test_a_run_that_is_not_there_is_not_waited_for(api: ServerApi) -> None:
    with pytest.raises(Unknown):
        _ = [numbered async for numbered in api.follow("run_none")]


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (400, {"type": "invalid_request", "message": "Write a question."}, UsageError, "Write a question."),
        (404, {"type": "not_found", "message": "No such session."}, Unknown, "No such session."),
        (409, {"type": "run_active", "message": "One is active."}, RunActive, "One is active."),
        (429, {"type": "limit_reached", "message": "Wait."}, LimitReached, "Wait."),
        (418, {"type": "of_the_future", "message": "Tea."}, UsageError, "Tea."),
        (507, {"type": "database_full", "message": "The disk is full."}, UpstreamError, "The disk is full."),
        (401, {"type": "not_logged_in", "message": "Log in."}, NotLoggedIn, "FOOTNOTE_TOKEN"),
        (404, None, UpstreamError, "does not seem to be Footnote"),
        (200, None, UpstreamError, "does not understand"),
    ],
)
async def test_what_a_server_refuses_is_an_error_of_ours_with_its_sentence(
    net: Net, status: int, body: dict[str, str] | None, kind: type[FootnoteError], message: str
) -> None:
    content = b"<html>" if body is None else json.dumps({"error": {**body, "retryable": False}}).encode()
    async with serve(CannedServer([response(status, content)])) as url:
        with pytest.raises(FootnoteError, match=message) as raised:
            await ServerApi(net, url, LOCAL_TOKEN).history("session_1")
    assert type(raised.value) is kind
    assert LOCAL_TOKEN not in str(raised.value)


async def test_a_redirect_is_not_followed_with_the_token(net: Net) -> None:
    elsewhere = CannedServer([response(200, b"{}")])
    async with serve(elsewhere) as other, serve(CannedServer([response(307, Location=f"{other}/x")])) as url:
        with pytest.raises(UpstreamError, match=f"{other}/x"):
            await ServerApi(net, url, LOCAL_TOKEN).history("session_1")
    assert elsewhere.requests == []


async def test_a_server_that_is_not_there_is_named_with_the_way_to_start_one(net: Net) -> None:
    with pytest.raises(UpstreamError, match=r"http://127\.0\.0\.1:1 cannot be reached.*footnote serve"):
        await ServerApi(net, "http://127.0.0.1:1/", LOCAL_TOKEN).create_session(NewSession())


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8484", "ftp://host", "http://", "http://me:secret@host", "http://host/?a=1", "http://[::1"]
)
async def test_what_is_no_address_of_a_server_is_refused(net: Net, url: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a server"):
        ServerApi(net, url, LOCAL_TOKEN)


async def test_an_id_that_somebody_typed_stays_one_part_of_the_path(net: Net) -> None:
    canned = CannedServer([response(404, b"{}")])
    async with serve(canned) as url:
        with pytest.raises(UpstreamError):
            await ServerApi(net, url, LOCAL_TOKEN).history("../users?x#y/ü")
    assert canned.requests[0].startswith(b"GET /v2/sessions/..%2Fusers%3Fx%23y%2F%C3%BC/history?turns=true HTTP/1.1")


def test_events_are_right_at_any_chunk_boundary() -> None:
    events = [BlockDelta(0, TextGrowth("a\u2028字\n\n🙂")), BlockDelta(0, TextGrowth("b")), MessageStop()]
    ping, unknown = b'event: ping\ndata: {"type":"ping"}\n\n', b'id: 9\nevent: new\ndata: {"type":"new"}\n\n'
    data = ping + b"".join(frame(number, event) + unknown for number, event in enumerate(events, 1))
    for size in (1, 2, 3, 7, len(data)):
        decoder = EventDecoder()
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        assert [numbered for piece in pieces for numbered in decoder.push(piece)] == list(enumerate(events, 1))


async def test_a_message_whose_response_was_lost_is_sent_again_and_stored_once(
    server: ServerHarness, net: Net, api: ServerApi, upstream: Upstream
) -> None:
    upstream.script(reply(say("Half"), stall()))
    session = await api.create_session(NewSession())
    cutting = TruncatingProxy(server.url, 0)
    async with serve(cutting) as url:
        starting = asyncio.create_task(
            ServerApi(net, url, LOCAL_TOKEN, retry_policy=SOON).start(session.id, NewMessage("?"))
        )
        while cutting.connections < 3:
            await asyncio.sleep(0.01)
        cutting.after = None
        started = await starting
    await api.cancel(started.run_id)
    history = await api.history(session.id)
    assert len([message for message in history.messages if isinstance(message, PastUserMessage)]) == 1
