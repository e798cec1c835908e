"""The proof of every version of a file: judged when it is written, once, and stored with the version."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.small_web import article
from server.harness import ServerHarness, open_server
from server.session_files import SessionFiles
from upstream import Upstream, call, reply, say, stop
from web import Web

SECONDS = 60
COBALT = "From 18 August 2031 new electric vehicle batteries shall contain at least 16 percent recovered cobalt."
LITHIUM = "Recycling processes shall recover at least 50 percent of the lithium in waste batteries by 31 December 2027."
NICKEL = "The target for nickel in new industrial batteries is 6 percent from 18 August 2031."
REPORT = (
    "# Batteries\n\nNew electric vehicle batteries shall contain at least 16 percent recovered cobalt [1].\n\n"
    "Recycling shall recover at least 50 percent of the lithium in waste batteries by 31 December 2027 [1].\n\n"
    "It was invented in Hanoi in 1999 [1].\n"
)
FALSE = "It was invented in Hanoi in 1999 [1]."
TRUE = "New batteries shall contain at least 16 percent recovered cobalt [1]."


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with Web() as web:
        web.put("/batteries", article("Regulation on batteries", LITHIUM, COBALT))
        web.put("/nickel", article("Targets for nickel", NICKEL))
        yield web


@asynccontextmanager
async def _open(tmp_path: Path, upstream: Upstream, web: Web) -> AsyncIterator[ServerHarness]:
    settings = {
        "FOOTNOTE_TOOLS_WEB_SEARCH_ALLOW_PRIVATE_HOSTS": f'["{web.host}"]',
        "FOOTNOTE_CITATIONS_REPAIR": "off",
        "FOOTNOTE_CITATIONS_MODEL": "off",
    }
    async with open_server(tmp_path, upstream, **settings) as server:
        yield server


async def _read(server: ServerHarness, upstream: Upstream, url: str, session_id: str | None = None) -> SessionFiles:
    """A session that has read a page."""
    session_id = session_id or await server.local.create_session()
    upstream.script(reply(call("read_page", {"url": url}), stop("toolUse")), reply(say("Read."), stop()))
    await server.local.ask_for_events(session_id, f"What does {url} say?")
    return SessionFiles(server.local, session_id)


async def _write(files: SessionFiles, upstream: Upstream, name: str, **arguments: object) -> dict[str, Any]:
    """The result of a call of the agent."""
    upstream.script(
        reply(call(name, {"file_path": "/report.md", **arguments}), stop("toolUse")), reply(say("Done."), stop())
    )
    events = await files.client.ask_for_events(files.session_id, "Write the report.")
    blocks = [one["content_block"] for one in events if one["type"] == "content_block_start"]
    return next(block for block in blocks if block["type"] == "tool_result")


async def _citations(files: SessionFiles, path: str = "/report.md", **more: object) -> Any:
    response = await files.request("GET", "/citations", file_path=path, **more)
    assert response.status == 200, response
    return response.json


async def _figure(server: ServerHarness, name: str) -> int:
    text = (await server.local.request("GET", "/metrics")).body.decode()
    found = re.search(rf"^footnote_{name}(?:{{[^}}]*}})? ([0-9.]+)$", text, re.MULTILINE)
    return int(float(found[1])) if found else 0


async def _judged_files(server: ServerHarness) -> int:
    return await _figure(server, "file_judged_seconds_count")


async def _until_judged(server: ServerHarness, count: int) -> None:
    async with asyncio.timeout(SECONDS):
        while await _judged_files(server) < count:
            await asyncio.sleep(0.02)


async def test_the_result_of_a_call_that_writes_a_file_has_its_proof(tmp_path: Path, upstream: Upstream, web: Web):
    async with _open(tmp_path, upstream, web) as server:
        files = await _read(server, upstream, web.url("/batteries"))
        written = await _write(files, upstream, "write_file", content=REPORT)
        proof = written["artifact"]["proof"]
        assert proof == await _citations(files)
        assert (proof["file_path"], proof["version"]) == ("/report.md", 1)
        assert (proof["counts"]["statements"], proof["counts"]["supported"]) == (3, 2)
        assert "3 statements: 2 supported, 1 unsupported." in written["content"]
        assert f"- unsupported (its page does not say it): {FALSE}" in written["content"].splitlines()
        assert "recovered cobalt" not in written["content"]  # what is well needs no words
        history = (await server.local.request("GET", f"/v2/sessions/{files.session_id}/history")).json
        results = [one for one in history["messages"] if one["role"] == "tool" and one["name"] == "write_file"]
        assert results[0]["artifact"]["proof"] == proof


async def test_an_edit_compares_only_the_statement_that_it_changed(tmp_path: Path, upstream: Upstream, web: Web):
    async with _open(tmp_path, upstream, web) as server:
        files = await _read(server, upstream, web.url("/batteries"))
        before = await _figure(server, "statement_comparisons_total")
        await _write(files, upstream, "write_file", content=REPORT)
        written = await _figure(server, "statement_comparisons_total")
        edited = await _write(files, upstream, "edit_file", old_string=FALSE, new_string=TRUE)
        assert written - before == 3
        assert await _figure(server, "statement_comparisons_total") - written == 1
        proof = edited["artifact"]["proof"]
        assert (proof["version"], proof["counts"]["supported"], proof["counts"]["statements"]) == (2, 3, 3)
        assert "3 statements: 3 supported." in edited["content"]
        assert "To be corrected" not in edited["content"]
        assert (await _citations(files, version=1))["counts"]["unsupported"] == 1


async def test_a_file_without_footnotes_has_nothing_to_say_about_them(tmp_path: Path, upstream: Upstream, web: Web):
    async with _open(tmp_path, upstream, web) as server:
        files = await _read(server, upstream, web.url("/batteries"))
        written = await _write(files, upstream, "write_file", content="Buy milk.\n")
        assert written["content"] == "Wrote /report.md (10 characters, 1 line)."
        assert written["artifact"]["proof"]["citations"] == []


async def test_a_version_that_a_user_saves_or_restores_is_judged_without_being_asked_for(
    tmp_path: Path, upstream: Upstream, web: Web
):
    async with _open(tmp_path, upstream, web) as server:
        files = await _read(server, upstream, web.url("/batteries"))
        before = await _judged_files(server)
        await files.write("/report.md", REPORT)
        await _until_judged(server, before + 1)
        await files.write("/report.md", REPORT.replace(FALSE, TRUE), base=REPORT)
        await _until_judged(server, before + 2)
        await files.request("POST", "/restore", {"file_path": "/report.md", "version": 1})
        await _until_judged(server, before + 3)
        counts = [(await _citations(files, version=number))["counts"]["supported"] for number in (1, 2, 3)]
        assert counts == [2, 3, 2]
        assert await _judged_files(server) == before + 3


async def test_a_proof_is_still_there_after_a_restart(tmp_path: Path, upstream: Upstream, web: Web):
    async with _open(tmp_path, upstream, web) as server:
        files = await _read(server, upstream, web.url("/batteries"))
        proof = (await _write(files, upstream, "write_file", content=REPORT))["artifact"]["proof"]
    async with _open(tmp_path, upstream, web) as server:
        before = await _judged_files(server)
        files = SessionFiles(server.local, files.session_id)
        assert await _citations(files) == proof
        assert await _judged_files(server) == before


async def test_a_page_that_is_read_later_changes_the_verdict_of_the_statement_that_cites_it(
    tmp_path: Path, upstream: Upstream, web: Web
):
    async with _open(tmp_path, upstream, web) as server:
        files = await _read(server, upstream, web.url("/batteries"))
        report = REPORT.replace(FALSE, "The target for nickel in new industrial batteries is 6 percent [2].")
        await _write(files, upstream, "write_file", content=report)
        first = await _citations(files)
        await _read(server, upstream, web.url("/nickel"), files.session_id)
        before = await _figure(server, "statement_comparisons_total")
        second = await _citations(files)
        assert [one["verdict"] for one in second["citations"]] == ["supported"] * 3
        assert first["citations"][-1]["verdict"] != "supported"
        assert second["citations"][:2] == first["citations"][:2]
        # With the statements that were compared before, one comparison is new; suggestions may add others.
        assert await _figure(server, "statement_comparisons_total") - before < 3


async def test_a_user_does_not_wait_for_the_long_file_of_another(tmp_path: Path, upstream: Upstream, web: Web):
    async with _open(tmp_path, upstream, web) as server:
        mine = await _read(server, upstream, web.url("/batteries"))
        long = "".join(
            f"Battery {number} of the electric vehicle shall contain at least 16 percent recovered cobalt [1].\n\n"
            for number in range(800)
        )
        await mine.write("/long.md", long)
        other = await server.add_user("binh")
        upstream.script(
            reply(call("read_page", {"url": web.url("/batteries")}), stop("toolUse")), reply(say("Read."), stop())
        )
        session_id = await other.create_session()
        await other.ask_for_events(session_id, f"What does {web.url('/batteries')} say?")
        theirs = SessionFiles(other, session_id)
        await theirs.write("/report.md", REPORT)
        waiting = asyncio.create_task(_citations(mine, "/long.md"))
        assert (await _citations(theirs))["counts"]["statements"] == 3
        await mine.write("/short.md", REPORT)
        assert not waiting.done()
        assert (await waiting)["counts"]["statements"] == 800
        assert (await _citations(mine, "/short.md"))["counts"]["statements"] == 3


async def test_a_client_that_leaves_does_not_end_the_work(tmp_path: Path, upstream: Upstream, web: Web):
    async with _open(tmp_path, upstream, web) as server:
        files = await _read(server, upstream, web.url("/batteries"))
        before = await _judged_files(server)
        checker = server.app.file_citations
        await server.app.sessions.workspace("local", files.session_id).put("/report.md", REPORT, base_hash=None)
        leaving = asyncio.create_task(checker.citations("local", files.session_id, "/report.md"))
        while not checker.is_busy:
            await asyncio.sleep(0)
        leaving.cancel()
        await _until_judged(server, before + 1)
        assert (await _citations(files))["counts"]["statements"] == 3
        assert await _judged_files(server) == before + 1
