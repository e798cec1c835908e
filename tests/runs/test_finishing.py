"""A run that is to finish answers with what it has: nothing more is looked up, and nobody is asked any more."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cli.process import environment, with_tool_server
from cli.test_ask_approval import SHOUT
from footnote.app import App
from footnote.protocol.accounts import LOCAL_USER
from footnote.web_search import pipeline
from interaction.test_search import hits
from runs.fold import FoldedTurn
from runs.server_process import RunClient, ServerProcess
from server.harness import SECONDS, ApiClient, answer_text, open_server, parse_events
from upstream import Upstream, call, reply, say, stop
from web import Web
from web.providers import SearchServer

LONG = 120
"""So long that only finishing can end the wait."""
ANSWER = "Nothing could be found in time."


def _results(events: list[dict[str, Any]]) -> list[str]:
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


async def _wait_for_state(client: ApiClient, run_id: str, expected: str) -> None:
    async with asyncio.timeout(SECONDS):
        while (await client.request("GET", f"/v2/runs/{run_id}")).json["state"] != expected:
            await asyncio.sleep(0.02)


async def test_a_page_that_is_being_read_is_left_and_the_model_answers_without_tools(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "CRAWL_TIMEOUT_SECONDS", LONG)
    upstream.script(
        reply(call("web_search", {"query": "oxygen", "prompt": "Who?"}), stop("toolUse")), reply(say(ANSWER), stop())
    )
    async with Web() as web, SearchServer("duckduckgo", hits(web, "/hung")) as search:
        settings = {
            "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
            "FOOTNOTE_TOOLS_WEB_SEARCH_PROVIDERS_DUCKDUCKGO_BASE_URL": search.url,
            "FOOTNOTE_TOOLS_WEB_SEARCH_CACHE_TTL_MINUTES": "0",
            "FOOTNOTE_TOOLS_WEB_SEARCH_TIMEOUT_SECONDS": str(LONG),
        }
        async with open_server(tmp_path, upstream, **settings) as server:
            me = server.local
            run_id = await me.start_run(await me.create_session(), "Who coined the name oxygen?")
            await web.wait_requested("/hung")
            finishing = [await me.request("POST", f"/v2/runs/{run_id}/finish") for _ in range(2)]
            events = parse_events(await me.run_events(run_id))
            again = await me.request("POST", f"/v2/runs/{run_id}/finish")

    assert [response.status for response in finishing] == [200, 200]
    assert answer_text(events) == ANSWER
    assert "the answer is due" in _results(events)[0]
    assert "tools" not in upstream.requests[1].body
    assert "error" not in {event["type"] for event in events}
    assert (again.status, again.json["state"], again.json["stop_reason"]) == (200, "done", "stop")


async def test_a_call_that_waits_for_approval_is_not_made(tmp_path: Path, upstream: Upstream) -> None:
    with_tool_server(tmp_path, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")), reply(say(ANSWER), stop()))
    async with open_server(tmp_path, upstream) as server:
        me = server.local
        run_id = await me.start_run(await me.create_session(), "Shout")
        await _wait_for_state(me, run_id, "waiting")
        await me.request("POST", f"/v2/runs/{run_id}/finish")
        events = parse_events(await me.run_events(run_id))
        view = (await me.request("GET", f"/v2/runs/{run_id}")).json
        late = await me.request("POST", f"/v2/runs/{run_id}/approvals/call_1", {"decision": "once"})

    assert (view["state"], answer_text(events)) == ("done", ANSWER)
    assert "HELLO" not in _results(events)[0]
    assert late.status == 409


async def test_a_check_cannot_be_finished(tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "CRAWL_TIMEOUT_SECONDS", LONG)
    async with Web() as web:
        settings = {"FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]'}
        async with open_server(tmp_path, upstream, **settings) as server:
            me = server.local
            body = {"text": f"Oxygen was found in 1772 ([here]({web.url('/hung')}))."}
            run_id = (await me.request("POST", "/v2/checks", body, accept="application/json")).json["run_id"]
            await web.wait_requested("/hung")
            refused = await me.request("POST", f"/v2/runs/{run_id}/finish")
            await me.request("POST", f"/v2/runs/{run_id}/cancel")

    assert (refused.status, refused.json["error"]["code"]) == (409, "check_not_finished")


@pytest.mark.slow
async def test_a_run_whose_process_was_killed_is_finished_by_the_next_one(tmp_path: Path, upstream: Upstream) -> None:
    with_tool_server(tmp_path, approval=True)
    upstream.script(reply(SHOUT, stop("toolUse")), reply(say(ANSWER), stop()))
    process = await ServerProcess.start(tmp_path, upstream)
    try:
        async with process.client() as client:
            run_id = await client.start(await client.session())
            await _client_state(client, run_id, "waiting")
        await process.kill()
        # At another replica, while the run had no owner.
        async with App.open(home=tmp_path / ".footnote", environ=environment(tmp_path, upstream)) as app:
            assert (await app.runner.finish(LOCAL_USER, run_id)).state == "waiting"
        process = await ServerProcess.start(tmp_path, upstream)
        folded = FoldedTurn()
        async with process.client() as client:
            await client.follow(run_id, folded)
            assert (await client.json("GET", f"/v2/runs/{run_id}"))["state"] == "done"
    finally:
        await process.kill()
    assert folded.approval_requests == 1
    assert ANSWER in str(folded.shown["blocks"])
    assert len(upstream.requests) == 2


async def _client_state(client: RunClient, run_id: str, expected: str) -> None:
    async with asyncio.timeout(SECONDS):
        while (await client.json("GET", f"/v2/runs/{run_id}"))["state"] != expected:
            await asyncio.sleep(0.05)
