"""What is refused changes nothing, and costs nothing beyond the answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from footnote.protocol.accounts import UserChanges
from runs.test_following import _events, _start
from server.house import House, open_house, run_maintenance
from upstream import Upstream, reply, say, stall, stop


@pytest.fixture
async def house(tmp_path: Path, upstream: Upstream) -> AsyncIterator[House]:
    async with open_house(tmp_path, upstream) as opened:
        yield opened


@pytest.mark.parametrize("header", [{"x_api_key": ""}, {"authorization": "Bearer"}, {"authorization": ""}])
async def test_an_empty_proof_beside_a_cookie_is_no_way_around_the_check_of_origin(
    house: House, header: dict[str, str]
):
    ann = await house.add_user("ann")
    for origin in ("http://evil.example", house.url):
        refused = await house.request("POST", "/v2/sessions", cookie=ann.cookie, body={}, origin=origin, **header)
        assert refused.status == 401
    assert (await house.request("GET", "/v2/auth/me", cookie=ann.cookie, **header)).status == 401


async def test_a_user_who_cannot_be_removed_keeps_their_runs(house: House, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    run_id = await _start(house.local, await house.local.create_session())
    await upstream.wait_received(1)
    assert (await house.local.request("DELETE", "/v2/users/local")).status in (403, 409)
    assert (await house.local.request("GET", f"/v2/runs/{run_id}")).json["state"] == "running"
    await house.local.request("POST", f"/v2/runs/{run_id}/cancel")


async def test_who_is_disabled_by_another_process_has_no_runs_any_more(house: House, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    ann = await house.add_user("ann")
    run_id = await _start(ann, await ann.create_session())
    request = await upstream.wait_received(1)
    await house.app.accounts.change(ann.id, UserChanges(disabled=True))
    await run_maintenance(house)
    async with asyncio.timeout(30):
        await request.connection.closed.wait()
        while (await house.app.runner.view(ann.id, run_id)).state == "running":
            await asyncio.sleep(0.01)
    assert (await house.app.runner.view(ann.id, run_id)).state == "cancelled"


async def test_a_message_has_so_many_attachments_and_each_of_them_once(house: House, upstream: Upstream):
    upstream.script(reply(say("Fine."), stop()))
    person = house.local
    session_id = await person.create_session()
    await house.app.sessions.workspace("local", session_id).write("/a.md", "a", message_id=None)
    path = f"/v2/sessions/{session_id}/messages"
    assert (await person.request("POST", path, {"content": "x", "attachments": ["/a.md"] * 101})).status == 400
    assert (await person.request("POST", path, {"content": "x", "attachments": ["/a.md"] * 9})).status == 200
    history = (await person.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert [file["path"] for file in history["messages"][0]["attachments"]] == ["/a.md"]


async def test_a_body_that_nobody_reads_ends_the_connection(house: House):
    host, port = house.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /v2/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n")
    async with asyncio.timeout(30):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 401 ")
    writer.close()


async def test_strangers_cannot_use_up_the_requests_of_health_checks(tmp_path: Path, upstream: Upstream):
    async with open_house(tmp_path, upstream, FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE="5") as house:
        statuses = {(await house.request("GET", "/v2/sessions")).status for _ in range(20)}
        assert statuses == {401, 429}
        assert (await house.request("GET", "/healthz")).status == 200
        assert (await house.request("GET", "/readyz")).status == 200
        late = await house.request("GET", "/v2/sessions")
        assert late.json["error"]["retryable"] is True


async def test_clients_of_other_apis_may_send_fields_that_nobody_knows_here(house: House, upstream: Upstream):
    upstream.script(lambda _: reply(say("Yes."), stop()))
    person = house.local
    said = {"model": "researcher", "max_tokens": 9, "messages": [{"role": "user", "content": "Really?"}]}
    assert (await person.request("POST", "/v1/messages?beta=true", said)).status == 200
    chat = {**said, "stream": True, "stream_options": {"include_usage": None}}
    assert (await person.request("POST", "/v1/chat/completions?api-version=1", chat)).status == 200
    assert (await person.request("GET", "/v1/models?limit=20")).status == 200
    assert (await person.request("GET", "/v2/sessions")).json["sessions"] == []
    assert len((await person.request("GET", "/v2/sessions?origin=api")).json["sessions"]) == 2


async def test_the_instructions_of_such_a_client_are_not_what_the_reader_searches_for(tmp_path: Path):
    async with open_house(tmp_path, FOOTNOTE_MODELS_DEFAULT="footnote/reader") as house:
        said = {
            "model": "researcher",
            "messages": [
                {"role": "system", "content": "You are a pirate who loves parrots."},
                {"role": "user", "content": "How do I change the port of the server?"},
            ],
        }
        answer = await house.local.request("POST", "/v1/chat/completions", said)
    text = answer.json["choices"][0]["message"]["content"]
    assert "parrots" not in text
    assert "port" in text


async def test_a_follower_may_write_its_last_id_with_a_space(house: House, upstream: Upstream):
    upstream.script(reply(say("Fine."), stop()))
    run_id = await _start(house.local, await house.local.create_session())
    whole = await _events(house.local, run_id)
    answer = await house.local.request("GET", f"/v2/runs/{run_id}/events", last_event_id="1 ")
    assert whole.endswith(answer.body)
