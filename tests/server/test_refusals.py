"""A refused request changes nothing, and costs only its response."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from footnote.protocol.accounts import UserChanges
from server.harness import ServerHarness, open_server, run_maintenance
from upstream import Upstream, reply, say, stall, stop


@pytest.fixture
async def server(tmp_path: Path, upstream: Upstream) -> AsyncIterator[ServerHarness]:
    async with open_server(tmp_path, upstream) as opened:
        yield opened


@pytest.mark.parametrize("header", [{"x_api_key": ""}, {"authorization": "Bearer"}, {"authorization": ""}])
async def test_an_empty_proof_beside_a_cookie_is_no_way_around_the_check_of_origin(
    server: ServerHarness, header: dict[str, str]
):
    ann = await server.add_user("ann")
    for origin in ("http://evil.example", server.url):
        refused = await server.request("POST", "/v2/sessions", cookie=ann.cookie, body={}, origin=origin, **header)
        assert refused.status == 401
    assert (await server.request("GET", "/v2/auth/me", cookie=ann.cookie, **header)).status == 401


async def test_a_user_who_cannot_be_removed_keeps_their_runs(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    run_id = await server.local.start_run(await server.local.create_session())
    await upstream.wait_received(1)
    assert (await server.local.request("DELETE", "/v2/users/local")).status in (403, 409)
    assert (await server.local.request("GET", f"/v2/runs/{run_id}")).json["state"] == "running"
    await server.local.request("POST", f"/v2/runs/{run_id}/cancel")


async def test_who_is_disabled_by_another_process_has_no_runs_any_more(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("Wait."), stall()))
    ann = await server.add_user("ann")
    run_id = await ann.start_run(await ann.create_session())
    request = await upstream.wait_received(1)
    await server.app.accounts.change(ann.id, UserChanges(disabled=True))
    await run_maintenance(server)
    async with asyncio.timeout(30):
        await request.connection.closed.wait()
        while (await server.app.runner.view(ann.id, run_id)).state == "running":
            await asyncio.sleep(0.01)
    assert (await server.app.runner.view(ann.id, run_id)).state == "cancelled"


async def test_a_message_has_so_many_attachments_and_each_of_them_once(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("Fine."), stop()))
    client = server.local
    session_id = await client.create_session()
    await server.app.sessions.workspace("local", session_id).write("/a.md", "a", message_id=None)
    path = f"/v2/sessions/{session_id}/messages"
    assert (await client.request("POST", path, {"content": "x", "attachments": ["/a.md"] * 101})).status == 400
    assert (await client.request("POST", path, {"content": "x", "attachments": ["/a.md"] * 9})).status == 200
    history = (await client.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert [file["path"] for file in history["messages"][0]["attachments"]] == ["/a.md"]


async def test_a_body_that_nobody_reads_ends_the_connection(server: ServerHarness):
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /v2/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n")
    async with asyncio.timeout(30):
        response = await reader.read()
    assert response.startswith(b"HTTP/1.1 401 ")
    writer.close()


async def test_strangers_cannot_use_up_the_requests_of_health_checks(tmp_path: Path, upstream: Upstream):
    async with open_server(tmp_path, upstream, FOOTNOTE_LIMITS_REQUESTS_PER_MINUTE="5") as server:
        statuses = {(await server.request("GET", "/v2/sessions")).status for _ in range(20)}
        assert statuses == {401, 429}
        assert (await server.request("GET", "/healthz")).status == 200
        assert (await server.request("GET", "/readyz")).status == 200
        response = await server.request("GET", "/v2/sessions")
        assert response.json["error"]["retryable"] is True


async def test_clients_of_other_apis_may_send_fields_that_nobody_knows_here(server: ServerHarness, upstream: Upstream):
    upstream.script(lambda _: reply(say("Yes."), stop()))
    client = server.local
    body = {"model": "researcher", "max_tokens": 9, "messages": [{"role": "user", "content": "Really?"}]}
    assert (await client.request("POST", "/v1/messages?beta=true", body)).status == 200
    chat = {**body, "stream": True, "stream_options": {"include_usage": None}}
    assert (await client.request("POST", "/v1/chat/completions?api-version=1", chat)).status == 200
    assert (await client.request("GET", "/v1/models?limit=20")).status == 200
    assert (await client.request("GET", "/v2/sessions")).json["sessions"] == []
    assert len((await client.request("GET", "/v2/sessions?origin=api")).json["sessions"]) == 2


async def test_the_instructions_of_such_a_client_are_not_what_the_reader_searches_for(tmp_path: Path):
    async with open_server(tmp_path, FOOTNOTE_MODELS_DEFAULT="footnote/reader") as server:
        body = {
            "model": "researcher",
            "messages": [
                {"role": "system", "content": "You are a pirate who loves parrots."},
                {"role": "user", "content": "How do I change the port of the server?"},
            ],
        }
        response = await server.local.request("POST", "/v1/chat/completions", body)
    text = response.json["choices"][0]["message"]["content"]
    assert "parrots" not in text
    assert "port" in text


async def test_a_follower_may_write_its_last_id_with_a_space(server: ServerHarness, upstream: Upstream):
    upstream.script(reply(say("Fine."), stop()))
    run_id = await server.local.start_run(await server.local.create_session())
    whole = await server.local.run_events(run_id)
    response = await server.local.request("GET", f"/v2/runs/{run_id}/events", last_event_id="1 ")
    assert whole.endswith(response.body)
