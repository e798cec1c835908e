"""Bundles of real runs: with tools, in branches, stopped, failed, crashed and resumed."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.turn_harness import answering_tool
from bundles.sample_session import export_bundle, read_entries, write_bundle
from footnote.bundles.bundles import Bundles
from footnote.bundles.verify import Report, verify
from footnote.db.engine import Database
from footnote.library import Library
from footnote.models.scripted import ScriptedPause, call, fails, text, thinking
from footnote.protocol.sessions import NewMessage, RetryRequest
from footnote.sessions.store import Sessions
from footnote.tools.builtin.edit_file import edit_file
from footnote.tools.builtin.write_file import write_file
from runs.fold import FoldedTurn
from runs.server_process import ServerProcess
from sessions.test_history import PAGE, reading_tool
from sessions.test_history_of_runs import WRITES, follow_events, open_runner
from upstream import Upstream, reply, say, stall, stop
from upstream import call as asks_for


async def export_and_verify(bundles: Bundles, session_id: str, folder: Path) -> Report:
    report = verify(write_bundle(folder, await export_bundle(bundles, session_id)))
    assert report.findings == ()
    return report


async def test_a_run_with_everything(
    database: Database, sessions: Sessions, library: Library, bundles: Bundles, tmp_path: Path
) -> None:
    await library.for_user("ann").store(PAGE)
    head = await sessions.create("ann", "researcher")
    async with open_runner(database, sessions, WRITES, reading_tool(), write_file, edit_file) as runner:
        started = await runner.start("ann", head.id, NewMessage("Why is it so?", locale="vi"))
        await follow_events(runner, started.run_id)
    report = await export_and_verify(bundles, head.id, tmp_path)
    assert (report.verdicts, report.versions, report.snapshots, report.runs, report.notes) == (1, 2, 1, 1, ())


@pytest.mark.parametrize("last", [[fails("No.")], [text("Half an ans"), fails("Cut.")]])
async def test_a_run_that_failed(
    database: Database, sessions: Sessions, bundles: Bundles, tmp_path: Path, last: Sequence[Any]
) -> None:
    head = await sessions.create("ann", "researcher")
    async with open_runner(database, sessions, [[call("look", {}, id="c1")], last], answering_tool("look")) as runner:
        started = await runner.start("ann", head.id, NewMessage("Why?"))
        await follow_events(runner, started.run_id)
    assert (await export_and_verify(bundles, head.id, tmp_path)).notes == ()


async def test_a_run_that_was_stopped(database: Database, sessions: Sessions, bundles: Bundles, tmp_path: Path) -> None:
    head = await sessions.create("ann", "researcher")
    half = [thinking("Hm."), text("This came [1]."), ScriptedPause(asyncio.Event()), text("This did not.")]
    async with open_runner(database, sessions, [half]) as runner:
        started = await runner.start("ann", head.id, NewMessage("Why?"))
        await follow_events(runner, started.run_id, cancel_at="This came")
    assert (await export_and_verify(bundles, head.id, tmp_path)).notes == ()


async def test_branches(database: Database, sessions: Sessions, bundles: Bundles, tmp_path: Path) -> None:
    head = await sessions.create("ann", "researcher")
    async with open_runner(database, sessions, [[text(f"Answer {number}.")] for number in range(4)]) as runner:
        first = await runner.start("ann", head.id, NewMessage("Why?"))
        await follow_events(runner, first.run_id)
        second = await runner.start("ann", head.id, NewMessage("And then?"))
        await follow_events(runner, second.run_id)
        again = await runner.retry("ann", head.id, first.message_id, RetryRequest())
        await follow_events(runner, again.run_id)
        edited = await runner.edit("ann", head.id, second.message_id, NewMessage("And when?"))
        await follow_events(runner, edited.run_id)
    assert (await export_and_verify(bundles, head.id, tmp_path)).runs == 4


@pytest.mark.slow
async def test_a_run_that_a_crash_interrupted(tmp_path: Path, upstream: Upstream) -> None:
    """The events of both processes together contain everything that was stored."""
    upstream.script(
        reply(say("I write."), asks_for("write_file", {"file_path": "/a.md", "content": "A"}), stop("toolUse")),
        reply(say("Half of it"), stall()),
        reply(say("All of it."), stop()),
    )
    process = await ServerProcess.start(tmp_path, upstream)
    async with process.client() as client:
        session_id = await client.session()
        run_id = await client.start(session_id)
        async with client.http.get(f"/v2/runs/{run_id}/events") as events:
            received = b""
            while b"Half of it" not in received:
                received += await events.content.readany()
            await process.kill()
    process = await ServerProcess.start(tmp_path, upstream)
    async with process.client() as client:
        await client.follow(run_id, FoldedTurn())
        async with client.http.get(f"/v2/sessions/{session_id}/export") as response:
            assert (response.status, response.headers["content-type"]) == (200, "application/zip")
            data = await response.read()
    assert await process.stop() == 0
    assert b"round_restart" in read_entries(data)[f"events/{run_id}.sse"]
    report = verify(write_bundle(tmp_path, data))
    assert (report.findings, report.notes, report.versions) == ((), (), 1)
