"""A run that kills one process after the other is given up, so that no question stops the server for ever."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runs.fold import FoldedTurn, blocks_of_history
from runs.server_process import RunClient, ServerProcess
from upstream import Upstream, call, hold, reply, say, stop

HELD = "begun "
SECONDS = 60
"""Only ends a wait: for a run that is not given up, or for one that is given up too early."""


async def _kill_while_answering(home: Path, upstream: Upstream, received: int, question: str | None = None) -> str:
    """Starts the server, and kills it when the model has received so many requests in all. Returns the run."""
    process = await ServerProcess.start(home, upstream)
    run_id = ""
    if question is not None:
        async with process.client() as client:
            run_id = await client.start(await client.session(), question)
    async with asyncio.timeout(SECONDS):
        await upstream.wait_received(received)
    await process.kill()
    return run_id


async def _wait_for_end(client: RunClient, run_id: str) -> tuple[dict[str, Any], FoldedTurn, dict[str, Any]]:
    folded = FoldedTurn()
    async with asyncio.timeout(SECONDS):
        while not folded.ended:
            await client.follow(run_id, folded)
    view = await client.json("GET", f"/v2/runs/{run_id}")
    return view, folded, await client.json("GET", f"/v2/sessions/{view['session_id']}/history")


@pytest.mark.slow
async def test_a_run_that_is_taken_over_for_the_third_time_without_getting_on_ends_with_an_error(
    upstream: Upstream, tmp_path: Path
):
    never = asyncio.Event()
    is_well = False
    upstream.script(
        lambda _: reply(say("Tea is a drink."), stop()) if is_well else reply(say(HELD), hold(never), stop())
    )
    run_id = await _kill_while_answering(tmp_path, upstream, 1, "What is tea?")
    await _kill_while_answering(tmp_path, upstream, 2)
    await _kill_while_answering(tmp_path, upstream, 3)
    process = await ServerProcess.start(tmp_path, upstream)
    async with process.client() as client:
        view, folded, history = await _wait_for_end(client, run_id)
        async with client.http.get("/metrics") as response:
            figures = await response.text()
        session_id = view["session_id"]
        is_well = True
        again, _, _ = await _wait_for_end(client, await client.start(session_id, "And now?"))
    assert await process.stop() == 0
    never.set()
    assert (view["state"], view["error"]["type"]) == ("failed", "given_up")
    assert "Ask the question in other words" in view["error"]["message"]
    assert folded.shown["stop_reason"] == "error"
    assert blocks_of_history(history, view["message_id"]) == folded.shown["blocks"]
    assert "is given up" in process.stderr
    assert "\nfootnote_runs_given_up_total 1.0\n" in figures
    assert again["state"] == "done", "the session can be asked again"


@pytest.mark.slow
async def test_a_run_that_gets_on_between_the_crashes_is_carried_on_however_many_there_are(
    upstream: Upstream, tmp_path: Path
):
    never = asyncio.Event()
    request_count = 0

    def response(_request: object) -> Any:
        nonlocal request_count
        request_count += 1
        if request_count == 3:
            return reply(call("list_files", {}, id="c1"), stop("toolUse"))
        return reply(say("Tea is a drink."), stop()) if request_count == 6 else reply(say(HELD), hold(never), stop())

    upstream.script(response)
    run_id = await _kill_while_answering(tmp_path, upstream, 1, "What is tea?")
    await _kill_while_answering(tmp_path, upstream, 2)
    await _kill_while_answering(tmp_path, upstream, 4)  # the third request is answered with a call, which is stored
    await _kill_while_answering(tmp_path, upstream, 5)
    process = await ServerProcess.start(tmp_path, upstream)
    async with process.client() as client:
        view, _, _ = await _wait_for_end(client, run_id)
    assert await process.stop() == 0
    never.set()
    assert view["state"] == "done", view
