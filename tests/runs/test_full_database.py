"""A locked or full database during a run: it is reported, and nothing of the answer is lost."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from footnote.db.script import Steps, script, sql
from runs.fold import FoldedTurn, blocks_of_history
from server.harness import ServerHarness, open_server, run_maintenance
from upstream import Upstream, call, parallel_calls, pause, reply, say, stall, stop

pytestmark = pytest.mark.embedded


@script
def _set_max_pages(pages: int) -> Steps[int]:
    ((count,),) = yield sql("PRAGMA page_count")
    yield sql(f"PRAGMA max_page_count = {pages or count}")
    return count


async def _run_on_full_disk(server: ServerHarness, session_id: str) -> tuple[str, FoldedTurn]:
    """Asks when the database cannot grow any more: the run, and its events."""
    server.app.runner.journal.retry_seconds = 0.2
    await server.app._database.write(_set_max_pages(0))
    run_id = await server.local.start_run(session_id)
    folded = FoldedTurn()
    folded.feed(await server.local.run_events(run_id))
    return run_id, folded


async def test_while_another_program_holds_the_database_the_answer_goes_on_and_is_stored_afterwards(
    tmp_path: Path, upstream: Upstream
):
    upstream.script(reply(say("One "), pause(0.3), say("two "), pause(0.3), say("three."), stop()))
    async with open_server(tmp_path, upstream) as server:
        client = server.local
        session_id = await client.create_session()
        run_id = await client.start_run(session_id)
        await upstream.wait_received(1)
        other = sqlite3.connect(tmp_path / ".footnote" / "footnote.db", isolation_level=None, timeout=30)
        other.execute("BEGIN IMMEDIATE")
        received = b""
        following = server.app.runner.follow(run_id)
        async for piece in following:
            received += piece
            if b"three." in received:
                break
        await following.aclose()
        other.execute("ROLLBACK")
        other.close()
        folded = FoldedTurn()
        folded.feed(await client.run_events(run_id))
        history = (await client.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert folded.shown["blocks"] == [{"type": "text", "text": "One two three."}]
    assert blocks_of_history(history, folded.message_id or "") == folded.shown["blocks"]


async def test_a_full_disk_is_said_to_who_follows_and_the_answer_is_stored_once_there_is_space(
    tmp_path: Path, upstream: Upstream
):
    upstream.script(reply(say(*["a long answer " * 2000] * 10), stop()))
    async with open_server(tmp_path, upstream) as server:
        client, database = server.local, server.app._database
        session_id = await client.create_session()
        run_id, folded = await _run_on_full_disk(server, session_id)
        assert folded.error is not None
        assert folded.error["type"] == "database_full"
        assert "Free some space" in folded.error["message"]
        assert folded.shown["stop_reason"] == "error"
        refused = await client.request("POST", "/v2/sessions", {"title": "x" * 200})
        assert refused.status in (201, 507)
        await database.write(_set_max_pages(100_000))
        await run_maintenance(server)
        view = (await client.request("GET", f"/v2/runs/{run_id}")).json
        assert view["state"] == "failed"
        again = FoldedTurn()
        again.feed(await client.run_events(run_id))
        history = (await client.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert again.shown == folded.shown
    assert blocks_of_history(history, folded.message_id or "") == folded.shown["blocks"], "the answer was not lost"


async def test_a_call_that_ended_on_a_full_disk_keeps_its_result(tmp_path: Path, upstream: Upstream):
    arguments = {"file_path": "/a.md", "content": "x" * 200_000}
    calls = parallel_calls(call("list_files", {}, id="c1"), call("write_file", arguments, id="c2"))
    upstream.script(reply(say("I write."), calls, stop("toolUse")), lambda _: reply(say("So be it."), stop()))
    async with open_server(tmp_path, upstream) as server:
        client, database = server.local, server.app._database
        session_id = await client.create_session()
        _, folded = await _run_on_full_disk(server, session_id)
        await database.write(_set_max_pages(100_000))
        await run_maintenance(server)
        history = (await client.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert blocks_of_history(history, folded.message_id or "") == folded.shown["blocks"]
    uses = [block["id"] for block in folded.shown["blocks"] if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in folded.shown["blocks"] if block["type"] == "tool_result"]
    assert uses == results, "every call has a result"


async def test_an_end_that_is_owed_to_a_session_that_is_gone_holds_nobody_up(tmp_path: Path, upstream: Upstream):
    upstream.script(lambda _: reply(say(*["a long answer " * 2000] * 10), stop()))
    async with open_server(tmp_path, upstream) as server:
        server.app.runner.journal.retry_seconds = 0.1
        client, database = server.local, server.app._database
        sessions = [await client.create_session() for _ in range(2)]
        await database.write(_set_max_pages(0))
        runs = [await client.start_run(session_id) for session_id in sessions]
        for run_id in runs:
            await client.run_events(run_id)
        await database.write(_set_max_pages(100_000))

        @script
        def forget() -> Steps[None]:
            yield sql("DELETE FROM session WHERE id = ?", sessions[0])

        await database.write(forget())
        # The supervisor also does so at any time.
        await asyncio.gather(run_maintenance(server), run_maintenance(server))
        assert server.app.runner.executor.pending_endings == {}
        assert (await client.request("GET", f"/v2/runs/{runs[1]}")).json["state"] == "failed"


async def test_a_question_that_cannot_be_stored_is_refused_and_leaves_nothing(tmp_path: Path, upstream: Upstream):
    async with open_server(tmp_path, upstream) as server:
        client = server.local
        session_id = await client.create_session()
        await server.app._database.write(_set_max_pages(0))
        path = f"/v2/sessions/{session_id}/messages"
        refused = await client.request("POST", path, {"content": "why " * 100_000})
        assert (refused.status, refused.error) == (507, "database_full")
        history = (await client.request("GET", f"/v2/sessions/{session_id}/history")).json
        assert history["messages"] == []
        await server.app._database.write(_set_max_pages(100_000))
        upstream.script(reply(say("Fine."), stop()))
        response = await client.request("POST", path, {"content": "Why?"})
        assert b"Fine." in response.body
    assert len(upstream.requests) == 1


async def test_a_database_that_became_read_only_says_so_and_takes_questions_again_afterwards(
    tmp_path: Path, upstream: Upstream
):
    @script
    def read_only(switch: str) -> Steps[None]:
        yield sql(f"PRAGMA query_only = {switch}")

    async with open_server(tmp_path, upstream) as server:
        client = server.local
        session_id = await client.create_session()
        await server.app._database.write(read_only("ON"))
        path = f"/v2/sessions/{session_id}/messages"
        refused = await client.request("POST", path, {"content": "Why?"})
        assert (refused.status, refused.error) == (503, "database_unwritable")
        assert "write access" in refused.json["error"]["message"]
        upstream.script(reply(say("Fine."), stop()))
        response = await client.request("POST", path, {"content": "Why?"})
        if response.status == 503:  # the connection was reused
            await server.app._database.write(read_only("OFF"))
            response = await client.request("POST", path, {"content": "Why?"})
        assert b"Fine." in response.body
    assert len(upstream.requests) == 1, "the model is not asked what cannot be stored"


async def test_a_run_whose_process_lost_it_to_another_says_nothing_more(tmp_path: Path, upstream: Upstream):
    """Another owner takes over, as after this process was stopped for longer than its lease."""
    upstream.script(reply(say("One "), stall()))
    async with open_server(tmp_path, upstream) as server:
        client = server.local
        run_id = await client.start_run(await client.create_session())
        request = await upstream.wait_received(1)

        @script
        def steal() -> Steps[None]:
            yield sql("INSERT INTO owner (name, lease_until) VALUES ('elsewhere/1/x', 1e12)")
            yield sql("UPDATE run SET fence = fence + 1, owner = 'elsewhere/1/x' WHERE id = ?", run_id)

        await server.app._database.write(steal())
        await run_maintenance(server)
        async with asyncio.timeout(30):
            await request.connection.closed.wait()
        view = (await client.request("GET", f"/v2/runs/{run_id}")).json
        assert view["state"] in ("queued", "running"), "the other one goes on with it"
