"""The repair of a file, from the question to the history, and after kill -9."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cli.small_web import article
from runs.fold import FoldedTurn, blocks_of_history
from runs.server_process import ServerProcess
from server.harness import open_server
from server.session_files import SessionFiles
from upstream import Upstream, call, hold, reply, say, stop
from upstream.server import ModelRequest
from web import Web

COBALT = "From 18 August 2031 new electric vehicle batteries shall contain at least 16 percent recovered cobalt."
FALSE = "It was invented in Hanoi in 1999 [1]."
REPORT = f"# Batteries\n\nNew vehicle batteries shall contain at least 16 percent recovered cobalt [1].\n\n{FALSE}\n"
NOTE = "This is a note of Footnote"


def _answer(request: ModelRequest, url: str) -> Any:
    """Reads the page, writes the report, answers, and corrects the report when it is asked to."""
    said = json.dumps(request.body["messages"][-1])
    results = sum(json.dumps(request.body["messages"]).count(mark) for mark in ('"tool_use_id"', '"tool_call_id"'))
    if NOTE in said:
        assert FALSE in said
        return reply(
            call("edit_file", {"file_path": "/report.md", "old_string": f"\n{FALSE}\n", "new_string": ""}),
            stop("toolUse"),
        )
    if results == 0:
        return reply(call("read_page", {"url": url}), stop("toolUse"))
    if results == 1:
        return reply(call("write_file", {"file_path": "/report.md", "content": REPORT}), stop("toolUse"))
    return reply(say("The report is in /report.md."), stop())


def _settings(web: Web) -> dict[str, str]:
    return {
        "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
        "FOOTNOTE_CITATIONS_MODEL": "off",
    }


async def test_a_report_is_corrected_before_the_turn_ends(tmp_path: Path, upstream: Upstream):
    async with Web() as web:
        web.put("/batteries", article("Regulation on batteries", COBALT))
        url = web.url("/batteries")
        upstream.script(lambda request: _answer(request, url))
        async with open_server(tmp_path, upstream, **_settings(web)) as server:
            session_id = await server.local.create_session()
            events = await server.local.ask_for_events(session_id, f"Write a report on {url}")
            files = SessionFiles(server.local, session_id)
            proof = (await files.request("GET", "/citations", file_path="/report.md")).json
            assert (proof["version"], proof["counts"]["statements"], proof["counts"]["supported"]) == (2, 1, 1)
            results = [one["content_block"] for one in events if one["type"] == "content_block_start"]
            proofs = [
                one["artifact"]["proof"]
                for one in results
                if one["type"] == "tool_result" and "proof" in one["artifact"]
            ]
            assert [one["counts"]["unsupported"] for one in proofs] == [1, 0]
            assert proofs[-1] == proof
            delta = next(one for one in events if one["type"] == "message_delta")
            assert delta["delta"]["stop_reason"] == "stop"
            assert sum(NOTE in json.dumps(request.body) for request in upstream.requests) == 1
            history = (await server.local.request("GET", f"/v2/sessions/{session_id}/history")).json
            assert NOTE not in json.dumps(history)
            # The next question goes to the model with a history that its API accepts.
            upstream.script(reply(say("You are welcome."), stop()))
            more = await server.local.ask_for_events(session_id, "Thank you.")
            assert more[-1]["type"] == "message_stop"
            assert upstream.problems == []


async def test_repair_can_be_switched_off(tmp_path: Path, upstream: Upstream):
    async with Web() as web:
        web.put("/batteries", article("Regulation on batteries", COBALT))
        url = web.url("/batteries")
        upstream.script(lambda request: _answer(request, url))
        async with open_server(tmp_path, upstream, FOOTNOTE_CITATIONS_REPAIR="off", **_settings(web)) as server:
            session_id = await server.local.create_session()
            await server.local.ask_for_events(session_id, f"Write a report on {url}")
            assert len(upstream.requests) == 3


@pytest.mark.slow
async def test_a_run_that_is_killed_in_its_repair_is_repaired_once(tmp_path: Path, upstream: Upstream):
    never, is_killed = asyncio.Event(), False

    def answer(request: ModelRequest) -> Any:
        if NOTE in json.dumps(request.body["messages"][-1]) and not is_killed:
            return reply(hold(never), stop())
        return _answer(request, url)

    async with Web() as web:
        web.put("/batteries", article("Regulation on batteries", COBALT))
        url = web.url("/batteries")
        upstream.script(answer)
        process = await ServerProcess.start(tmp_path, upstream, **_settings(web))
        async with process.client() as client:
            run_id = await client.start(await client.session(), f"Write a report on {url}")
        await upstream.wait_received(4)
        await process.kill()
        is_killed = True
        process = await ServerProcess.start(tmp_path, upstream, **_settings(web))
        async with process.client() as client:
            folded = FoldedTurn()
            while not folded.ended:
                await client.follow(run_id, folded)
            view = await client.json("GET", f"/v2/runs/{run_id}")
            history = await client.json("GET", f"/v2/sessions/{view['session_id']}/history")
            files = f"/v2/sessions/{view['session_id']}/files"
            versions = await client.json("GET", f"{files}/versions?file_path=/report.md")
            proof = await client.json("GET", f"{files}/citations?file_path=/report.md")
        assert await process.stop() == 0
        never.set()
        assert (view["state"], folded.shown["stop_reason"]) == ("done", "stop")
        assert blocks_of_history(history, view["message_id"]) == folded.shown["blocks"]
        assert [one["number"] for one in versions["versions"]] == [2, 1]
        assert proof["counts"]["unsupported"] == 0
        assert len(upstream.requests) == 5
