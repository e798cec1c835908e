"""A database that is locked or full while a run goes on: it is told, and nothing of the answer is lost."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from footnote.db.script import Steps, script, sql
from runs.fold import FoldedTurn, blocks_of_history
from runs.test_following import _events, _start
from server.house import open_house, run_maintenance
from upstream import Upstream, call, pause, reply, say, stall, stop, together

pytestmark = pytest.mark.embedded


@script
def _set_max_pages(pages: int) -> Steps[int]:
    ((count,),) = yield sql("PRAGMA page_count")
    yield sql(f"PRAGMA max_page_count = {pages or count}")
    return count


async def test_while_another_program_holds_the_database_the_answer_goes_on_and_is_stored_afterwards(
    tmp_path: Path, upstream: Upstream
):
    upstream.script(reply(say("One "), pause(0.3), say("two "), pause(0.3), say("three."), stop()))
    async with open_house(tmp_path, upstream) as house:
        person = house.local
        session_id = await person.create_session()
        run_id = await _start(person, session_id)
        await upstream.wait_received(1)
        other = sqlite3.connect(tmp_path / ".footnote" / "footnote.db", isolation_level=None, timeout=30)
        other.execute("BEGIN IMMEDIATE")
        seen = b""
        following = house.app.runner.follow(run_id)
        async for piece in following:
            seen += piece
            if b"three." in seen:
                break
        await following.aclose()
        other.execute("ROLLBACK")
        other.close()
        folded = FoldedTurn()
        folded.feed(await _events(person, run_id))
        history = (await person.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert folded.shown["blocks"] == [{"type": "text", "text": "One two three."}]
    assert blocks_of_history(history, folded.message_id or "") == folded.shown["blocks"]


async def test_a_full_disk_is_said_to_who_follows_and_the_answer_is_stored_once_there_is_space(
    tmp_path: Path, upstream: Upstream
):
    upstream.script(reply(say(*["a long answer " * 2000] * 10), stop()))
    async with open_house(tmp_path, upstream) as house:
        house.app.runner.journal.retry_seconds = 0.2
        person = house.local
        session_id = await person.create_session()
        database = house.app._database
        await database.write(_set_max_pages(0))
        run_id = await _start(person, session_id)
        folded = FoldedTurn()
        folded.feed(await _events(person, run_id))
        assert folded.error is not None
        assert folded.error["type"] == "database_full"
        assert "Free some space" in folded.error["message"]
        assert folded.shown["stop_reason"] == "error"
        refused = await person.request("POST", "/v2/sessions", {"title": "x" * 200})
        assert refused.status in (201, 507)
        await database.write(_set_max_pages(100_000))
        await run_maintenance(house)
        view = (await person.request("GET", f"/v2/runs/{run_id}")).json
        assert view["state"] == "failed"
        again = FoldedTurn()
        again.feed(await _events(person, run_id))
        history = (await person.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert again.shown == folded.shown
    assert blocks_of_history(history, folded.message_id or "") == folded.shown["blocks"], "the answer was not lost"


async def test_a_call_that_ended_on_a_full_disk_keeps_its_result(tmp_path: Path, upstream: Upstream):
    written = {"file_path": "/a.md", "content": "x" * 200_000}
    calls = together(call("list_files", {}, id="c1"), call("write_file", written, id="c2"))
    upstream.script(reply(say("I write."), calls, stop("toolUse")), lambda _: reply(say("So be it."), stop()))
    async with open_house(tmp_path, upstream) as house:
        house.app.runner.journal.retry_seconds = 0.2
        person = house.local
        session_id = await person.create_session()
        database = house.app._database
        await database.write(_set_max_pages(0))
        run_id = await _start(person, session_id)
        folded = FoldedTurn()
        folded.feed(await _events(person, run_id))
        await database.write(_set_max_pages(100_000))
        await run_maintenance(house)
        history = (await person.request("GET", f"/v2/sessions/{session_id}/history")).json
    assert blocks_of_history(history, folded.message_id or "") == folded.shown["blocks"]
    uses = [block["id"] for block in folded.shown["blocks"] if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in folded.shown["blocks"] if block["type"] == "tool_result"]
    assert uses == results, "every call has a result"


async def test_an_end_that_is_owed_to_a_session_that_is_gone_holds_nobody_up(tmp_path: Path, upstream: Upstream):
    upstream.script(lambda _: reply(say(*["a long answer " * 2000] * 10), stop()))
    async with open_house(tmp_path, upstream) as house:
        house.app.runner.journal.retry_seconds = 0.1
        person, database = house.local, house.app._database
        sessions = [await person.create_session() for _ in range(2)]
        await database.write(_set_max_pages(0))
        runs = [await _start(person, session_id) for session_id in sessions]
        for run_id in runs:
            await _events(person, run_id)
        await database.write(_set_max_pages(100_000))

        @script
        def forget() -> Steps[None]:
            yield sql("DELETE FROM session WHERE id = ?", sessions[0])

        await database.write(forget())
        await asyncio.gather(run_maintenance(house), run_maintenance(house))  # it does so by itself too, at any moment
        assert house.app.runner.executor.pending_endings == {}
        assert (await person.request("GET", f"/v2/runs/{runs[1]}")).json["state"] == "failed"


async def test_a_question_that_cannot_be_stored_is_refused_and_leaves_nothing(tmp_path: Path, upstream: Upstream):
    async with open_house(tmp_path, upstream) as house:
        person = house.local
        session_id = await person.create_session()
        await house.app._database.write(_set_max_pages(0))
        path = f"/v2/sessions/{session_id}/messages"
        refused = await person.request("POST", path, {"content": "why " * 100_000})
        assert (refused.status, refused.error) == (507, "database_full")
        history = (await person.request("GET", f"/v2/sessions/{session_id}/history")).json
        assert history["messages"] == []
        await house.app._database.write(_set_max_pages(100_000))
        upstream.script(reply(say("Fine."), stop()))
        answered = await person.request("POST", path, {"content": "Why?"})
        assert b"Fine." in answered.body
    assert len(upstream.requests) == 1


async def test_a_database_that_became_read_only_says_so_and_takes_questions_again_afterwards(
    tmp_path: Path, upstream: Upstream
):
    @script
    def read_only(switch: str) -> Steps[None]:
        yield sql(f"PRAGMA query_only = {switch}")

    async with open_house(tmp_path, upstream) as house:
        person = house.local
        session_id = await person.create_session()
        await house.app._database.write(read_only("ON"))
        path = f"/v2/sessions/{session_id}/messages"
        refused = await person.request("POST", path, {"content": "Why?"})
        assert (refused.status, refused.error) == (503, "database_unwritable")
        assert "write access" in refused.json["error"]["message"]
        upstream.script(reply(say("Fine."), stop()))
        answered = await person.request("POST", path, {"content": "Why?"})
        if answered.status == 503:  # the connection was kept
            await house.app._database.write(read_only("OFF"))
            answered = await person.request("POST", path, {"content": "Why?"})
        assert b"Fine." in answered.body
    assert len(upstream.requests) == 1, "the model is not asked what cannot be stored"


async def test_a_run_whose_process_lost_it_to_another_says_nothing_more(tmp_path: Path, upstream: Upstream):
    """Another owner took it over, for instance because this process was stopped for longer than its lease."""
    upstream.script(reply(say("One "), stall()))
    async with open_house(tmp_path, upstream) as house:
        person = house.local
        run_id = await _start(person, await person.create_session())
        request = await upstream.wait_received(1)

        @script
        def steal() -> Steps[None]:
            yield sql("INSERT INTO owner (name, lease_until) VALUES ('elsewhere/1/x', 1e12)")
            yield sql("UPDATE run SET fence = fence + 1, owner = 'elsewhere/1/x' WHERE id = ?", run_id)

        await house.app._database.write(steal())
        await run_maintenance(house)
        async with asyncio.timeout(30):
            await request.connection.closed.wait()
        view = (await person.request("GET", f"/v2/runs/{run_id}")).json
        assert view["state"] in ("queued", "running"), "the other one goes on with it"
