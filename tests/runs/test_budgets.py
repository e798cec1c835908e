"""The budget of a run across crashes, repeats and views: time goes on, and money that may have been billed counts."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from runs.fold import FoldedTurn
from runs.server_process import RunClient, ServerProcess
from upstream import Upstream, hold, reply, say, stall, stop, usage

PRICES = json.dumps({"anthropic/m": {"price": {"input": 1.0, "output": 10.0}, "thinking": "none"}})
SETTINGS = {"FOOTNOTE_MODELS_DEFAULT": "anthropic/m", "FOOTNOTE_MODELS_PROFILES": PRICES}


async def follow_to_end(client: RunClient, run_id: str, folded: FoldedTurn) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while not folded.ended:
            await client.follow(run_id, folded)
    return await client.json("GET", f"/v2/runs/{run_id}")


def text_of(folded: FoldedTurn) -> str:
    return "".join(block["text"] for block in folded.shown["blocks"] if block["type"] == "text")


async def test_what_was_reserved_for_a_call_counts_after_a_crash(upstream: Upstream, tmp_path: Path):
    """Nobody knows what the provider has billed for the call that was in flight."""
    upstream.script(reply(say("I begin"), stall()), reply(say("It is so."), usage(1_000, 100), stop()))
    process = await ServerProcess.start(tmp_path, upstream, **SETTINGS)
    async with process.client() as client:
        run_id = await client.start(await client.session(), budget={"usd": 0.10})
        await upstream.wait_received(1)
        before = await client.json("GET", f"/v2/runs/{run_id}")
        await process.kill()
    reserved = upstream.requests[0].body["max_tokens"] * 10 / 1_000_000
    process = await ServerProcess.start(tmp_path, upstream, **SETTINGS)
    async with process.client() as client:
        folded = FoldedTurn()
        view = await follow_to_end(client, run_id, folded)
        history = await client.json("GET", f"/v2/sessions/{view['session_id']}/history?turns=true")
    await process.stop()

    assert before["spent"]["usd"] == 0.0
    assert 0.02 < reserved < 0.025, "a quarter of the money"
    assert view["state"] == "done"
    assert view["budget"] == {"usd": 0.10}
    assert view["spent"]["usd"] == pytest.approx(reserved + 0.002, abs=0.002)
    assert history["turns"][-1]["spent"] == view["spent"] == folded.spent


async def test_a_run_keeps_its_deadline_after_a_crash(upstream: Upstream, tmp_path: Path):
    upstream.script(reply(say("I begin"), stall()), reply(stall()))
    process = await ServerProcess.start(tmp_path, upstream, **SETTINGS)
    async with process.client() as client:
        began = time.time()
        run_id = await client.start(await client.session(), budget={"seconds": 8})
        await upstream.wait_received(1)
        await process.kill()
    process = await ServerProcess.start(tmp_path, upstream, **SETTINGS)
    async with process.client() as client:
        view = await follow_to_end(client, run_id, folded := FoldedTurn())
        seconds = time.time() - began
    await process.stop()

    assert (view["state"], view["stop_reason"]) == ("done", "stop")
    assert text_of(folded).startswith("*The budget of this question was used up")
    assert 8.0 <= view["spent"]["seconds"] <= 9.0
    assert seconds >= 8.0


async def test_a_run_that_is_adopted_after_its_deadline_is_answered_at_once(upstream: Upstream, tmp_path: Path):
    upstream.script(reply(say("I begin"), stall()))
    process = await ServerProcess.start(tmp_path, upstream, **SETTINGS)
    async with process.client() as client:
        run_id = await client.start(await client.session(), budget={"seconds": 0.5})
        await upstream.wait_received(1)
        await process.kill()
    await asyncio.sleep(0.5)
    process = await ServerProcess.start(tmp_path, upstream, **SETTINGS)
    async with process.client() as client:
        view = await follow_to_end(client, run_id, folded := FoldedTurn())
    await process.stop()

    assert view["state"] == "done"
    assert text_of(folded)
    assert len(upstream.requests) == 1, "the model is not asked any more"


async def test_another_answer_and_a_changed_question_keep_the_budget(upstream: Upstream, tmp_path: Path):
    released = asyncio.Event()
    upstream.script(lambda _request: reply(hold(released), say("It is so."), stop()))
    released.set()
    process = await ServerProcess.start(tmp_path, upstream, **SETTINGS)
    async with process.client() as client:
        session_id = await client.session()
        started = await client.json(
            "POST", f"/v2/sessions/{session_id}/messages", {"content": "Why?", "budget": {"pages": 3}}, 202
        )
        await follow_to_end(client, started["run_id"], FoldedTurn())
        place = f"/v2/sessions/{session_id}/messages/{started['message_id']}"
        budgets: list[Any] = []
        for path, body in (
            ("retry", {}),
            ("edit", {"content": "How?"}),
            ("edit", {"content": "How?", "budget": {"pages": 5}}),
        ):
            again = await client.json("POST", f"{place}/{path}", body, 202)
            budgets.append((await follow_to_end(client, again["run_id"], FoldedTurn()))["budget"])
    await process.stop()

    assert budgets == [{"pages": 3}, {"pages": 3}, {"pages": 5}]


async def test_a_run_that_waits_for_its_turn_is_answered_at_its_deadline(upstream: Upstream, tmp_path: Path):
    """Other runs have all slots. Nothing can be looked up any more, but who waits gets to know."""
    upstream.script(lambda _request: reply(say("I begin"), stall()))
    process = await ServerProcess.start(tmp_path, upstream, **SETTINGS, FOOTNOTE_LIMITS_RUNS_AT_ONCE="1")
    async with process.client() as client:
        first = await client.start(await client.session())
        await upstream.wait_received(1)
        second = await client.start(await client.session(), budget={"seconds": 1})
        view = await follow_to_end(client, second, folded := FoldedTurn())
        await client.json("POST", f"/v2/runs/{first}/cancel")
    await process.stop()

    assert view["state"] == "done"
    assert view["spent"]["seconds"] <= 2.0
    assert text_of(folded).startswith("*The budget")
